/**
 * Decides many queries together. The decision is the same as in `check.ts`, divided into stages. Each stage
 * is a loop of independent loads over the batch, so that cache misses overlap instead of adding up (figures
 * in docs/engine.md, "What clever parts are worth").
 *
 *   look up   users, instances                                    batch-lookup.ts
 *   resolve   tenants; the filter bits of tenant and instance themselves
 *   edges     in-edges of the instances            → (query, container, state)
 *   heads     closure heads of the containers      → (query, block, entries); inline: minus the word
 *   entries   closure entries that pass the filter → (query, scope, mask)
 *   probe     the users' slabs
 *
 * A query that does not fit (missing closure, gates, wide instance, several start states, unusual key) stays
 * `UNKNOWN` and is decided individually. No query is decided early, because a mispredicted branch costs more
 * than the work that it saves.
 *
 * The stages read without the lock and check every bound. Their results are valid only after validation.
 */
import { maskOfEntry, wordsMin } from '#engine/shared-index/closures/closure-block.ts'
import { headAt } from '#engine/shared-index/closures/closure-heads.ts'
import type { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { findPair, isWithin, PAIRS } from '#engine/shared-index/memory/slab.ts'
import { lineOfBank } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { BatchLookup } from './batch-lookup.ts'
import type { BatchSource } from './batch-source.ts'
import { ALLOW, DENY } from './check.ts'
import { BATCH_MAX } from './key-column.ts'
import type { ResolvedQuery } from './question.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const {
  BANK_SHIFT,
  COUNT_SHIFT,
  C_INLINE_END,
  C_VERSION,
  FILTER_SHIFT,
  HEAD_BLOCK,
  HEAD_BUILT_AT,
  HEAD_SIZE,
  HEAD_SIZE_MASK,
  H_CLOSURE_ERA,
  ID_HASH,
  INLINE,
  I_IN,
  I_TENANT,
  LINE_MASK,
  LINE_WORDS_LOG2,
  LOG2_MASK,
  T_CLOSURE_EPOCH,
  U_ASSIGNMENTS,
  U_FILTER,
  WIDE_IN_EDGES,
} = L

export const UNKNOWN = 3

/**
 * Maximum number of entries of a closure that a batch searches. A query with a longer closure is decided
 * individually, because an individual check can search from the user's side instead.
 */
const ENTRIES_MAX = 256

/** Number of scopes per call of `passing`: one bit of its result per scope. */
const PASSING_MAX = 32

export class BatchCheck {
  /** `ALLOW`, `DENY` or `UNKNOWN` for each query of the last batch. */
  readonly verdicts = new Uint8Array(BATCH_MAX)
  /** Lines of the entities that the queries of the last batch name. */
  readonly lookup: BatchLookup
  readonly #regions: Regions
  readonly #question: ResolvedQuery
  #schema: SchemaView
  /**
   * Work lists of triples. `edges`: (query, container, state). `blocks`: (query, block, entries).
   * `candidates`: (query, scope, mask).
   */
  readonly #edges = new NumberList()
  readonly #blocks = new NumberList()
  readonly #candidates = new NumberList()
  /** For each candidate, the slot at which probing of the user's slab begins. */
  #slots = new Int32Array(BATCH_MAX)
  /**
   * For each query, the position of the in-edges of its instance. If the instance has a single in-edge, this
   * array contains the container of this edge instead.
   */
  readonly #inEdges = new Int32Array(BATCH_MAX)
  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0

  constructor(regions: Regions, parts: { schema: SchemaView; key: Key; question: ResolvedQuery }) {
    this.#regions = regions
    this.#schema = parts.schema
    this.#question = parts.question
    this.lookup = new BatchLookup(parts.key)
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
  }

  run(source: BatchSource, from: number, count: number, sequence: number): void {
    this.#edges.length = 0
    this.#blocks.length = 0
    this.#candidates.length = 0
    this.lookup.run(this.#regions, this.#schema, source, from, count)
    this.#prefetchFilters(count)
    this.#resolve(count, sequence)
    this.#prefetchContainers()
    this.#readHeads()
    this.#prefetchEntries()
    this.#matchEntries()
    this.#prefetchSlabs()
    this.#probeSlabs()
  }

  /**
   * Prefetches data that the next stage reads after branches: the second line of each user and the in-edges
   * of each instance.
   */
  #prefetchFilters(count: number): void {
    const { graph } = this.#regions
    const users = this.lookup.users.lines
    const instances = this.lookup.instances.lines
    let sink = 0
    for (let i = 0; i < count; i++) sink ^= graph[(users[i]! << LINE_WORDS_LOG2) + U_FILTER]!
    const edges = this.#inEdges
    for (let i = 0; i < count; i++) {
      // An inline edge contains its container, which a later stage needs.
      const record = instances[i]! << LINE_WORDS_LOG2
      const ptr = graph[record + I_IN]!
      const isInline = (graph[record + I_IN + 1]! & LOG2_MASK) === INLINE
      edges[i] = isInline ? ptr << LINE_WORDS_LOG2 : ptr
    }
    for (let i = 0; i < count; i++) sink ^= graph[edges[i]!]!
    this.prefetchSink ^= sink
  }

  #resolve(count: number, sequence: number): void {
    const { verdicts } = this
    const question = this.#question
    const { users, instances, actions, tenants } = this.lookup
    for (let i = 0; i < count; i++) {
      const user = users.lines[i]!
      const action = actions[i]!
      verdicts[i] = DENY
      if (action === null) continue
      if ((users.isUnclear[i]! | instances.isUnclear[i]!) !== 0) {
        verdicts[i] = UNKNOWN
        continue
      }
      if (user === 0) continue
      question.resolve(instances.lines[i]!, tenants[i]!, sequence)
      if (question.isMismatch) continue
      if (question.tenant !== 0) {
        this.#matchTenant(i, user, question.tenant, action.tenantMasks)
        if (action.overflowMasks.length > 0)
          this.#matchOverflow(i, user, question.tenant, action.overflowMasks)
      }
      if (question.instance === 0 || action.start === 0) continue
      if (action.start < 0) verdicts[i] = UNKNOWN
      else this.#atInstance(i, user, question.instance, action.start)
    }
  }

  #matchTenant(index: number, user: number, tenant: number, masks: Int32Array): void {
    if (masks.length === 0 || !this.#mayHold(user, tenant)) return
    for (let m = 0; m < masks.length; m += 2) {
      this.#addCandidate(index, tenant | (masks[m]! << BANK_SHIFT), masks[m + 1]!)
    }
  }

  #matchOverflow(index: number, user: number, tenant: number, masks: Int32Array): void {
    for (let m = 0; m < masks.length; m += 2) {
      const line = lineOfBank(this.#regions.graph, tenant, masks[m]!)
      if (line === 0 || !this.#mayHold(user, line)) continue
      this.#addCandidate(index, line | (masks[m]! << BANK_SHIFT), masks[m + 1]!)
    }
  }

  #atInstance(index: number, user: number, line: number, state: number): void {
    const schema = this.#schema
    const { graph } = this.#regions
    if (this.#mayHold(user, line)) {
      if (schema.stateHasGuard[state] === 1) {
        this.verdicts[index] = UNKNOWN
        return
      }
      for (let m = schema.masksFrom[state]!; m < schema.masksFrom[state + 1]!; m += 2) {
        this.#addCandidate(index, line | (schema.masks[m]! << BANK_SHIFT), schema.masks[m + 1]!)
      }
    }
    const instance = line << LINE_WORDS_LOG2
    const ptr = graph[instance + I_IN]!
    const meta = graph[instance + I_IN + 1]!
    const log2 = meta & LOG2_MASK
    // The user's filter shows that the user holds no role on this instance. Therefore no guard blocks the
    // user, and all transitions are used.
    if (log2 === INLINE) {
      this.#addEdge(index, ptr, schema.targetIn(schema.full, meta >>> COUNT_SHIFT, state))
    } else if (meta >>> COUNT_SHIFT > WIDE_IN_EDGES) this.verdicts[index] = UNKNOWN
    else if (meta !== 0 && isWithin(graph, ptr, log2, PAIRS)) {
      const end = ptr + (2 << log2)
      for (let at = ptr; at < end; at += 2) {
        if (graph[at] === 0) continue
        this.#addEdge(index, graph[at]!, schema.targetIn(schema.full, graph[at + 1]!, state))
      }
    }
  }

  #addEdge(index: number, container: number, target: number): void {
    // The test is not `=== 0`: if the schema no longer has the class of the edge, the index is outside the
    // table and `target` is undefined.
    if (!target) return
    if (target < 0) {
      this.verdicts[index] = UNKNOWN
      return
    }
    this.#edges.pushTriple(index, container, target)
  }

  /**
   * Prefetches the containers of edges that are not inline. The containers of inline edges were prefetched
   * earlier.
   */
  #prefetchContainers(): void {
    const { graph } = this.#regions
    const { items, length } = this.#edges
    let sink = 0
    for (let e = 1; e < length; e += 3) sink ^= graph[items[e]! << LINE_WORDS_LOG2]!
    this.prefetchSink ^= sink
  }

  #readHeads(): void {
    const { graph, header } = this.#regions
    const { stateOrdinal, stateEpoch } = this.#schema
    const { items, length } = this.#edges
    const instances = this.lookup.instances.lines
    const era = header[H_CLOSURE_ERA]!
    for (let e = 0; e < length; e += 3) {
      const index = items[e]!
      const container = items[e + 1]!
      const state = items[e + 2]!
      const tenant = graph[(instances[index]! << LINE_WORDS_LOG2) + I_TENANT]! << LINE_WORDS_LOG2
      const version = graph[(container << LINE_WORDS_LOG2) + C_VERSION]!
      const wanted = (version + graph[tenant + T_CLOSURE_EPOCH]! + era + stateEpoch[state]!) | 0
      const head = headAt(graph, container, stateOrdinal[state]!)
      // `built at` must be read before the rest of the head; `closure-heads.ts` explains why.
      if (head === 0 || graph[head + HEAD_BUILT_AT] !== wanted) {
        this.verdicts[index] = UNKNOWN
        continue
      }
      const size = graph[head + HEAD_SIZE]! & HEAD_SIZE_MASK
      if (size === 0) continue
      const entries = size >>> 1
      if ((size & 1) !== 0 || entries > ENTRIES_MAX) {
        this.verdicts[index] = UNKNOWN
        continue
      }
      const position = graph[head + HEAD_BLOCK]!
      // Ignores a torn read: no inline closure has this length.
      if (position < 0 && entries - position > C_INLINE_END) continue
      const block = position < 0 ? position - (container << LINE_WORDS_LOG2) : position
      this.#blocks.pushTriple(index, block, entries)
    }
  }

  /**
   * Prefetches the lines of each closure. For a closure with up to 32 entries, these contain all scopes and
   * the first masks.
   */
  #prefetchEntries(): void {
    const { graph, closures } = this.#regions
    const { items, length } = this.#blocks
    let sink = 0
    for (let b = 0; b < length; b += 3) {
      const position = items[b + 1]!
      const entries = items[b + 2]!
      const words = position < 0 ? graph : closures
      const block = position < 0 ? -position : position
      sink ^= words[block]! ^ words[block + (entries >>> 1)]! ^ words[block + entries]!
    }
    this.prefetchSink ^= sink
  }

  /** Collects the closure entries that pass the filters of their users. */
  #matchEntries(): void {
    const { graph, closures } = this.#regions
    const { items, length } = this.#blocks
    const users = this.lookup.users.lines
    // V8 reads the length of a typed array as a double, so the loop uses a copy.
    const limit = closures.length
    for (let b = 0; b < length; b += 3) {
      const index = items[b]!
      const position = items[b + 1]!
      const entries = items[b + 2]!
      const isInline = position < 0
      const words = isInline ? graph : closures
      const block = isInline ? -position : position
      // The bounds of inline closures were checked when their heads were read.
      if (!isInline && !(block > 0 && block + wordsMin(entries) <= limit)) continue
      const filter = (users[index]! << LINE_WORDS_LOG2) + U_FILTER
      for (let from = block; from < block + entries; from += PASSING_MAX) {
        const count = Math.min(PASSING_MAX, block + entries - from)
        for (let bits = passing(graph, filter, words, from, count); bits !== 0; bits &= bits - 1) {
          const at = from + 31 - Math.clz32(bits & -bits)
          this.#addCandidate(index, words[at]!, maskOfEntry(words, block, entries, at - block))
        }
      }
    }
  }

  #prefetchSlabs(): void {
    const { graph } = this.#regions
    const { items, length } = this.#candidates
    const count = length / 3
    const slots = this.#slotsFor(count)
    const users = this.lookup.users.lines
    for (let c = 0, s = 0; c < length; c += 3, s++) {
      const slab = (users[items[c]!]! << LINE_WORDS_LOG2) + U_ASSIGNMENTS
      const meta = graph[slab + 1]!
      const slot = Math.imul(items[c + 1]!, ID_HASH) >>> (32 - (meta & LOG2_MASK))
      // If a user has no assignments, the filter can be stale. Slot 0 is used for such a user, because word 0
      // of the graph is always empty.
      slots[s] = meta >>> COUNT_SHIFT === 0 ? 0 : graph[slab]! + (slot << 1)
    }
    let sink = 0
    // Probing often continues into the next line. Therefore the entry two slots further is also prefetched.
    for (let s = 0; s < count; s++) sink ^= graph[slots[s]!]! ^ graph[slots[s]! + 4]!
    this.prefetchSink ^= sink
  }

  #slotsFor(candidates: number): Int32Array {
    if (candidates > this.#slots.length) this.#slots = new Int32Array(2 * candidates)
    return this.#slots
  }

  #probeSlabs(): void {
    const { graph } = this.#regions
    const { items, length } = this.#candidates
    const slots = this.#slots
    const users = this.lookup.users.lines
    const { verdicts } = this
    for (let c = 0, s = 0; c < length; c += 3, s++) {
      const index = items[c]!
      const scope = items[c + 1]!
      let at = slots[s]!
      const entry = graph[at]
      if (entry === 0) continue
      if (entry !== scope) {
        const slab = (users[index]! << LINE_WORDS_LOG2) + U_ASSIGNMENTS
        at = findPair(graph, graph[slab]!, graph[slab + 1]!, scope)
        if (at === 0) continue
      }
      if ((graph[at + 1]! & items[c + 2]!) !== 0) verdicts[index] = ALLOW
    }
  }

  #mayHold(user: number, line: number): boolean {
    const hash = Math.imul(line, ID_HASH)
    const filter = (user << LINE_WORDS_LOG2) + U_FILTER
    const word = this.#regions.graph[filter + (hash >>> (FILTER_SHIFT + 5))]!
    return (word & (1 << (hash >>> FILTER_SHIFT))) !== 0
  }

  #addCandidate(index: number, scope: number, mask: number): void {
    this.#candidates.pushTriple(index, scope, mask)
  }
}

/**
 * Returns one bit for each of up to `PASSING_MAX` scopes, set if the corresponding bit of the filter is set.
 * The processor would mispredict a branch on the filter bit too often. This is a separate function, so that
 * V8 loads values that all scopes share only once per call.
 */
function passing(graph: Int32Array, filter: number, scopes: Int32Array, from: number, count: number): number {
  let bits = 0
  for (let i = 0; i < count; i++) {
    const hash = Math.imul(scopes[from + i]! & LINE_MASK, ID_HASH)
    bits |= ((graph[filter + (hash >>> (FILTER_SHIFT + 5))]! >>> (hash >>> FILTER_SHIFT)) & 1) << i
  }
  return bits
}
