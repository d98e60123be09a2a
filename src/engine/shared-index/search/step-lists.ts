/** Stores the steps of a walk between goals. Each goal has a list of the steps that start at this goal. */
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { StepListener } from './backward-walk.ts'

export const NO_STEP = -1

export class StepLists implements StepListener {
  /** For each goal, its first step; for each step, the next step of the same goal. */
  readonly #first = new NumberList()
  readonly #next = new NumberList()
  /** For each step, the goal to which it leads, and whether it is guarded. */
  readonly #to = new NumberList()
  readonly #isGuarded = new NumberList()

  clear(): void {
    for (const list of [this.#first, this.#next, this.#to, this.#isGuarded]) list.length = 0
  }

  step(from: number, to: number, isGuarded: boolean): void {
    while (this.#first.length <= from) this.#first.push(NO_STEP)
    this.#next.push(this.#first.items[from]!)
    this.#first.items[from] = this.#to.length
    this.#to.push(to)
    this.#isGuarded.push(isGuarded ? 1 : 0)
  }

  /** Returns the first step that starts at a goal, or `NO_STEP` if there is none. */
  firstOf(goal: number): number {
    return goal < this.#first.length ? this.#first.items[goal]! : NO_STEP
  }

  /** Returns the next step that starts at the same goal. */
  after(step: number): number {
    return this.#next.items[step]!
  }

  toOf(step: number): number {
    return this.#to.items[step]!
  }

  isGuarded(step: number): boolean {
    return this.#isGuarded.items[step] === 1
  }
}
