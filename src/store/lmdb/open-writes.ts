/**
 * Counts the writes of this thread that lmdb is making. While a write is open, lmdb's write thread waits for
 * this thread. A process that exits joins lmdb's write thread, so both would wait forever. Therefore the
 * process must exit only after its last write has ended. Otherwise, it must end by a signal.
 */
import { AuthzError } from '#model/errors.ts'

class OpenWrites {
  #count = 0
  #isOver = false
  #onNone: () => void = () => {}

  /**
   * Notes that a write begins. Throws `STORE_CLOSED` if no more writes are allowed. Each `begin` must be
   * followed by an `end`.
   */
  begin(): void {
    if (this.#isOver) throw new AuthzError('STORE_CLOSED', 'the process is ending')
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) this.#onNone()
  }

  /** Allows no more writes. Resolves to true if all of them ended in time. */
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
