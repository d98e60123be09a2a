/** Long answers and bodies in pieces: asked for one after the other, so that who takes them sets the pace. */
import { AuthzError } from '#model/errors.ts'
import { FairTurns, SLICE_MS, type Turns } from './turns.ts'

export interface PieceSource {
  /** The next bytes; null at the end. One call at a time. Rejects when there will be no end. */
  next(): Promise<Uint8Array | null>
  /** Nobody asks for more. Safe to repeat, also at the end. */
  cancel(): void
}

/** Bytes in a piece, about. */
const PIECE_BYTES = 65_536
/** How long a reader may take before the next piece, unless told otherwise: what it reads is kept for it as long. */
const IDLE_MS_MAX_DEFAULT = 60_000
const encoder = new TextEncoder()

/** Lines of text as bytes, made when they are asked for. */
export class ContentStream implements PieceSource {
  readonly #lines: Iterator<string>
  readonly #release: () => void
  readonly #idle: NodeJS.Timeout
  readonly #turns: Turns
  #isOver = false

  /** `release` is called once, when no line will be asked for any more. */
  constructor(
    lines: Iterable<string>,
    release: () => void,
    options: {
      readonly idleMsMax?: number
      /** Whose share of the thread it takes; absent: its own. */
      readonly turns?: Turns
    } = {},
  ) {
    const { idleMsMax = IDLE_MS_MAX_DEFAULT, turns = new FairTurns().share() } = options
    this.#turns = turns
    this.#lines = lines[Symbol.iterator]()
    this.#release = release
    this.#idle = setTimeout(() => this.cancel(), idleMsMax)
    this.#idle.unref()
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#isOver) throw new AuthzError('STORE_CLOSED', 'nobody has read on for too long')
    this.#idle.refresh()
    const parts: string[] = []
    let bytes = 0
    let isLast = false
    while (bytes < PIECE_BYTES && !isLast) {
      await this.#turns.take(() => {
        if (this.#isOver) throw new AuthzError('STORE_CLOSED', 'the answer was given up on')
        const until = performance.now() + SLICE_MS
        do {
          const step = this.#step()
          isLast = step.done === true
          if (step.done) break
          parts.push(step.value)
          bytes += step.value.length
        } while (bytes < PIECE_BYTES && performance.now() < until)
      })
    }
    if (parts.length > 0) return encoder.encode(parts.join(''))
    this.cancel()
    return null
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#idle)
    this.#lines.return?.()
    this.#release()
  }

  #step(): IteratorResult<string> {
    try {
      return this.#lines.next()
    } catch (error) {
      this.cancel()
      throw error
    }
  }
}
