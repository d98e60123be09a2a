/**
 * Invalidates the closures that a commit affects: those of the containers that the commit changes, and of
 * every container below them. To do so, it increments the versions of these containers. The next query that
 * needs such a closure rebuilds it.
 *
 * Most of the work is finding the containers below. `collect` therefore searches from the planned changes
 * before the critical section, while readers continue. In the critical section, `begin` increments the
 * versions of the containers found. `from` searches during the critical section, but only from instances that
 * `collect` did not search.
 *
 * If too many containers are below, the closure epoch of the tenant is incremented instead. This invalidates
 * all closures of the tenant's instances. That is sufficient, because tuples never cross tenants.
 * O(containers below, at most the limit) per commit, not per change.
 *
 * Invariant: throughout the commit, if `#seen` contains a container, it also contains all containers below
 * this one. If an instance is linked below such a container later, another search starts at that instance. No
 * closure is built during a critical section, so one increment per commit is sufficient.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'

/**
 * Maximum number of containers that a commit invalidates individually. Finding a container takes half a
 * microsecond.
 */
const COLLECTED_MAX = 16_384
const WALKED_IN_SECTION_MAX = 4_096

export class Invalidation {
  readonly #regions: Regions
  readonly #seen = new VisitedPairs()
  /** Containers found in this commit. The last ones are those whose neighbors have not been visited yet. */
  readonly #found = new NumberList()
  /** Tenants whose closures were all invalidated. */
  readonly #voided = new Set<number>()
  #isInSection = false
  #foundMax = COLLECTED_MAX

  constructor(regions: Regions) {
    this.#regions = regions
  }

  /**
   * Searches from the instance before the critical section, for a change that the commit will make. Requires
   * neither the lock nor a critical section.
   */
  collect(instance: number): void {
    this.#walk(instance)
  }

  /**
   * Increments the versions of the containers that `collect` found. The caller holds the lock and is at
   * the beginning of the critical section.
   */
  begin(): void {
    const { items, length } = this.#found
    for (let i = 0; i < length; i++) this.#bump(items[i]!)
    for (const tenant of this.#voided) this.#bumpEpoch(tenant)
    this.#foundMax = length + WALKED_IN_SECTION_MAX
    this.#isInSection = true
  }

  /**
   * Invalidates the closures of the instance and of all instances below it. Requires the lock and a critical
   * section.
   */
  from(instance: number): void {
    this.#walk(instance)
  }

  /** Prepares for the next commit. Call it at the end of the critical section. */
  end(): void {
    this.#seen.clear()
    this.#found.length = 0
    this.#voided.clear()
    this.#foundMax = COLLECTED_MAX
    this.#isInSection = false
  }

  #walk(instance: number): void {
    const { graph } = this.#regions
    const found = this.#found
    const record = instance << L.LINE_WORDS_LOG2
    const container = graph[record + L.I_CONTAINER]!
    const tenant = graph[record + L.I_TENANT]!
    if (container === 0 || this.#voided.has(tenant)) return
    let next = found.length
    this.#push(container)
    for (; next < found.length; next++) {
      if (found.length > this.#foundMax) {
        this.#voided.add(tenant)
        if (this.#isInSection) this.#bumpEpoch(tenant)
        return
      }
      if (this.#isInSection) this.#bump(found.items[next]!)
      this.#pushBelow(found.items[next]! << L.LINE_WORDS_LOG2)
    }
  }

  #pushBelow(container: number): void {
    const { graph } = this.#regions
    const ptr = graph[container + L.C_OUT_CONTAINERS]!
    const meta = graph[container + L.C_OUT_CONTAINERS + 1]!
    if (meta === 0) return
    if ((meta & L.LOG2_MASK) === L.INLINE) return this.#pushInstance(ptr)
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end; at += 2) {
      if (graph[at] !== 0) this.#pushInstance(graph[at]!)
      // Stops at the limit, so that not all out-edges of a folder are copied. A folder can contain a million
      // folders.
      if (this.#found.length > this.#foundMax) return
    }
  }

  #pushInstance(instance: number): void {
    this.#push(this.#regions.graph[(instance << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!)
  }

  #push(container: number): void {
    if (this.#seen.add(container, 0)) this.#found.push(container)
  }

  #bump(container: number): void {
    const { graph, header } = this.#regions
    header[L.H_CONTAINERS_VOIDED] = (header[L.H_CONTAINERS_VOIDED]! + 1) | 0
    const version = (container << L.LINE_WORDS_LOG2) + L.C_VERSION
    graph[version] = (graph[version]! + 1) | 0
  }

  #bumpEpoch(tenant: number): void {
    const { graph, header } = this.#regions
    header[L.H_TENANTS_VOIDED] = (header[L.H_TENANTS_VOIDED]! + 1) | 0
    const epoch = (tenant << L.LINE_WORDS_LOG2) + L.T_CLOSURE_EPOCH
    graph[epoch] = (graph[epoch]! + 1) | 0
  }
}
