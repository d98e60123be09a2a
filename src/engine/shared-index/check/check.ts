/**
 * Decides a check on one instance: does the user hold a sufficient role on it, directly or derived (native.md
 * C.2)? The check works on lines and states, not on names.
 *
 * By default, the check is optimistic: it reads without the lock, while the writer may be writing. The
 * verdict is valid only after validation (`consistent-reads.ts`), and every loop is bounded by the size of
 * the view. If a closure is missing, the check returns `BUILD`. The caller then repeats the check with the
 * lock, and that call builds missing closures.
 *
 * The check allocates no memory, unless a scratch list needs more space than in all previous checks.
 */
import { gatesAt, maskOfEntry, tableLog2, wordsMin } from '#engine/shared-index/closures/closure-block.ts'
import type { ClosureBuilder } from '#engine/shared-index/closures/closure-builder.ts'
import { headAt } from '#engine/shared-index/closures/closure-heads.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { findPair, hasPair, isWithin, PAIRS } from '#engine/shared-index/memory/slab.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import type { ForwardWalk } from '#engine/shared-index/search/forward-walk.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const {
  BANK_SHIFT,
  CLOSURE_LIST_MAX,
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
  I_CONTAINER,
  I_IN,
  I_TENANT,
  LINE_MASK,
  LINE_WORDS_LOG2,
  LOG2_MASK,
  TYPE_SHIFT,
  T_CLOSURE_EPOCH,
  U_ASSIGNMENTS,
  U_FILTER,
  WIDE_IN_EDGES,
} = L

export const DENY = 0
export const ALLOW = 1
/**
 * Outcome if the verdict depends on a closure that is not built. With the lock held, it means that the memory
 * is not sufficient for the closure.
 */
export const BUILD = 2
export type CheckOutcome = typeof DENY | typeof ALLOW | typeof BUILD

/** After this number of searches from the user, the closure of a wide instance is built. */
const WALKS_BEFORE_BUILD = 8
const WALK_STEPS_MAX = 2_048
const WIDE_COUNTERS = 1_024

export class InstanceCheck {
  readonly #regions: Regions
  readonly #builder: ClosureBuilder
  readonly #walk: ForwardWalk
  #schema: SchemaView
  #mayBuild = false
  #graph: Int32Array = new Int32Array(0)
  #closures: Int32Array = new Int32Array(0)
  #user = 0
  #slab = 0
  #slabMeta = 0
  #epochs = 0
  readonly #gates = new NumberList()
  readonly #seenGates = new VisitedPairs()
  readonly #wideWalks = new Uint8Array(WIDE_COUNTERS)

  constructor(regions: Regions, parts: { schema: SchemaView; builder: ClosureBuilder; walk: ForwardWalk }) {
    this.#regions = regions
    this.#schema = parts.schema
    this.#builder = parts.builder
    this.#walk = parts.walk
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
  }

  /**
   * `user` and `instance` are lines. `target` is the start state of the action. `mayBuild` is true if the
   * caller holds the lock, so that closures can be built.
   */
  run(user: number, instance: number, target: number, mayBuild: boolean): CheckOutcome {
    const { graph, header } = this.#regions
    this.#mayBuild = mayBuild
    this.#graph = graph
    this.#closures = this.#regions.closures
    this.#user = user << LINE_WORDS_LOG2
    this.#slab = graph[this.#user + U_ASSIGNMENTS]!
    this.#slabMeta = graph[this.#user + U_ASSIGNMENTS + 1]!
    // A user without assignments is always denied.
    if (this.#slabMeta >>> COUNT_SHIFT === 0) return DENY
    const tenant = graph[(instance << LINE_WORDS_LOG2) + I_TENANT]! << LINE_WORDS_LOG2
    this.#epochs = (graph[tenant + T_CLOSURE_EPOCH]! + header[H_CLOSURE_ERA]!) | 0
    this.#gates.length = 0
    if (target > 0) return this.#behindGates(this.#atInstance(instance, target))
    if (target === 0) return DENY
    const { lists } = this.#schema
    let verdict: CheckOutcome = DENY
    for (let i = 1; i <= lists[-target]! && verdict === DENY; i++) {
      verdict = this.#atInstance(instance, lists[i - target]!)
    }
    return this.#behindGates(verdict)
  }

  #atInstance(line: number, state: number): CheckOutcome {
    const graph = this.#graph
    const instance = line << LINE_WORDS_LOG2
    if (this.#holdsDirectly(line, state)) return ALLOW
    const ptr = graph[instance + I_IN]!
    const meta = graph[instance + I_IN + 1]!
    if (meta === 0) return DENY
    const schema = this.#schema
    const log2 = meta & LOG2_MASK
    if (log2 !== INLINE && meta >>> COUNT_SHIFT > WIDE_IN_EDGES) return this.#atWide(line, state)
    const isBlocked = schema.stateHasGuard[state] === 1 && this.#holdsAny(line)
    const transitions = isBlocked ? schema.open : schema.full
    if (log2 === INLINE) {
      return this.#atTarget(ptr, schema.targetIn(transitions, meta >>> COUNT_SHIFT, state))
    }
    return this.#alongEdges(ptr, log2, transitions, state)
  }

  #alongEdges(ptr: number, log2: number, transitions: Int32Array, state: number): CheckOutcome {
    const graph = this.#graph
    if (!isWithin(graph, ptr, log2, PAIRS)) return DENY
    const schema = this.#schema
    const end = ptr + (2 << log2)
    for (let at = ptr; at < end; at += 2) {
      if (graph[at] === 0) continue
      const target = schema.targetIn(transitions, graph[at + 1]!, state)
      // `target` is undefined if the class of the edge was torn by a concurrent write.
      if (!target) continue
      const verdict = this.#atTarget(graph[at]!, target)
      if (verdict !== DENY) return verdict
    }
    return DENY
  }

  #atTarget(container: number, target: number): CheckOutcome {
    if (target > 0) return this.#inClosure(container, target)
    // The test is not `=== 0`: `target` is undefined if the class of the edge was torn by a concurrent write.
    if (!target) return DENY
    const { lists } = this.#schema
    for (let i = 1; i <= lists[-target]!; i++) {
      const verdict = this.#inClosure(container, lists[i - target]!)
      if (verdict !== DENY) return verdict
    }
    return DENY
  }

  /**
   * Decides a wide instance. Uses the instance's own closure if it is built. Otherwise searches from the
   * user; if that search is too long, the closure must be built.
   */
  #atWide(line: number, state: number): CheckOutcome {
    const container = this.#graph[(line << LINE_WORDS_LOG2) + I_CONTAINER]!
    if (this.#mayBuild || this.#isBuilt(container, state)) return this.#inClosure(container, state)
    const counter = Math.imul(container, ID_HASH) >>> 22
    const walks = this.#wideWalks[counter]!
    if (walks >= WALKS_BEFORE_BUILD) {
      this.#wideWalks[counter] = 0
      return BUILD
    }
    this.#wideWalks[counter] = walks + 1
    return this.#forward(line, state)
  }

  #forward(line: number, state: number): CheckOutcome {
    const schema = this.#schema
    const graph = this.#graph
    const instance = line << LINE_WORDS_LOG2
    const ptr = graph[instance + I_IN]!
    const meta = graph[instance + I_IN + 1]!
    const isBlocked = schema.stateHasGuard[state] === 1 && this.#holdsAny(line)
    const transitions = isBlocked ? schema.open : schema.full
    const classes = schema.typesById[schema.stateType[state]!]?.edgeClasses ?? []
    const walk = this.#walk
    if (!walk.run(this.#user >>> LINE_WORDS_LOG2, { toOthers: false, stepsMax: WALK_STEPS_MAX })) return BUILD
    for (let i = 0; i < walk.length; i++) {
      const subject = graph[(walk.lineAt(i) << LINE_WORDS_LOG2) + I_CONTAINER]!
      const type = graph[walk.lineAt(i) << LINE_WORDS_LOG2]! >>> TYPE_SHIFT
      if (subject === 0) continue
      for (const edgeClass of classes) {
        const target = schema.targetIn(transitions, edgeClass, state)
        if (target === 0 || !this.#isMet(target, type, walk.roleIndexAt(i))) continue
        if (hasPair(graph, ptr, meta, subject, edgeClass)) return ALLOW
      }
    }
    return DENY
  }

  /** Returns whether the role with index `roleIndex` of the type is sufficient for the target. */
  #isMet(target: number, type: number, roleIndex: number): boolean {
    const schema = this.#schema
    if (target < 0) {
      const { lists } = schema
      for (let i = 1; i <= lists[-target]!; i++)
        if (this.#isMet(lists[i - target]!, type, roleIndex)) return true
      return false
    }
    if (schema.stateType[target] !== type) return false
    for (let m = schema.masksFrom[target]!; m < schema.masksFrom[target + 1]!; m += 2) {
      if (schema.masks[m] === roleIndex >>> 5 && (schema.masks[m + 1]! & (1 << (roleIndex & 31))) !== 0)
        return true
    }
    return false
  }

  #isBuilt(container: number, state: number): boolean {
    const graph = this.#graph
    const head = headAt(graph, container, this.#schema.stateOrdinal[state]!)
    if (head === 0) return false
    const version = graph[(container << LINE_WORDS_LOG2) + C_VERSION]!
    // `built at` must be read before the rest of the head; `closure-heads.ts` explains why.
    return graph[head + HEAD_BUILT_AT] === ((version + this.#epochs + this.#schema.stateEpoch[state]!) | 0)
  }

  #inClosure(container: number, state: number): CheckOutcome {
    if (!this.#isBuilt(container, state)) {
      if (!this.#mayBuild || !this.#build(container, state)) return BUILD
    }
    const graph = this.#graph
    const head = headAt(graph, container, this.#schema.stateOrdinal[state]!)
    const size = graph[head + HEAD_SIZE]! & HEAD_SIZE_MASK
    if (size === 0) return DENY
    const entries = size >>> 1
    const position = graph[head + HEAD_BLOCK]!
    const record = container << LINE_WORDS_LOG2
    const words = position < 0 ? graph : this.#closures
    const block = position < 0 ? record - position : position
    const end = position < 0 ? record + C_INLINE_END : words.length
    if (!(block > 0 && block + wordsMin(entries) <= end)) return DENY
    if (entries > CLOSURE_LIST_MAX && entries > 2 << (this.#slabMeta & LOG2_MASK)) {
      if (this.#meetsTable(words, block + entries * 2, tableLog2(entries))) return ALLOW
    } else if (this.#meetsList(words, block, entries)) return ALLOW
    if ((size & 1) !== 0) this.#takeGates(words, gatesAt(words, block, entries), end)
    return DENY
  }

  #build(container: number, state: number): boolean {
    const era = this.#regions.header[H_CLOSURE_ERA]!
    const isBuilt = this.#builder.build(container, state)
    this.#graph = this.#regions.graph
    this.#closures = this.#regions.closures
    this.#epochs = (this.#epochs + this.#regions.header[H_CLOSURE_ERA]! - era) | 0
    return isBuilt
  }

  /**
   * Returns whether the user holds a role that an entry of the closure requires. Tests the filter for each
   * entry, and probes the slab only if the filter bit is set.
   */
  #meetsList(words: Int32Array, block: number, entries: number): boolean {
    const graph = this.#graph
    const filter = this.#user + U_FILTER
    for (let i = 0; i < entries; i++) {
      const scope = words[block + i]!
      const hash = Math.imul(scope & LINE_MASK, ID_HASH)
      if ((graph[filter + (hash >>> (FILTER_SHIFT + 5))]! & (1 << (hash >>> FILTER_SHIFT))) === 0) continue
      const at = findPair(graph, this.#slab, this.#slabMeta, scope)
      if (at !== 0 && (graph[at + 1]! & maskOfEntry(words, block, entries, i)) !== 0) return true
    }
    return false
  }

  /**
   * Returns whether the user holds a role that the closure requires. Looks up each assignment of the user in
   * the hash table of the closure.
   */
  #meetsTable(words: Int32Array, table: number, log2: number): boolean {
    const graph = this.#graph
    const slabLog2 = this.#slabMeta & LOG2_MASK
    if (!isWithin(graph, this.#slab, slabLog2, PAIRS)) return false
    const mask = (1 << log2) - 1
    const end = this.#slab + (2 << slabLog2)
    for (let at = this.#slab; at < end; at += 2) {
      const scope = graph[at]!
      if (scope === 0) continue
      let slot = Math.imul(scope, ID_HASH) >>> (32 - log2)
      for (let probe = 0; probe <= mask; probe++) {
        const entry = words[table + slot * 2]!
        if (entry === 0) break
        if (entry === scope) {
          if ((graph[at + 1]! & words[table + slot * 2 + 1]!) !== 0) return true
          break
        }
        slot = (slot + 1) & mask
      }
    }
    return false
  }

  #takeGates(words: Int32Array, from: number, end: number): void {
    const count = words[from]!
    if (!(count > 0 && from + 2 * count < end)) return
    for (let g = 0; g < count; g++) {
      this.#gates.push(words[from + 1 + 2 * g]!)
      this.#gates.push(words[from + 2 + 2 * g]!)
    }
  }

  /**
   * Continues after each gate at whose instance the user holds no role. Gates can form cycles, so each gate
   * is visited once.
   */
  #behindGates(before: CheckOutcome): CheckOutcome {
    if (before !== DENY || this.#gates.length === 0) return before
    const { guarded } = this.#schema
    this.#seenGates.clear()
    for (let next = 0; next < this.#gates.length; next += 2) {
      const line = this.#gates.items[next]!
      const state = this.#gates.items[next + 1]!
      if (!this.#seenGates.add(line, state) || this.#holdsAny(line)) continue
      const instance = line << LINE_WORDS_LOG2
      const ptr = this.#graph[instance + I_IN]!
      const meta = this.#graph[instance + I_IN + 1]!
      if (!meta) continue
      const verdict =
        (meta & LOG2_MASK) === INLINE
          ? this.#atTarget(ptr, this.#schema.targetIn(guarded, meta >>> COUNT_SHIFT, state))
          : this.#alongEdges(ptr, meta & LOG2_MASK, guarded, state)
      if (verdict !== DENY) return verdict
    }
    return DENY
  }

  #holdsDirectly(line: number, state: number): boolean {
    const schema = this.#schema
    for (let m = schema.masksFrom[state]!; m < schema.masksFrom[state + 1]!; m += 2) {
      if (this.#holds(line, schema.masks[m]!, schema.masks[m + 1]!)) return true
    }
    return false
  }

  /**
   * Returns whether the user directly holds any role on this instance. If so, guarded derivations do not
   * apply to the user there.
   */
  #holdsAny(line: number): boolean {
    const type = this.#schema.typesById[this.#graph[line << LINE_WORDS_LOG2]! >>> TYPE_SHIFT]
    if (type === undefined) return false
    for (let bank = 0; bank < type.liveMasks.length; bank++) {
      if (this.#holds(line, bank, type.liveMasks[bank]!)) return true
    }
    return false
  }

  /**
   * Returns whether the user holds a role of the mask in this scope. Reads one filter bit and, if it is set,
   * probes the slab once.
   */
  #holds(line: number, bank: number, mask: number): boolean {
    const graph = this.#graph
    const hash = Math.imul(line, ID_HASH)
    const word = graph[this.#user + U_FILTER + (hash >>> (FILTER_SHIFT + 5))]!
    if ((word & (1 << (hash >>> FILTER_SHIFT))) === 0) return false
    const at = findPair(graph, this.#slab, this.#slabMeta, line | (bank << BANK_SHIFT))
    return at !== 0 && (graph[at + 1]! & mask) !== 0
  }
}
