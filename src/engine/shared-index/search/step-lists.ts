/** Stores the steps of a walk between its goals, as a list per goal from which they lead away. */
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { StepListener } from './backward-walk.ts'

export const NO_STEP = -1

export class StepLists implements StepListener {
  /** The first step by goal, and the next one by step. */
  readonly #first = new NumberList()
  readonly #next = new NumberList()
  /** The target goal of each step, and whether it is guarded. */
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

  /** Returns the first step that leads away from a goal; `NO_STEP` if there is none. */
  firstOf(goal: number): number {
    return goal < this.#first.length ? this.#first.items[goal]! : NO_STEP
  }

  /** Returns the next step from the same goal. */
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
