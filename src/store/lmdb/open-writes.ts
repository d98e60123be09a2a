/**
 * The writes of this thread that lmdb is at. Its write thread waits for this one while one is open, and whoever exits the process
 * joins that thread, so that neither ever gets on: an exit comes behind the last write, or by a signal.
 */
import { AuthzError } from '#model/errors.ts'

class OpenWrites {
  #count = 0
  #isOver = false
  #onNone: () => void = () => {}

  /** Throws `STORE_CLOSED` when no more may begin. Each is followed by an `end`. */
  begin(): void {
    if (this.#isOver) throw new AuthzError('STORE_CLOSED', 'the process is ending')
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#onNone()
  }

  /** Lets no more begin; whether all have ended by then. */
  async allEnded(withinMs: number): Promise<boolean> {
    this.#isOver = true
    if (this.#count === 0) return true
    await new Promise<void>(resolve => {
      this.#onNone = resolve
      setTimeout(resolve, withinMs)
    })
    return this.#count === 0
  }
}

export const openWrites = new OpenWrites()
