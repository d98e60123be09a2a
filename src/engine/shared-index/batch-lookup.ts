/**
 * From names to lines for many questions at once. A lookup is a chain of two cache misses (slot, record); done one
 * question after the other the chains add up, done stage by stage the processor overlaps them: each stage is one
 * loop of loads that do not depend on each other.
 *
 * Only plain cases take part: keys of up to 36 ASCII bytes. All others come out as `UNCLEAR` and are asked singly.
 * It reads without the lock, as all readers do: results count only after validation.
 */
import type { Query } from '#model/decision.ts'
import type { Key } from './key.ts'
import * as L from './layout.ts'
import type { Regions } from './regions.ts'
import type { ActionView, SchemaView } from './schema-view.ts'
import { firstSlot } from './string-table.ts'

/** Questions a stage takes at a time: enough misses to overlap, and all scratch stays in the first-level cache. */
export const BATCH_MAX = 128

/** Not to be answered in stages. */
export const UNCLEAR = -1

const KEY_WORDS = L.R_KEY_WORDS

/** One kind of key (the users of the questions, or the instances), looked up together. */
export class KeyColumn {
  /** Line of each question's record; 0 if unknown, `UNCLEAR` if it was not looked up. */
  readonly lines = new Int32Array(BATCH_MAX)
  readonly #hashes = new Int32Array(BATCH_MAX)
  readonly #identities = new Int32Array(BATCH_MAX)
  readonly #words = new Int32Array(BATCH_MAX * KEY_WORDS)
  readonly #key: Key

  constructor(key: Key) {
    this.#key = key
  }

  /** Nothing to look up for this question; its line is 0. */
  skip(index: number): void {
    this.lines[index] = 0
    this.#identities[index] = 0
  }

  read(index: number, text: string, type: number): void {
    const key = this.#key
    this.lines[index] = 0
    this.#identities[index] = 0
    if (!key.read(text, type)) return
    const words = (key.bytes + 3) >>> 2
    if (words > KEY_WORDS) {
      this.lines[index] = UNCLEAR
      return
    }
    this.#hashes[index] = key.hash
    this.#identities[index] = (type << L.TYPE_SHIFT) | (key.bytes << L.KEY_BYTES_SHIFT)
    const to = index * KEY_WORDS
    for (let at = 0; at < words; at++) this.#words[to + at] = key.words[at]!
  }

  /** Stage: brings in each key's first slot. Nothing but loads, so that as many as possible are under way at once. */
  fetchSlots({ header, graph }: Regions, count: number): number {
    const hashes = this.#hashes
    const identities = this.#identities
    let sink = 0
    for (let i = 0; i < count; i++) {
      if (identities[i] !== 0) sink ^= graph[firstSlot(header, hashes[i]!)]!
    }
    return sink
  }

  /** Stage: brings in each record. */
  fetchRecords({ graph }: Regions, count: number): number {
    const lines = this.lines
    let sink = 0
    for (let i = 0; i < count; i++) {
      const line = lines[i]!
      if (line > 0) sink ^= graph[line << L.LINE_WORDS_LOG2]!
    }
    return sink
  }

  /** Stage: the first slot with the key's hash. Whose record that is, `verify` finds out. */
  probe(regions: Regions, count: number): void {
    const { header, graph } = regions
    const lines = this.lines
    const hashes = this.#hashes
    const identities = this.#identities
    for (let i = 0; i < count; i++) {
      if (identities[i] === 0) continue
      const hash = hashes[i]!
      const partition = L.H_PARTITIONS + ((hash >>> (32 - L.PARTITION_BITS)) << 1)
      const base = header[partition]!
      if (base === 0) continue
      const log2 = header[partition + 1]! & L.LOG2_MASK
      const mask = (1 << log2) - 1
      let index = (hash << L.PARTITION_BITS) >>> (32 - log2)
      for (let probe = 0; probe <= mask; probe++) {
        const slot = base + (index << 1)
        const line = graph[slot + 1]!
        if (!line) break
        if (graph[slot] === hash) {
          lines[i] = line
          break
        }
        index = (index + 1) & mask
      }
    }
  }

  /** Stage: compares the key. A record under an equal hash with another key is a matter for a single question. */
  verify(regions: Regions, count: number): void {
    const { graph } = regions
    const lines = this.lines
    const identities = this.#identities
    const words = this.#words
    for (let i = 0; i < count; i++) {
      const line = lines[i]!
      if (line <= 0) continue
      const record = line << L.LINE_WORDS_LOG2
      const identity = identities[i]!
      const head = graph[record]!
      // An external key costs one more miss: rare enough to be asked singly.
      let isEqual = (head & (L.IDENTITY_MASK | L.FLAG_EXTERNAL)) === identity
      const wordCount = (((identity >>> L.KEY_BYTES_SHIFT) & L.KEY_BYTES_MASK) + 3) >>> 2
      const from = i * KEY_WORDS
      for (let at = 0; at < wordCount; at++) {
        if (graph[record + L.R_KEY + at] !== words[from + at]) isEqual = false
      }
      if (!isEqual) lines[i] = UNCLEAR
    }
  }
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
    const { users, instances, actions } = this
    for (let i = 0; i < count; i++) {
      const query = queries[from + i]!
      const type = schema.types.get(query.type)
      const action = type?.actions.get(query.action) ?? null
      actions[i] = action
      if (action === null) {
        users.skip(i)
        instances.skip(i)
        continue
      }
      users.read(i, query.user, L.USER_TYPE)
      if (query.key === null) instances.skip(i)
      else instances.read(i, query.key, type!.id)
    }
    let sink = users.fetchSlots(regions, count) ^ instances.fetchSlots(regions, count)
    users.probe(regions, count)
    instances.probe(regions, count)
    sink ^= users.fetchRecords(regions, count) ^ instances.fetchRecords(regions, count)
    this.fetched ^= sink
    users.verify(regions, count)
    instances.verify(regions, count)
  }
}
