/**
 * From names to lines for many questions at once. A lookup is a chain of two cache misses (slot, record); done one
 * question after the other the chains add up, done stage by stage the processor overlaps them. What overlaps is what
 * fits into its reorder window, so the loops that fetch do nothing but load from positions computed before.
 *
 * Only plain cases take part: keys of up to 36 ASCII bytes. All others come out as unclear and are asked singly.
 * It reads without the lock, as all readers do: results count only after validation.
 */
import type { Query } from '#model/decision.ts'
import type { Key } from './key.ts'
import * as L from './layout.ts'
import type { Regions } from './regions.ts'
import type { ActionView, SchemaView, TypeView } from './schema-view.ts'
import { firstSlot } from './string-table.ts'

/** Questions a stage takes at a time: enough misses to overlap, and all scratch stays in the first-level cache. */
export const BATCH_MAX = 128

const KEY_WORDS = L.R_KEY_WORDS
const KEY_BYTES = KEY_WORDS * L.WORD_BYTES

/** One kind of key (the users of the questions, or the instances), looked up together. */
export class KeyColumn {
  /** Line of each question's record; 0 if unknown or not asked for. */
  readonly lines = new Int32Array(BATCH_MAX)
  /** 1 where this is no matter for stages. */
  readonly isUnclear = new Uint8Array(BATCH_MAX)
  readonly #hashes = new Int32Array(BATCH_MAX)
  /** Type and key length; 0 where nothing is looked up. */
  readonly #identities = new Int32Array(BATCH_MAX)
  /** Word of the first slot; 0, which is never a slot, where nothing is looked up. */
  readonly #slots = new Int32Array(BATCH_MAX)
  readonly #words = new Int32Array(BATCH_MAX * KEY_WORDS)
  readonly #key: Key

  constructor(key: Key) {
    this.#key = key
  }

  /** Nothing to look up for this question; its line is 0. */
  skip(index: number): void {
    this.isUnclear[index] = 0
    this.#slots[index] = 0
  }

  read(header: Int32Array, index: number, text: string, type: number): void {
    this.skip(index)
    const key = this.#key
    if (text.length === 0) return
    if (text.length > KEY_BYTES || !key.readAscii(text, type, this.#words, index * KEY_WORDS)) {
      this.isUnclear[index] = 1
      return
    }
    this.#hashes[index] = key.hash
    this.#identities[index] = (type << L.TYPE_SHIFT) | (key.bytes << L.KEY_BYTES_SHIFT)
    this.#slots[index] = firstSlot(header, key.hash)
  }

  /** Stage: brings in each key's first slot. */
  fetchSlots({ graph }: Regions, count: number): number {
    const slots = this.#slots
    let sink = 0
    for (let i = 0; i < count; i++) sink ^= graph[slots[i]!]!
    return sink
  }

  /** Stage: the first slot with the key's hash. Whose record that is, `verify` finds out. */
  probe({ header, graph }: Regions, count: number): void {
    const { lines } = this
    const slots = this.#slots
    const hashes = this.#hashes
    for (let i = 0; i < count; i++) {
      const slot = slots[i]!
      if (slot === 0) lines[i] = 0
      else if (graph[slot] === hashes[i]) lines[i] = graph[slot + 1]!
      else lines[i] = probeOn(header, graph, slot, hashes[i]!)
    }
  }

  /** Stage: brings in each record. */
  fetchRecords({ graph }: Regions, count: number): number {
    const { lines } = this
    let sink = 0
    for (let i = 0; i < count; i++) sink ^= graph[lines[i]! << L.LINE_WORDS_LOG2]!
    return sink
  }

  /** Stage: compares the key. A record under an equal hash with another key is a matter for a single question. */
  verify({ graph }: Regions, count: number): void {
    const { lines, isUnclear } = this
    const identities = this.#identities
    const words = this.#words
    for (let i = 0; i < count; i++) {
      if (lines[i] === 0) continue
      const record = lines[i]! << L.LINE_WORDS_LOG2
      const identity = identities[i]!
      // An external key costs one more miss: rare enough to be asked singly.
      let difference = (graph[record]! & (L.IDENTITY_MASK | L.FLAG_EXTERNAL)) ^ identity
      const wordCount = (((identity >>> L.KEY_BYTES_SHIFT) & L.KEY_BYTES_MASK) + 3) >>> 2
      const from = i * KEY_WORDS
      for (let at = 0; at < wordCount; at++) {
        difference |= graph[record + L.R_KEY + at]! ^ words[from + at]!
      }
      if (difference !== 0) isUnclear[i] = 1
    }
  }
}

/** Goes on behind a first slot that is another key's. A slot beyond the view reads as undefined, which is no line. */
function probeOn(header: Int32Array, graph: Int32Array, slot: number, hash: number): number {
  const partition = L.H_PARTITIONS + ((hash >>> (32 - L.PARTITION_BITS)) << 1)
  const base = header[partition]!
  const mask = (1 << (header[partition + 1]! & L.LOG2_MASK)) - 1
  let index = (slot - base) >> 1
  for (let probe = 0; probe <= mask; probe++) {
    const at = base + (index << 1)
    const line = graph[at + 1]!
    if (!line) return 0
    if (graph[at] === hash) return line
    index = (index + 1) & mask
  }
  return 0
}

/** The questions of one batch, as far as names go: actions, users, instances. */
export class BatchLookup {
  readonly users: KeyColumn
  readonly instances: KeyColumn
  /** `null` where the type or action is not declared: denied, nothing else matters. */
  readonly actions: (ActionView | null)[] = Array.from({ length: BATCH_MAX }, () => null)

  /** Keeps the loads that only fetch a line from being optimised away; means nothing. */
  fetched = 0

  constructor(key: Key) {
    this.users = new KeyColumn(key)
    this.instances = new KeyColumn(key)
  }

  run(regions: Regions, schema: SchemaView, queries: readonly Query[], from: number, count: number): void {
    this.#read(regions.header, schema, queries, from, count)
    const { users, instances } = this
    this.fetched ^= users.fetchSlots(regions, count) ^ instances.fetchSlots(regions, count)
    users.probe(regions, count)
    instances.probe(regions, count)
    this.fetched ^= users.fetchRecords(regions, count) ^ instances.fetchRecords(regions, count)
    users.verify(regions, count)
    instances.verify(regions, count)
  }

  #read(
    header: Int32Array,
    schema: SchemaView,
    queries: readonly Query[],
    from: number,
    count: number,
  ): void {
    const { users, instances, actions } = this
    // Most questions in a row ask about the same type.
    let typeKey = ''
    let type: TypeView | undefined
    for (let i = 0; i < count; i++) {
      const query = queries[from + i]!
      if (type === undefined || query.type !== typeKey) {
        typeKey = query.type
        type = schema.types.get(typeKey)
      }
      const action = type?.actions.get(query.action) ?? null
      actions[i] = action
      if (action === null) {
        users.skip(i)
        instances.skip(i)
        continue
      }
      users.read(header, i, query.user, L.USER_TYPE)
      if (query.key === null) instances.skip(i)
      else instances.read(header, i, query.key, type!.id)
    }
  }
}
