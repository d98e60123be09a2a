/**
 * Determines for which users the goals of a query are valid if guarded derivations lead from them. A guard
 * blocks users who hold a direct role on its object (native.md C.2).
 *
 *   group:1 member ───────► folder:a viewer ──guard──► doc:d reader
 *   group:2 member ──guard──► folder:b viewer ────────┘
 *
 * Most users hold no role on any guarded object. For them, all goals are valid, and nothing has to be
 * computed. The other users are *blocked*. Users who are blocked on the same objects form a group, which is
 * processed together. The search goes forward from the roles of the group as far as the guards allow. Then
 * the search goes backward from those goals of the query that it has reached.
 *
 * O(goals and steps + holders on guarded objects + for each group the goals that its users reach). A separate
 * walk for each user would take users × steps: seconds if thousands of groups have a role on the same object.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { BACKWARD_STEPS_MAX, tooMuchToWalk } from '#engine/shared-index/schema/walk-steps.ts'
import type { BackwardWalk, StepListener } from './backward-walk.ts'
import { assigneesOf, holdsAny, maskAt, roleIndexesIn, takeHolders } from './holdings.ts'
import { NO_STEP, StepLists } from './step-lists.ts'

const NONE = -1

/**
 * A group: the objects on which its users are blocked, and the goals that its users hold, as pairs (user,
 * goal).
 */
interface BlockedGroup {
  readonly objects: ReadonlySet<number>
  readonly held: number[]
}

export class GuardedGoals implements StepListener {
  readonly #regions: Regions
  readonly #walk: BackwardWalk
  #schema: SchemaView
  readonly #steps = new StepLists()
  /** The objects that have guards. */
  readonly #guarded = new Set<number>()
  /** The group of each blocked user. */
  readonly #groupOf = new Map<number, BlockedGroup>()
  /** The goals that are valid for blocked users: pairs (user, goal). */
  readonly #counting = new VisitedPairs()
  readonly #holders = new NumberList()
  #stepsLeft = 0
  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0

  constructor(regions: Regions, parts: { schema: SchemaView; walk: BackwardWalk }) {
    this.#regions = regions
    this.#schema = parts.schema
    this.#walk = parts.walk
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
  }

  step(from: number, to: number, isGuarded: boolean): void {
    this.#steps.step(from, to, isGuarded)
    if (isGuarded) this.#guarded.add(this.#walk.lineAt(to))
  }

  /**
   * Repeats the walk for all users, and determines for which users its goals are valid. Throws
   * `LIMIT_EXCEEDED` in the same cases as the walk.
   */
  look(instance: number, roleIndexes: Iterable<number>): void {
    this.#stepsLeft = BACKWARD_STEPS_MAX
    this.#steps.clear()
    this.forget()
    this.#counting.clear()
    this.#walk.run(instance, roleIndexes, 0, this)
    const groups = this.#gather()
    if (groups.length === 0) return
    this.#takeHeld()
    const reachability = new Reachability(this.#walk)
    for (const group of groups) this.#decide(group, reachability)
  }

  /** Discards the results of `look`. */
  forget(): void {
    this.#guarded.clear()
    this.#groupOf.clear()
  }

  /** Returns whether some goals might not be valid for this user. */
  isBlocked(user: number): boolean {
    return this.#groupOf.has(user)
  }

  counts(user: number, goal: number): boolean {
    return !this.isBlocked(user) || this.#counting.numberIfThere(user, goal) !== NONE
  }

  /** Groups the users who hold a role on a guarded object. */
  #gather(): BlockedGroup[] {
    const { graph } = this.#regions
    const objectsOf = new Map<number, number[]>()
    for (const line of this.#guarded) {
      for (const user of assigneesOf(this.#regions, line)) {
        this.#count()
        if (!holdsAny(graph, this.#schema, user, line)) continue
        const objects = objectsOf.get(user)
        if (objects) objects.push(line)
        else objectsOf.set(user, [line])
      }
    }
    const groups = new Map<string, BlockedGroup>()
    for (const [user, objects] of objectsOf) {
      const name = objects.join()
      let group = groups.get(name)
      if (!group) {
        group = { objects: new Set(objects), held: [] }
        groups.set(name, group)
      }
      this.#groupOf.set(user, group)
    }
    return [...groups.values()]
  }

  #takeHeld(): void {
    const { graph } = this.#regions
    for (const [scope, mask] of this.#walk.masks()) {
      this.#holders.length = 0
      this.prefetchSink ^= takeHolders(this.#regions, scope, mask, this.#holders)
      for (let i = 0; i < this.#holders.length; i++) {
        const user = this.#holders.items[i]!
        const group = this.#groupOf.get(user)
        if (!group) continue
        for (const roleIndex of roleIndexesIn(scope >>> L.BANK_SHIFT, maskAt(graph, user, scope) & mask)) {
          const goal = this.#walk.goalAt(scope & L.LINE_MASK, roleIndex)
          if (goal !== NONE) group.held.push(user, goal)
        }
      }
    }
  }

  #count(): void {
    this.#stepsLeft -= 1
    if (this.#stepsLeft < 0) throw tooMuchToWalk(BACKWARD_STEPS_MAX)
  }

  #decide({ objects, held }: BlockedGroup, reachability: Reachability): void {
    const steps = this.#steps
    reachability.begin()
    for (let i = 0; i < held.length; i += 2) reachability.reach(held[i + 1]!)
    for (let i = 0; i < reachability.length; i++) {
      const goal = reachability.goalAt(i)
      for (let step = steps.firstOf(goal); step !== NO_STEP; step = steps.after(step)) {
        this.#count()
        const to = steps.toOf(step)
        if (steps.isGuarded(step) && objects.has(this.#walk.lineAt(to))) continue
        reachability.link(goal, to)
      }
    }
    reachability.walkBackward()
    for (let i = 0; i < held.length; i += 2) {
      if (reachability.isSufficient(held[i + 1]!)) this.#counting.add(held[i]!, held[i + 1]!)
    }
  }
}

/**
 * Reachability among the goals of one walk: the goals that a group of users reaches, and those from which the
 * query can be reached. One object is used for all groups, one after another. Its marks contain the number of
 * the group.
 */
class Reachability {
  readonly #walk: BackwardWalk
  readonly #goals = new NumberList()
  /**
   * For each goal, the number of the last group that reached the goal, and the number of the last group for
   * which the goal is sufficient.
   */
  readonly #reachedBy: Int32Array
  readonly #sufficientFor: Int32Array
  /** The steps that the current group took. Each goal has a list of the steps that lead to it. */
  readonly #firstTaken: Int32Array
  readonly #nextTaken = new NumberList()
  readonly #takenFrom = new NumberList()
  #number = 0

  constructor(walk: BackwardWalk) {
    this.#walk = walk
    this.#reachedBy = new Int32Array(walk.length)
    this.#sufficientFor = new Int32Array(walk.length)
    this.#firstTaken = new Int32Array(walk.length)
  }

  get length(): number {
    return this.#goals.length
  }

  goalAt(index: number): number {
    return this.#goals.items[index]!
  }

  begin(): void {
    this.#goals.length = 0
    this.#nextTaken.length = 0
    this.#takenFrom.length = 0
    this.#number += 1
  }

  reach(goal: number): void {
    if (this.#reachedBy[goal] === this.#number) return
    this.#reachedBy[goal] = this.#number
    this.#firstTaken[goal] = NONE
    this.#goals.push(goal)
  }

  /** Adds a step that no guard blocks for the group. */
  link(from: number, to: number): void {
    this.reach(to)
    this.#nextTaken.push(this.#firstTaken[to]!)
    this.#firstTaken[to] = this.#takenFrom.length
    this.#takenFrom.push(from)
  }

  /** Walks backward along the recorded steps, from the goals of the query that were reached. */
  walkBackward(): void {
    const found = this.#goals
    const reached = found.length
    for (let i = 0; i < reached; i++)
      if (this.#walk.nextOf(found.items[i]!) === NONE) this.#suffice(found.items[i]!)
    for (let i = reached; i < found.length; i++) {
      for (
        let step = this.#firstTaken[found.items[i]!]!;
        step !== NONE;
        step = this.#nextTaken.items[step]!
      ) {
        this.#suffice(this.#takenFrom.items[step]!)
      }
    }
  }

  isSufficient(goal: number): boolean {
    return this.#sufficientFor[goal] === this.#number
  }

  #suffice(goal: number): void {
    if (this.#sufficientFor[goal] === this.#number) return
    this.#sufficientFor[goal] = this.#number
    this.#goals.push(goal)
  }
}
