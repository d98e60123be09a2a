/**
 * Finds the goals of a query. A goal is an (instance, role) such that a user who holds the role there has the
 * requested permission. The walk goes backward from the instance along in-edges, nearest goals first. Guards
 * depend on the user, so there are two modes. One finds the goals of all users: it ignores guards, but
 * records them. The other finds only the goals that are valid for one user.
 *
 * A walk can be divided into stages (`begin`, `advance`), so that other work can run in between.
 *
 * Listings and explanations use it, because they name individual roles. Checks use states and closures
 * instead. It reads without the lock, so a result is valid only after validation.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { isWithin, PAIRS } from '#engine/shared-index/memory/slab.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { BACKWARD_STEPS_MAX, type StagedWalk, tooMuchToWalk } from '#engine/shared-index/schema/walk-steps.ts'
import { holdsAny, holdsRole } from './holdings.ts'

const NONE = -1

export interface WalkOptions {
  /** Receives every step of the walk. */
  readonly listener?: StepListener | null
  /** If true, the walk ends at the first goal that its user holds. This is one of the nearest such goals. */
  readonly endsAtHeld?: boolean
}

export interface StepListener {
  /**
   * Called for every step that leads from a goal (`from`) to the goal from which it was found (`to`). Also
   * called if the goal was already found before.
   */
  step(from: number, to: number, isGuarded: boolean, edgeClass: number): void
  /**
   * Called for each derivation that a guard disables. Without the guard, a user who holds the role on
   * `subject` would also have the goal `to`.
   */
  blocked?(subject: number, roleIndex: number, to: number, edgeClass: number): void
}

export class BackwardWalk implements StagedWalk {
  readonly #regions: Regions
  #schema: SchemaView
  readonly #seen = new VisitedPairs()
  readonly #lines = new NumberList()
  readonly #roleIndexes = new NumberList()
  /**
   * For each goal, how it was found: the goal from which it was found (-1 for a goal of the query itself),
   * the edge class, and whether the derivation is guarded.
   */
  readonly #next = new NumberList()
  readonly #edgeClasses = new NumberList()
  readonly #isGuarded = new NumberList()
  #user = 0
  #listener: StepListener | null = null
  #endsAtHeld = false
  /**
   * Position of the walk: the goal whose in-edges are being read, the number of its in-edges that were read,
   * and the steps left in this stage.
   */
  #goalNow = 0
  #edgesSeen = 0
  #stepsLeft = 0
  /** Cache of the last lookup in the schema, because consecutive edges often have the same class. */
  #lastClass = -1
  #lastRoleIndex = -1
  #lastDerivations: readonly number[] = []
  /** The goal of its user at which the walk ended; -1 if it did not end at such a goal. */
  heldGoal = NONE
  /** Whether a guarded derivation was found. If so, some goals might not be valid for some users. */
  hasGuards = false

  constructor(regions: Regions, schema: SchemaView) {
    this.#regions = regions
    this.#schema = schema
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
    this.#lastClass = -1
  }

  get stepsLeft(): number {
    return this.#stepsLeft
  }

  get length(): number {
    return this.#lines.length
  }

  lineAt(goal: number): number {
    return this.#lines.items[goal]!
  }

  roleIndexAt(goal: number): number {
    return this.#roleIndexes.items[goal]!
  }

  /**
   * Returns the goal from which this goal was found. It is one step nearer to the query. Returns -1 for a
   * goal of the query itself.
   */
  nextOf(goal: number): number {
    return this.#next.items[goal]!
  }

  /**
   * Returns the number of derivations between the goal and the query, or `max` + 1 if there are more than
   * `max`. O(result).
   */
  distanceOf(goal: number, max: number): number {
    let distance = 0
    for (let at = this.nextOf(goal); at >= 0 && distance <= max; at = this.nextOf(at)) distance += 1
    return distance
  }

  /** Returns the edge class over which this goal leads to the next (`nextOf`). */
  edgeClassOf(goal: number): number {
    return this.#edgeClasses.items[goal]!
  }

  isGuarded(goal: number): boolean {
    return this.#isGuarded.items[goal] === 1
  }

  /** Returns the goal with this line and role, or -1 if it was not found. Expected O(1). */
  goalAt(line: number, roleIndex: number): number {
    return this.#seen.numberIfThere(line, roleIndex)
  }

  /**
   * Returns the goals as a mask of roles per scope, so that each assignee is examined once for all roles.
   * O(goals).
   */
  masks(): ReadonlyMap<number, number> {
    const masks = new Map<number, number>()
    for (let goal = 0; goal < this.length; goal++) {
      const roleIndex = this.roleIndexAt(goal)
      const scope = this.lineAt(goal) | ((roleIndex >>> 5) << L.BANK_SHIFT)
      masks.set(scope, (masks.get(scope) ?? 0) | (1 << (roleIndex & 31)))
    }
    return masks
  }

  /**
   * Runs the whole walk. With `user` 0, guards are ignored. O(goals and their in-edges). Throws
   * `LIMIT_EXCEEDED` if the walk takes too many steps.
   */
  run(
    instance: number,
    roleIndexes: Iterable<number>,
    user: number,
    listener: StepListener | null = null,
  ): void {
    this.begin(instance, roleIndexes, user, { listener })
    if (!this.advance(BACKWARD_STEPS_MAX)) throw tooMuchToWalk(BACKWARD_STEPS_MAX)
  }

  /** Begins a walk; `advance` continues it. */
  begin(
    instance: number,
    roleIndexes: Iterable<number>,
    user: number,
    { listener = null, endsAtHeld = false }: WalkOptions,
  ): void {
    this.#user = user
    this.#listener = listener
    this.#endsAtHeld = endsAtHeld
    this.#goalNow = 0
    this.#edgesSeen = 0
    this.heldGoal = NONE
    this.hasGuards = false
    this.#seen.clear()
    for (const list of [this.#lines, this.#roleIndexes, this.#next, this.#edgeClasses, this.#isGuarded]) {
      list.length = 0
    }
    for (const roleIndex of roleIndexes) this.#goal(instance, roleIndex, NONE, 0, 0)
  }

  /**
   * Advances by about `steps` steps: goals, edges and derivations. Returns true when the walk is complete.
   * All reads must be on the state on which the walk began.
   */
  advance(steps: number): boolean {
    this.#stepsLeft = steps
    while (this.heldGoal === NONE && this.#goalNow < this.#lines.length) {
      // Checks the budget here, because `#expand` does not check it for a goal with a single edge.
      if (this.#stepsLeft <= 0 || !this.#expand(this.#goalNow)) return false
      this.#goalNow += 1
      this.#edgesSeen = 0
    }
    return true
  }

  /** Follows the in-edges of a goal. Returns false if the steps of this stage are used up. */
  #expand(goal: number): boolean {
    const { graph } = this.#regions
    this.#stepsLeft -= 1
    const instance = this.lineAt(goal) << L.LINE_WORDS_LOG2
    const ptr = graph[instance + L.I_IN]!
    const meta = graph[instance + L.I_IN + 1]!
    if (!meta) return true
    if ((meta & L.LOG2_MASK) === L.INLINE) {
      this.#derive(goal, ptr, meta >>> L.COUNT_SHIFT)
      return true
    }
    if (!isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) return true
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr + 2 * this.#edgesSeen; at < end && this.heldGoal === NONE; at += 2) {
      if (this.#stepsLeft <= 0) {
        this.#edgesSeen = (at - ptr) >> 1
        return false
      }
      this.#stepsLeft -= 1
      if (graph[at] !== 0) this.#derive(goal, graph[at]!, graph[at + 1]!)
    }
    return true
  }

  #derive(goal: number, container: number, edgeClass: number): void {
    const derivations = this.#derivations(edgeClass, this.roleIndexAt(goal))
    for (let d = 0; d < derivations.length; d += 2) {
      const isGuarded = derivations[d + 1]!
      this.#stepsLeft -= 1
      let isBlocked = false
      if (isGuarded === 1) {
        this.hasGuards = true
        isBlocked =
          this.#user !== 0 && holdsAny(this.#regions.graph, this.#schema, this.#user, this.lineAt(goal))
        if (isBlocked && !this.#listener?.blocked) continue
      }
      const subject = this.#regions.graph[(container << L.LINE_WORDS_LOG2) + L.C_INSTANCE]!
      if ((this.#regions.graph[subject << L.LINE_WORDS_LOG2]! & L.FLAG_DEAD) !== 0) continue
      if (isBlocked) {
        this.#listener!.blocked!(subject, derivations[d]!, goal, edgeClass)
        continue
      }
      const from = this.#goal(subject, derivations[d]!, goal, edgeClass, isGuarded)
      this.#listener?.step(from, goal, isGuarded === 1, edgeClass)
    }
  }

  #derivations(edgeClass: number, roleIndex: number): readonly number[] {
    if (edgeClass !== this.#lastClass || roleIndex !== this.#lastRoleIndex) {
      this.#lastClass = edgeClass
      this.#lastRoleIndex = roleIndex
      this.#lastDerivations = this.#schema.derivationsTo(edgeClass, roleIndex)
    }
    return this.#lastDerivations
  }

  /** Returns the number of the goal. If the goal is new, adds it. */
  #goal(line: number, roleIndex: number, next: number, edgeClass: number, isGuarded: number): number {
    const goal = this.#seen.numberOf(line, roleIndex)
    if (goal < this.#lines.length) return goal
    this.#lines.push(line)
    this.#roleIndexes.push(roleIndex)
    this.#next.push(next)
    this.#edgeClasses.push(edgeClass)
    this.#isGuarded.push(isGuarded)
    if (this.#endsAtHeld && this.heldGoal === NONE) {
      if (holdsRole(this.#regions.graph, this.#user, line, roleIndex)) this.heldGoal = goal
    }
    return goal
  }
}
