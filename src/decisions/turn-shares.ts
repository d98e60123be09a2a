/**
 * What single decisions of environments with rules have taken of a turn of this thread's loop. An environment says what its questions
 * cost, up to tens of milliseconds each, and may send as many at once as it has connections: others would wait for all of them.
 */

/** Of a turn each environment may take so much; what it asks beyond that is decided between other requests. */
const SHARE_MS = 1
/** What takes less is not counted: counting it would cost more than others wait for it. */
const COUNTED_MS_MIN = 0.02

export class TurnShares {
  readonly #takenMs = new Map<string, number>()

  hasLeft(environmentId: string): boolean {
    return this.#takenMs.size === 0 || (this.#takenMs.get(environmentId) ?? 0) < SHARE_MS
  }

  take(environmentId: string, ms: number): void {
    if (ms < COUNTED_MS_MIN) return
    // Behind all requests that have come by now.
    if (this.#takenMs.size === 0) setImmediate(() => this.#takenMs.clear())
    this.#takenMs.set(environmentId, (this.#takenMs.get(environmentId) ?? 0) + ms)
  }
}
