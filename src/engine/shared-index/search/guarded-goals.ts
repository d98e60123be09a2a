/**
 * For whom the goals of a question count where guarded derivations lead from them: a guard lets only those through who hold
 * nothing directly on its object (contract C.2).
 *
 *     group:1 member ───────► folder:a viewer ──guard──► doc:d reader
 *     group:2 member ──guard──► folder:b viewer ────────┘
 *
 * Most users hold nothing on any such object: for them every goal counts, and nothing is computed. The others are held up; those
 * at the same objects are looked at together, by following the steps from what they hold as far as the guards let them, and
 * back from what they reach of the question.
 *
 * O(goals and steps, who holds something on a guarded object, and for each set of such objects what its users reach). A walk for
 * each user would be users × steps: seconds, where thousands of groups meet on one object.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { BACKWARD_STEPS_MAX, tooMuchToWalk } from '#engine/shared-index/schema/walk-steps.ts'
import type { BackwardWalk, StepListener } from './backward-walk.ts'
import { assigneesOf, holdsAny, maskAt, roleIndexesIn, takeHolders } from './holdings.ts'
import { NO_STEP, StepLists } from './step-lists.ts'

const NONE = -1

/** Users who are held up at the same objects, and what they hold of the goals: pairs (user, goal). */
interface BlockedGroup {
  readonly objects: ReadonlySet<number>
  readonly held: number[]
}

export class GuardedGoals implements StepListener {
  readonly #regions: Regions
  readonly #walk: BackwardWalk
  #schema: SchemaView
  readonly #steps = new StepLists()
  /** The lines at which guards stand. */
  readonly #guarded = new Set<number>()
  /** Who is held up, with whom. */
  readonly #groupOf = new Map<number, BlockedGroup>()
  /** (user, goal): counts, for those who are held up. */
  readonly #counting = new VisitedPairs()
  readonly #holders = new NumberList()
  #stepsLeft = 0
  /** Keeps the loads that only fetch a line from being optimised away; means nothing. */
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

  /** Runs the walk for anybody once more, and finds out for whom its goals count. Throws `LIMIT_EXCEEDED` as the walk does. */
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

  /** What was found is not asked for any more. */
  forget(): void {
    this.#guarded.clear()
    this.#groupOf.clear()
  }

  /** Whether not every goal counts for the user. */
  isBlocked(user: number): boolean {
    return this.#groupOf.has(user)
  }

  counts(user: number, goal: number): boolean {
    return !this.isBlocked(user) || this.#counting.numberIfThere(user, goal) !== NONE
  }

  /** Who holds something on a guarded object. */
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
 * What is reached from some goals of one walk, and from which of that the question is: for one company after the other, which
 * are told apart by their numbers.
 */
class Reachability {
  readonly #walk: BackwardWalk
  readonly #goals = new NumberList()
  /** By goal: the number of the company that reached it, and of the last for which it suffices. */
  readonly #reachedBy: Int32Array
  readonly #sufficientFor: Int32Array
  /** The steps that were taken, as lists by the goal to which they lead. */
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

  /** A step that may be taken. */
  link(from: number, to: number): void {
    this.reach(to)
    this.#nextTaken.push(this.#firstTaken[to]!)
    this.#firstTaken[to] = this.#takenFrom.length
    this.#takenFrom.push(from)
  }

  /** From the goals of the question itself back along the steps that were taken. */
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
