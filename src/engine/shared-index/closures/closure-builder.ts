/**
 * Builds closures. The closure of a container and a state contains each pair (scope, mask) with this
 * property: a user who holds one of these roles in the scope has the requested permission on the container. A
 * closure contains no users. Therefore assignments do not invalidate it, and the checks of all users share
 * it.
 *
 * The search starts at the container, follows in-edges and visits each (container, state) once, so it ends
 * even if there are cycles. If the search finds a valid closure, it adds the entries of that closure instead
 * of searching on. Instances without assignees contribute no entry. Therefore the first assignee of an
 * instance invalidates closures.
 *
 * Whether a guard applies depends on the user. A closure therefore stops where a guard could apply and stores
 * a *gate* (instance, state) there. If the user holds no direct role on that instance, the check continues
 * after the gate (`check.ts`). An instance without assignees blocks no user, so it needs no gate.
 *
 * Requires the lock, but no critical section. O(containers above).
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { appendClosure, closureWordsEnd } from './closure-arena.ts'
import { blockEnd, gatesAt, maskOfEntry, tableLog2, wordsMin } from './closure-block.ts'
import { headAt, headFor } from './closure-heads.ts'

export class ClosureBuilder {
  readonly #regions: Regions
  #schema: SchemaView
  readonly #seen = new VisitedPairs()
  readonly #seenGates = new VisitedPairs()
  /** Pairs (container, state) that the search has found and not visited yet. */
  readonly #pending = new NumberList()
  /** Pairs (scope, 0). The number of a pair is the index of its entry in `#scopes` and `#masks`. */
  readonly #entries = new VisitedPairs()
  readonly #scopes = new NumberList()
  readonly #masks = new NumberList()
  readonly #gates = new NumberList()

  constructor(regions: Regions, schema: SchemaView) {
    this.#regions = regions
    this.#schema = schema
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
  }

  buildIfMissing(container: number, state: number): void {
    if (!this.#isBuilt(container, state)) this.build(container, state)
  }

  /** Builds the closure and publishes its head. Returns false if the memory is not sufficient. */
  build(container: number, state: number): boolean {
    const head = headFor(this.#regions, container, this.#schema.stateOrdinal[state]!)
    if (head === 0) return false
    if (this.#share(head, container, state)) return true
    this.#collect(container, state)
    const entries = this.#scopes.length
    const hasGates = this.#gates.length > 0
    const words = this.#words(entries)
    const inline = this.#inlineSpaceFor(container, state, words)
    if (inline === 0 && words >= closureWordsEnd(this.#regions)) return false
    // Only growing or restarting the region needs a critical section. Writing inline words does not, because
    // no valid head refers to them.
    const block = inline === 0 ? appendClosure(this.#regions, words) : inline
    // The region started over, which invalidated all closures. The second attempt starts with an empty region
    // and therefore succeeds.
    if (block === null) return this.build(container, state)
    const { graph, closures, header } = this.#regions
    this.#write(inline === 0 ? closures : graph, block, entries)
    const record = container << L.LINE_WORDS_LOG2
    const era = header[L.H_CLOSURE_ERA]! << L.HEAD_ERA_SHIFT
    const [positionBefore, sizeBefore] = [graph[head + L.HEAD_BLOCK]!, graph[head + L.HEAD_SIZE]!]
    // Counts the words of the previous block of this head as dead, if the block is in the region. The head
    // contains only the low bits of the era, so it can look current although its block was overwritten in a
    // later era. Gates are not counted, because the block might not contain a valid number of gates.
    if (positionBefore > 0 && (sizeBefore & ~L.HEAD_SIZE_MASK) === era) {
      const dead = gatesAt(closures, positionBefore, (sizeBefore & L.HEAD_SIZE_MASK) >>> 1) - positionBefore
      header[L.H_CLOSURE_DEAD] = header[L.H_CLOSURE_DEAD]! + dead
    }
    const position = inline === 0 ? block : record - inline
    this.#publish(head, { container, state }, position, era | (entries << 1) | Number(hasGates))
    return true
  }

  /** Returns the length in words that the collected entries and gates need. */
  #words(entries: number): number {
    const { items } = this.#masks
    const gateWords = this.#gates.length === 0 ? 0 : 1 + this.#gates.length
    if (entries > L.CLOSURE_LIST_MAX) return wordsMin(entries) + gateWords
    let masks = 0
    for (let i = 0; i < entries; i++) if (items.indexOf(items[i]!) === i) masks += 1
    return entries + 2 * masks + gateWords
  }

  /**
   * Finds space for an inline closure: words in the container that no valid closure of another state uses.
   * Returns the position of the first word. Returns 0 if there is no space, or if the head of the state is
   * not in the container. O(heads in the container).
   */
  #inlineSpaceFor(container: number, state: number, words: number): number {
    const record = container << L.LINE_WORDS_LOG2
    if (this.#schema.stateOrdinal[state]! >= L.C_HEADS_IN_PLACE) return 0
    let from = record + L.C_INLINE_CLOSURES
    while (from + words <= record + L.C_INLINE_END) {
      const taken = this.#takenUntil(container, state, from, from + words)
      if (taken === 0) return from
      from = taken
    }
    return 0
  }

  /**
   * If a valid inline closure of another state overlaps these words, returns the word after it. Otherwise
   * returns 0.
   */
  #takenUntil(container: number, state: number, from: number, to: number): number {
    const { graph } = this.#regions
    const { stateType, statesInPlace } = this.#schema
    const record = container << L.LINE_WORDS_LOG2
    const states = stateType[state]! * L.C_HEADS_IN_PLACE
    for (let ordinal = 0; ordinal < L.C_HEADS_IN_PLACE; ordinal++) {
      const other = statesInPlace[states + ordinal]!
      const head = headAt(graph, container, ordinal)
      const position = graph[head + L.HEAD_BLOCK]!
      if (other === 0 || other === state || position >= 0 || !this.#isBuilt(container, other)) continue
      const begin = record - position
      const end = blockEnd(graph, begin, graph[head + L.HEAD_SIZE]!)
      if (begin < to && end > from) return end
    }
    return 0
  }

  /**
   * Shares the closure of a neighbor. If an instance has no assignees and only one neighbor above it, the
   * closures of both are equal. If the neighbor's closure is built and is in the region, both heads refer to
   * the same block. An inline closure of the neighbor cannot be shared, because the neighbor's container can
   * drop it at any time. In that case, the entries are copied. Without sharing, 10,000 folders under one
   * folder that 200 groups can see take 59 MB.
   */
  #share(head: number, container: number, state: number): boolean {
    const { graph } = this.#regions
    const schema = this.#schema
    const instance = graph[(container << L.LINE_WORDS_LOG2) + L.C_INSTANCE]! << L.LINE_WORDS_LOG2
    const meta = graph[instance + L.I_IN + 1]!
    const isAlone = graph[instance + L.I_ASSIGNEES + 1] === 0 && (graph[instance]! & L.FLAG_DEAD) === 0
    if (!isAlone || (meta & L.LOG2_MASK) !== L.INLINE) return false
    const above = graph[instance + L.I_IN]!
    const target = schema.targetIn(schema.full, meta >>> L.COUNT_SHIFT, state) ?? 0
    if (target <= 0 || !this.#isBuilt(above, target)) return false
    const shared = headAt(graph, above, schema.stateOrdinal[target]!)
    if (graph[shared + L.HEAD_BLOCK]! < 0) return false
    this.#publish(head, { container, state }, graph[shared + L.HEAD_BLOCK]!, graph[shared + L.HEAD_SIZE]!)
    return true
  }

  #publish(
    head: number,
    { container, state }: { readonly container: number; readonly state: number },
    position: number,
    size: number,
  ): void {
    const { graph, header } = this.#regions
    graph[head + L.HEAD_BLOCK] = position
    graph[head + L.HEAD_SIZE] = size
    // Stores `built at` last, with release semantics. A reader that sees the new version therefore also sees
    // the new block and size.
    Atomics.store(graph, head + L.HEAD_BUILT_AT, this.#versionOf(container, state))
    header[L.H_CLOSURES_BUILT] = (header[L.H_CLOSURES_BUILT]! + 1) | 0
  }

  #isBuilt(container: number, state: number): boolean {
    const { graph } = this.#regions
    const head = headAt(graph, container, this.#schema.stateOrdinal[state]!)
    return head !== 0 && graph[head + L.HEAD_BUILT_AT] === this.#versionOf(container, state)
  }

  #versionOf(container: number, state: number): number {
    const { graph, header } = this.#regions
    const record = container << L.LINE_WORDS_LOG2
    const instance = graph[record + L.C_INSTANCE]! << L.LINE_WORDS_LOG2
    const tenant = graph[instance + L.I_TENANT]! << L.LINE_WORDS_LOG2
    const epochs = graph[tenant + L.T_CLOSURE_EPOCH]! + header[L.H_CLOSURE_ERA]!
    return (graph[record + L.C_VERSION]! + epochs + this.#schema.stateEpoch[state]!) | 0
  }

  #collect(container: number, state: number): void {
    this.#seen.clear()
    this.#seenGates.clear()
    this.#pending.length = 0
    this.#scopes.length = 0
    this.#masks.length = 0
    this.#gates.length = 0
    this.#entries.clear()
    this.#pushState(container, state)
    for (let next = 0; next < this.#pending.length; next += 2) {
      const above = this.#pending.items[next]!
      const aboveState = this.#pending.items[next + 1]!
      if (next === 0 || !this.#absorb(above, aboveState)) this.#visit(above, aboveState)
    }
  }

  #visit(container: number, state: number): void {
    const schema = this.#schema
    const { graph } = this.#regions
    const line = graph[(container << L.LINE_WORDS_LOG2) + L.C_INSTANCE]!
    const instance = line << L.LINE_WORDS_LOG2
    if ((graph[instance]! & L.FLAG_DEAD) !== 0) return
    const hasAssignees = graph[instance + L.I_ASSIGNEES + 1] !== 0
    if (hasAssignees) {
      for (let m = schema.masksFrom[state]!; m < schema.masksFrom[state + 1]!; m += 2) {
        this.#addEntry(line | (schema.masks[m]! << L.BANK_SHIFT), schema.masks[m + 1]!)
      }
    }
    const ptr = graph[instance + L.I_IN]!
    const meta = graph[instance + L.I_IN + 1]!
    if (meta === 0) return
    const isGated = hasAssignees && schema.stateHasGuard[state] === 1
    const transitions = isGated ? schema.open : schema.full
    if (isGated) this.#addGate(line, state)
    if ((meta & L.LOG2_MASK) === L.INLINE) {
      this.#pushTarget(ptr, schema.targetIn(transitions, meta >>> L.COUNT_SHIFT, state))
      return
    }
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end; at += 2) {
      if (graph[at] !== 0) this.#pushTarget(graph[at]!, schema.targetIn(transitions, graph[at + 1]!, state))
    }
  }

  /**
   * If the closure of the container and state is valid, adds its entries and gates and returns true.
   * Otherwise returns false.
   */
  #absorb(container: number, state: number): boolean {
    if (!this.#isBuilt(container, state)) return false
    const { graph, closures } = this.#regions
    const head = headAt(graph, container, this.#schema.stateOrdinal[state]!)
    const position = graph[head + L.HEAD_BLOCK]!
    const words = position < 0 ? graph : closures
    const block = position < 0 ? (container << L.LINE_WORDS_LOG2) - position : position
    const size = graph[head + L.HEAD_SIZE]! & L.HEAD_SIZE_MASK
    const entries = size >>> 1
    for (let i = 0; i < entries; i++) this.#addEntry(words[block + i]!, maskOfEntry(words, block, entries, i))
    if ((size & 1) === 0) return true
    const gates = gatesAt(words, block, entries)
    for (let g = 0; g < words[gates]!; g++)
      this.#addGate(words[gates + 1 + 2 * g]!, words[gates + 2 + 2 * g]!)
    return true
  }

  #pushTarget(container: number, target: number): void {
    if (target > 0) return this.#pushState(container, target)
    // The test is not `=== 0`: if the schema no longer has the class of the edge, the index is outside the
    // table and `target` is undefined.
    if (!target) return
    const { lists } = this.#schema
    for (let i = 1; i <= lists[-target]!; i++) this.#pushState(container, lists[i - target]!)
  }

  #pushState(container: number, state: number): void {
    if (!this.#seen.add(container, state)) return
    this.#pending.push(container)
    this.#pending.push(state)
  }

  #addGate(instance: number, state: number): void {
    if (!this.#seenGates.add(instance, state)) return
    this.#gates.push(instance)
    this.#gates.push(state)
  }

  /**
   * Several states can lead to the same instance. The closure then has one entry for the scope, with the
   * union of the masks.
   */
  #addEntry(scope: number, mask: number): void {
    const entry = this.#entries.numberOf(scope, 0)
    if (entry < this.#scopes.length) {
      this.#masks.items[entry]! |= mask
      return
    }
    this.#scopes.push(scope)
    this.#masks.push(mask)
  }

  /** Writes the layout described in `closure-block.ts`. */
  #write(words: Int32Array, block: number, entries: number): void {
    if (entries > L.CLOSURE_LIST_MAX) {
      words.set(this.#scopes.items.subarray(0, entries), block)
      words.set(this.#masks.items.subarray(0, entries), block + entries)
      this.#writeTable(words, block + entries * 2, entries)
    } else this.#writeByMask(words, block, entries)
    if (this.#gates.length === 0) return
    const gates = gatesAt(words, block, entries)
    words[gates] = this.#gates.length / 2
    words.set(this.#gates.items.subarray(0, this.#gates.length), gates + 1)
  }

  /**
   * Writes the entries grouped by mask: all entries with the mask of the first entry, then all entries with
   * the next different mask. O(entries × masks).
   */
  #writeByMask(words: Int32Array, block: number, entries: number): void {
    const scopes = this.#scopes.items
    const masks = this.#masks.items
    let run = block + entries
    for (let first = 0, written = 0; written < entries; first++) {
      const mask = masks[first]!
      if (masks.indexOf(mask) < first) continue
      for (let i = first; i < entries; i++) if (masks[i] === mask) words[block + written++] = scopes[i]!
      words[run] = written
      words[run + 1] = mask
      run += 2
    }
  }

  #writeTable(words: Int32Array, table: number, entries: number): void {
    const log2 = tableLog2(entries)
    const mask = (1 << log2) - 1
    words.fill(0, table, table + (2 << log2))
    for (let i = 0; i < entries; i++) {
      const scope = this.#scopes.items[i]!
      let slot = Math.imul(scope, L.ID_HASH) >>> (32 - log2)
      while (words[table + slot * 2] !== 0) slot = (slot + 1) & mask
      words[table + slot * 2] = scope
      words[table + slot * 2 + 1] = this.#masks.items[i]!
    }
  }
}
