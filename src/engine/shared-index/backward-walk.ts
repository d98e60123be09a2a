/**
 * The goals of a question: every (instance, role) such that holding it there gives what is asked for, found backward
 * from the instance along in-edges, nearest first. Guards depend on the user, so there are two readings: all goals
 * for anybody (guards ignored, and whether any was met), or those that count for one user.
 *
 * For listings and explanations, which name roles singly; checks use states and closures instead. It reads without
 * the lock: a result counts only after validation.
 */
import { holdsAny } from './holdings.ts'
import * as L from './layout.ts'
import { NumberList } from './number-list.ts'
import type { Regions } from './regions.ts'
import type { SchemaView } from './schema-view.ts'
import { isWithin, PAIRS } from './slab.ts'
import { VisitedPairs } from './visited-pairs.ts'

/** Hears of every step from a goal to one that it was found from, each once, whether or not the goal had been found before. */
export interface StepListener {
  step(from: number, to: number, isGuarded: boolean): void
}

export class BackwardWalk {
  readonly #regions: Regions
  #schema: SchemaView
  readonly #seen = new VisitedPairs()
  readonly #lines = new NumberList()
  readonly #places = new NumberList()
  /** Per goal, the one it was found from (-1 for a goal of the question itself), by edge class and derivation. */
  readonly #next = new NumberList()
  readonly #edgeClasses = new NumberList()
  readonly #isGuarded = new NumberList()
  #user = 0
  #listener: StepListener | null = null
  /** Whether a guarded derivation was met, so that some goals may not count for some users. */
  hasGuards = false

  constructor(regions: Regions, schema: SchemaView) {
    this.#regions = regions
    this.#schema = schema
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
  }

  get length(): number {
    return this.#lines.length
  }

  lineAt(goal: number): number {
    return this.#lines.items[goal]!
  }

  placeAt(goal: number): number {
    return this.#places.items[goal]!
  }

  /** The goal nearer to the question that this one was found from; -1 for a goal of the question itself. */
  nextOf(goal: number): number {
    return this.#next.items[goal]!
  }

  /** The edge class that leads from this goal to the next. */
  edgeClassOf(goal: number): number {
    return this.#edgeClasses.items[goal]!
  }

  isGuarded(goal: number): boolean {
    return this.#isGuarded.items[goal] === 1
  }

  /** The goal with this line and place, -1 if there is none. Expected O(1). */
  goalAt(line: number, place: number): number {
    return this.#seen.numberIfThere(line, place)
  }

  /** The goals by scope: whoever is assigned there is looked at once for all roles. O(goals). */
  masks(): ReadonlyMap<number, number> {
    const masks = new Map<number, number>()
    for (let goal = 0; goal < this.length; goal++) {
      const place = this.placeAt(goal)
      const scope = this.lineAt(goal) | ((place >>> 5) << L.BANK_SHIFT)
      masks.set(scope, (masks.get(scope) ?? 0) | (1 << (place & 31)))
    }
    return masks
  }

  /** `user` 0: guards ignored. O(goals and their in-edges). */
  run(instance: number, places: Iterable<number>, user: number, listener: StepListener | null = null): void {
    this.#user = user
    this.#listener = listener
    this.hasGuards = false
    this.#seen.clear()
    for (const list of [this.#lines, this.#places, this.#next, this.#edgeClasses, this.#isGuarded]) {
      list.length = 0
    }
    for (const place of places) this.#goal(instance, place, -1, 0, 0)
    for (let goal = 0; goal < this.#lines.length; goal++) this.#expand(goal)
  }

  #expand(goal: number): void {
    const { graph } = this.#regions
    const instance = this.lineAt(goal) << L.LINE_WORDS_LOG2
    const ptr = graph[instance + L.I_IN]!
    const meta = graph[instance + L.I_IN + 1]!
    if (!meta) return
    if ((meta & L.LOG2_MASK) === L.INLINE) return this.#derive(goal, ptr, meta >>> L.COUNT_SHIFT)
    if (!isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) return
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end; at += 2) {
      if (graph[at] !== 0) this.#derive(goal, graph[at]!, graph[at + 1]!)
    }
  }

  #derive(goal: number, container: number, edgeClass: number): void {
    const { derivations, derivationsFrom } = this.#schema
    const end = derivationsFrom[edgeClass + 1]!
    for (let d = derivationsFrom[edgeClass]!; d < end; d += 3) {
      if (derivations[d + 1] !== this.placeAt(goal)) continue
      const isGuarded = derivations[d + 2]!
      if (isGuarded === 1) {
        this.hasGuards = true
        if (this.#user !== 0 && holdsAny(this.#regions.graph, this.#schema, this.#user, this.lineAt(goal))) {
          continue
        }
      }
      const subject = this.#regions.graph[(container << L.LINE_WORDS_LOG2) + L.C_INSTANCE]!
      if ((this.#regions.graph[subject << L.LINE_WORDS_LOG2]! & L.FLAG_DEAD) !== 0) continue
      const from = this.#goal(subject, derivations[d]!, goal, edgeClass, isGuarded)
      this.#listener?.step(from, goal, isGuarded === 1)
    }
  }

  /** The goal, found now if it was not before. */
  #goal(line: number, place: number, next: number, edgeClass: number, isGuarded: number): number {
    const goal = this.#seen.numberOf(line, place)
    if (goal < this.#lines.length) return goal
    this.#lines.push(line)
    this.#places.push(place)
    this.#next.push(next)
    this.#edgeClasses.push(edgeClass)
    this.#isGuarded.push(isGuarded)
    return goal
  }
}
