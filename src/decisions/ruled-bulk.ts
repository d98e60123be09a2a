/**
 * Many questions of an environment with rules, decided some at a time. What conditions cost is for the environment to say, up to a
 * ceiling for each question; thousands of the dearest would keep a thread for minutes.
 */
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import type { Resumable } from '#model/resumable.ts'

/** A single question may cost tens of milliseconds. */
const PART_CHECKS_MIN = 1
/** The engine decides so many at one state. */
const PART_CHECKS_MAX = 128
/** Parts grow while they take less. */
const QUICK_PART_MS = 0.25

export class RuledBulk {
  #asked: readonly Query[] | PackedQueries
  readonly #verdicts: Uint8Array
  readonly #elapsedMs: () => number
  #next = 0
  #partChecks = PART_CHECKS_MIN

  constructor(asked: readonly Query[] | PackedQueries, elapsedMs: () => number) {
    this.#asked = asked
    this.#elapsedMs = elapsedMs
    this.#verdicts = new Uint8Array(countOf(asked))
  }

  /** Makes the questions independent of the bytes of their request. O(bytes). */
  detach(): void {
    if (this.#asked instanceof PackedQueries) this.#asked = this.#asked.detached()
  }

  /** 1 or 0 for each question, in order. Stops between parts. `engine` is asked for anew behind each stop. */
  *decide(engine: () => DecisionEngine): Resumable<Uint8Array> {
    const count = this.#verdicts.length
    while (this.#next < count) {
      if (this.#next > 0) yield
      const from = this.#elapsedMs()
      this.#decidePart(engine(), Math.min(this.#partChecks, count - this.#next))
      const isQuick = this.#elapsedMs() - from < QUICK_PART_MS
      this.#partChecks = isQuick
        ? Math.min(2 * this.#partChecks, PART_CHECKS_MAX)
        : Math.max(this.#partChecks >> 1, 1)
    }
    return this.#verdicts
  }

  #decidePart(engine: DecisionEngine, count: number): void {
    const from = this.#next
    const asked = this.#asked
    if (asked instanceof PackedQueries) {
      this.#verdicts.set(engine.evaluatePacked(asked.part(from, count)), from)
    } else {
      const decided = engine.evaluateAll(asked.slice(from, from + count))
      for (const [index, isAllowed] of decided.entries()) this.#verdicts[from + index] = Number(isAllowed)
    }
    this.#next = from + count
  }
}

function countOf(asked: readonly Query[] | PackedQueries): number {
  return asked instanceof PackedQueries ? asked.count : asked.length
}
