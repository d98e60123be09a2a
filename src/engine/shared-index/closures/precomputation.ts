/**
 * Builds the closures of all containers in advance, so that checks need not build them.
 * `precomputation-schedule.ts` decides when. If a later change invalidates a closure, the first check that
 * needs this closure rebuilds it (`check.ts`).
 *
 * For each container, builds the closures of all states that are targets of transitions. For a wide instance,
 * also builds the closures of the start states of actions. Containers above come first, so that each closure
 * is assembled from those of its neighbors. The cost of a chain is therefore linear in its length, not
 * quadratic. Valid closures are not rebuilt.
 *
 * The work is divided into small steps between other work. A write between two steps can free containers that
 * are waiting on the stack, so the stack is then discarded. As a result, a few closures might not be built.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { entryCount } from '#engine/shared-index/memory/slab.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import type { ClosureBuilder } from './closure-builder.ts'

/** Cost of building a closure, in slots of the string table that could be examined in the same time. */
const CLOSURE_COST = 16

export class Precomputation {
  readonly #regions: Regions
  readonly #schema: SchemaView
  readonly #builder: ClosureBuilder
  /** For each type id: states that are targets of transitions, and start states of actions. */
  readonly #targets: number[][] = []
  readonly #starts: (readonly number[])[] = []
  #sequence = 0
  #partition = 0
  #slot = 0
  readonly #seen = new VisitedPairs()
  /**
   * Pairs (container, state) that wait to be built. Containers above are pushed last. When the neighbors of
   * the container have been pushed, the state of the pair is negated.
   */
  readonly #stack = new NumberList()

  constructor(regions: Regions, schema: SchemaView, builder: ClosureBuilder) {
    this.#regions = regions
    this.#schema = schema
    this.#builder = builder
    const seen = new Uint8Array(schema.width)
    for (const target of schema.full) {
      if (target === 0) continue
      for (const state of this.#statesOf(target)) {
        if (seen[state] === 1) continue
        seen[state] = 1
        const type = schema.stateType[state]!
        const known = this.#targets[type]
        if (known) known.push(state)
        else this.#targets[type] = [state]
      }
    }
  }

  /**
   * Does as much work as examining about `work` slots. Returns false when all work is done. Requires the
   * lock, but no critical section.
   */
  step(work: number): boolean {
    const { header } = this.#regions
    if (header[L.H_SEQUENCE] !== this.#sequence) this.#stack.length = 0
    let left = work
    while (left > 0) {
      if (this.#stack.length > 0) {
        this.#unwind()
        left -= CLOSURE_COST
      } else if (this.#partition < L.PARTITION_COUNT) {
        this.#takeNext()
        left -= 1
      } else return false
    }
    this.#sequence = header[L.H_SEQUENCE]!
    return true
  }

  #takeNext(): void {
    const { header } = this.#regions
    if (this.#slot >= table.slotCount(header, this.#partition)) {
      this.#partition += 1
      this.#slot = 0
      return
    }
    const line = table.recordInSlot(this.#regions, this.#partition, this.#slot)
    this.#slot += 1
    if (line !== 0) this.#pushAllOf(line)
  }

  #pushAllOf(line: number): void {
    const { graph } = this.#regions
    const instance = line << L.LINE_WORDS_LOG2
    const type = graph[instance]! >>> L.TYPE_SHIFT
    if (type === L.USER_TYPE || type === L.TENANT_TYPE) return
    const container = graph[instance + L.I_CONTAINER]!
    if (container === 0) return
    for (const state of this.#targets[type] ?? []) this.#push(container, state)
    if (entryCount(graph[instance + L.I_IN + 1]!) <= L.WIDE_IN_EDGES) return
    this.#starts[type] ??= this.#startsOf(type)
    for (const state of this.#starts[type]) this.#push(container, state)
  }

  #startsOf(type: number): number[] {
    const starts = this.#schema.typesById[type]?.starts ?? []
    return [...new Set(Array.from(new Set(starts), start => this.#statesOf(start)).flat())]
  }

  #push(container: number, state: number): void {
    if (!this.#seen.add(container, state)) return
    this.#stack.push(container)
    this.#stack.push(state)
  }

  /**
   * Processes the top of the stack. If its neighbors have not been pushed, pushes them. Otherwise builds its
   * closure from theirs.
   */
  #unwind(): void {
    const { items } = this.#stack
    const top = this.#stack.length - 2
    const container = items[top]!
    const state = items[top + 1]!
    if (state < 0) {
      this.#stack.length = top
      this.#builder.buildIfMissing(container, -state)
      return
    }
    items[top + 1] = -state
    this.#pushAbove(container, state)
  }

  #pushAbove(container: number, state: number): void {
    const { graph } = this.#regions
    const schema = this.#schema
    const instance = graph[(container << L.LINE_WORDS_LOG2) + L.C_INSTANCE]! << L.LINE_WORDS_LOG2
    const ptr = graph[instance + L.I_IN]!
    const meta = graph[instance + L.I_IN + 1]!
    if (meta === 0) return
    if ((meta & L.LOG2_MASK) === L.INLINE) {
      return this.#pushTarget(ptr, schema.targetIn(schema.full, meta >>> L.COUNT_SHIFT, state))
    }
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end; at += 2) {
      if (graph[at] !== 0) this.#pushTarget(graph[at]!, schema.targetIn(schema.full, graph[at + 1]!, state))
    }
  }

  #pushTarget(container: number, target: number): void {
    for (const state of this.#statesOf(target)) this.#push(container, state)
  }

  /**
   * Returns the states to which a target leads: none, one or several. If the schema no longer has the class
   * of an edge, the edge leads to no state.
   */
  #statesOf(target: number | undefined): readonly number[] {
    if (!target) return []
    if (target > 0) return [target]
    const { lists } = this.#schema
    return [...lists.subarray(1 - target, 1 - target + lists[-target]!)]
  }
}
