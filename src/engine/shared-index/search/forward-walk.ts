/**
 * Finds all roles of a user: the least fixed point of native.md C.2. The walk goes forward from the user's
 * direct assignments along out-edges. It has one item per (instance, role), except for the last instances of
 * a path (see `#derive`). The list of items is its own work list, so the walk ends even if there are cycles,
 * and long paths cost nothing extra.
 *
 * Searches run the whole walk. Checks on wide instances run it with a budget of steps. It reads without the
 * lock, so a result is valid only after validation.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { isWithin, PAIRS } from '#engine/shared-index/memory/slab.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import type { StagedWalk } from '#engine/shared-index/schema/walk-steps.ts'
import { holdsAny } from './holdings.ts'

export interface WalkScope {
  /** Whether the walk includes instances without a container. No roles are derived from such instances. */
  readonly toOthers: boolean
  readonly stepsMax: number
}

export class ForwardWalk implements StagedWalk {
  readonly #regions: Regions
  #schema: SchemaView
  readonly #items = new NumberList()
  readonly #seen = new VisitedPairs()
  #user = 0
  #steps = 0
  #toOthers = false
  /**
   * Position of the walk: whether all assignments have been read, the current item, the list of that item
   * which is being read, and the position in this list.
   */
  #hasAssignments = false
  #next = 0
  #list = 0
  #pairsSeen = 0

  constructor(regions: Regions, schema: SchemaView) {
    this.#regions = regions
    this.#schema = schema
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
  }

  get stepsLeft(): number {
    return this.#steps
  }

  /** Number of items that the last walk found. */
  get length(): number {
    return this.#items.length >>> 1
  }

  lineAt(index: number): number {
    return this.#items.items[index * 2]!
  }

  /** Returns the index of the role of an item: bank × 32 + bit. */
  roleIndexAt(index: number): number {
    return this.#items.items[index * 2 + 1]!
  }

  /**
   * Returns whether the walk found this role on this instance. Only for instances from which roles can be
   * derived. Expected O(1).
   */
  has(line: number, roleIndex: number): boolean {
    return this.#seen.numberIfThere(line, roleIndex) >= 0
  }

  /**
   * Runs a walk. Returns false if the walk stopped after `stepsMax` steps and therefore found only some of
   * the items.
   */
  run(user: number, { toOthers, stepsMax }: WalkScope): boolean {
    this.begin(user, toOthers)
    return this.advance(stepsMax)
  }

  /** Begins a walk; `advance` continues it. `toOthers` is described in `WalkScope`. */
  begin(user: number, toOthers: boolean): void {
    this.#user = user << L.LINE_WORDS_LOG2
    this.#toOthers = toOthers
    this.#items.length = 0
    this.#seen.clear()
    this.#hasAssignments = false
    this.#next = 0
    this.#list = 0
    this.#pairsSeen = 0
  }

  /**
   * Advances by about `steps` steps: the assignments and edges that it reads. Returns true when the walk is
   * complete. All reads must be on the state on which the walk began.
   */
  advance(steps: number): boolean {
    this.#steps = steps
    if (!this.#hasAssignments && !this.#takeAssignments()) return false
    while (this.#next < this.#items.length) {
      if (
        this.#steps <= 0 ||
        !this.#follow(this.#items.items[this.#next]!, this.#items.items[this.#next + 1]!)
      )
        return false
      this.#next += 2
    }
    return this.#steps > 0
  }

  /**
   * Reads the assignments of the user. This method and the following ones return false if the steps are used
   * up.
   */
  #takeAssignments(): boolean {
    const { graph } = this.#regions
    const ptr = graph[this.#user + L.U_ASSIGNMENTS]!
    const meta = graph[this.#user + L.U_ASSIGNMENTS + 1]!
    if (meta !== 0 && isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) {
      const end = ptr + (2 << (meta & L.LOG2_MASK))
      for (let at = ptr + 2 * this.#pairsSeen; at < end; at += 2) {
        if (this.#steps <= 0) {
          this.#pairsSeen = (at - ptr) >> 1
          return false
        }
        if (graph[at] !== 0) this.#takeAssignment(graph[at]!, graph[at + 1]!)
      }
    }
    this.#hasAssignments = true
    this.#pairsSeen = 0
    return true
  }

  #takeAssignment(scope: number, held: number): void {
    this.#steps -= 1
    const line = scope & L.LINE_MASK
    const head = this.#regions.graph[line << L.LINE_WORDS_LOG2]!
    const type = this.#schema.typesById[head >>> L.TYPE_SHIFT]
    if (type === undefined || type.id === L.TENANT_TYPE || (head & L.FLAG_DEAD) !== 0) return
    const bank = scope >>> L.BANK_SHIFT
    const mask = held & (type.liveMasks[bank] ?? 0)
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      this.#add(line, bank * L.BANK_ROLES + 31 - Math.clz32(rest & -rest))
    }
  }

  #follow(line: number, roleIndex: number): boolean {
    const { graph } = this.#regions
    const container = graph[(line << L.LINE_WORDS_LOG2) + L.I_CONTAINER]! << L.LINE_WORDS_LOG2
    if (container === 0) return true
    if (this.#list === 0 && !this.#followList(container + L.C_OUT_CONTAINERS, roleIndex, false)) return false
    this.#list = 1
    if (this.#toOthers && !this.#followList(container + L.C_OUT_OTHERS, roleIndex, true)) return false
    this.#list = 0
    return true
  }

  #followList(descriptor: number, roleIndex: number, isLast: boolean): boolean {
    const { graph } = this.#regions
    const ptr = graph[descriptor]!
    const meta = graph[descriptor + 1]!
    // `meta` is undefined if the container is torn and beyond the view.
    if (!meta) return true
    if ((meta & L.LOG2_MASK) === L.INLINE) {
      this.#derive(ptr, meta >>> L.COUNT_SHIFT, roleIndex, isLast)
      return true
    }
    if (!isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) return true
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr + 2 * this.#pairsSeen; at < end; at += 2) {
      if (this.#steps <= 0) {
        this.#pairsSeen = (at - ptr) >> 1
        return false
      }
      if (graph[at] !== 0) this.#derive(graph[at]!, graph[at + 1]!, roleIndex, isLast)
    }
    this.#pairsSeen = 0
    return true
  }

  /**
   * No roles are derived from an instance without a container. Therefore such an instance is not read here,
   * and it is not recorded as visited. Its items can thus be repeated or belong to a dead instance. Code that
   * uses these items reads the instance anyway (`search.ts`).
   */
  #derive(object: number, edgeClass: number, roleIndex: number, isLast: boolean): void {
    const { graph } = this.#regions
    const { derivations, derivationsFrom } = this.#schema
    const end = derivationsFrom[edgeClass + 1]!
    // Counts reading the derivations as several steps if there are many, because a class can have a thousand
    // derivations.
    this.#steps -= 1 + ((end - derivationsFrom[edgeClass]!) >> 5)
    let found = 0
    for (let d = derivationsFrom[edgeClass]!; d < end; d += 3) {
      if (derivations[d] !== roleIndex) continue
      found += 1
      if (
        derivations[d + 2] === 1 &&
        holdsAny(graph, this.#schema, this.#user >>> L.LINE_WORDS_LOG2, object)
      ) {
        continue
      }
      if (isLast) {
        this.#items.push(object)
        this.#items.push(derivations[d + 1]!)
      } else if ((graph[object << L.LINE_WORDS_LOG2]! & L.FLAG_DEAD) === 0) {
        this.#add(object, derivations[d + 1]!)
      }
    }
    // Each role after the first one that is found on an object also counts as a step.
    if (found > 1) this.#steps -= found - 1
  }

  #add(line: number, roleIndex: number): void {
    if (!this.#seen.add(line, roleIndex)) return
    this.#items.push(line)
    this.#items.push(roleIndex)
  }
}
