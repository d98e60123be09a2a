/**
 * Which closures a change to the graph makes void: those of the container it happened at, and of every container
 * below it. Their versions are bumped; who needs a closure next builds it anew.
 *
 * A walk that gets too long is cut short by bumping the closure epoch of the tenant, which voids all closures of its
 * instances: tuples never cross tenants, so nothing outside can be below. O(containers below, at most the limit).
 */
import * as L from './layout.ts'
import { NumberList } from './number-list.ts'
import type { Regions } from './regions.ts'
import { VisitedPairs } from './visited-pairs.ts'

const CONTAINERS_MAX = 4_096

export class Invalidation {
  readonly #regions: Regions
  readonly #seen = new VisitedPairs()
  readonly #pending = new NumberList()

  constructor(regions: Regions) {
    this.#regions = regions
  }

  /** Lock held, in a section. */
  from(instance: number): void {
    const { graph } = this.#regions
    const pending = this.#pending
    const first = graph[(instance << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
    if (first === 0) return
    this.#seen.clear()
    this.#seen.add(first, 0)
    pending.length = 0
    pending.push(first)
    for (let next = 0; next < pending.length; next++) {
      if (next >= CONTAINERS_MAX) {
        const epoch =
          (graph[(instance << L.LINE_WORDS_LOG2) + L.I_TENANT]! << L.LINE_WORDS_LOG2) + L.T_CLOSURE_EPOCH
        graph[epoch] = (graph[epoch]! + 1) | 0
        return
      }
      const container = pending.items[next]! << L.LINE_WORDS_LOG2
      graph[container + L.C_VERSION] = (graph[container + L.C_VERSION]! + 1) | 0
      this.#pushBelow(container)
    }
  }

  #pushBelow(container: number): void {
    const { graph } = this.#regions
    const ptr = graph[container + L.C_OUT_CONTAINERS]!
    const meta = graph[container + L.C_OUT_CONTAINERS + 1]!
    if (meta === 0) return
    if ((meta & L.LOG2_MASK) === L.INLINE) return this.#push(ptr)
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end; at += 2) {
      if (graph[at] !== 0) this.#push(graph[at]!)
      // Enough for the limit to be noticed; a folder of a million folders is not copied out first.
      if (this.#pending.length > 2 * CONTAINERS_MAX) return
    }
  }

  #push(instance: number): void {
    const container = this.#regions.graph[(instance << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
    if (this.#seen.add(container, 0)) this.#pending.push(container)
  }
}
