/**
 * Long responses and bodies as a sequence of pieces. The reader requests each piece and thereby controls the
 * speed.
 */
import { type TimeShare, unsharedTime } from '#scheduling/thread-scheduler.ts'
import { AuthzError } from '#model/errors.ts'

export interface PieceSource {
  /** The next bytes; null at the end. Calls must not overlap. Rejects if the stream fails. */
  next(): Promise<Uint8Array | null>
  /** Cancels the stream because no further pieces are needed. Idempotent, including at the end. */
  cancel(): void
}

/** Approximate size of a piece. */
const PIECE_BYTES = 65_536
/**
 * Default time that a reader may take before it requests the next piece. The source of the lines stays open
 * for that long.
 */
const IDLE_MS_MAX_DEFAULT = 60_000
const encoder = new TextEncoder()

/** A stream of lines of text, or of bytes, which are made on request. */
export class ContentStream implements PieceSource {
  readonly #lines: Iterator<string | Uint8Array>
  readonly #release: () => void
  readonly #idle: NodeJS.Timeout
  readonly #timeShare: TimeShare
  #isOver = false

  /** `release` is called once, when no further line will be requested. */
  constructor(
    lines: Iterable<string> | Iterable<Uint8Array>,
    release: () => void,
    options: {
      readonly idleMsMax?: number
      /** The share of the thread for making the lines; absent: a separate share. */
      readonly timeShare?: TimeShare
    } = {},
  ) {
    const { idleMsMax = IDLE_MS_MAX_DEFAULT, timeShare = unsharedTime() } = options
    this.#timeShare = timeShare
    this.#lines = lines[Symbol.iterator]()
    this.#release = release
    this.#idle = setTimeout(() => this.cancel(), idleMsMax)
    this.#idle.unref()
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#isOver) throw new AuthzError('STORE_CLOSED', 'the client stopped reading for too long')
    this.#idle.refresh()
    const parts: (string | Uint8Array)[] = []
    for (let isWhole = false; !isWhole;)
      isWhole = await this.#timeShare.take(until => this.#fill(parts, until))
    if (parts.length > 0) return bytesOf(parts)
    this.cancel()
    return null
  }

  /** Makes parts for one slice. Returns whether the piece is complete or the end is reached. */
  #fill(parts: (string | Uint8Array)[], until: number): boolean {
    if (this.#isOver) throw new AuthzError('STORE_CLOSED', 'the response was aborted')
    let bytes = parts.reduce((sum, { length }) => sum + length, 0)
    do {
      const step = this.#step()
      if (step.done) return true
      parts.push(step.value)
      bytes += step.value.length
      if (bytes >= PIECE_BYTES) return true
    } while (performance.now() < until)
    return false
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#idle)
    this.#lines.return?.()
    this.#release()
  }

  #step(): IteratorResult<string | Uint8Array> {
    try {
      return this.#lines.next()
    } catch (error) {
      this.cancel()
      throw error
    }
  }
}

/** Joins parts that are all texts, or all bytes. */
function bytesOf(parts: readonly (string | Uint8Array)[]): Uint8Array {
  if (typeof parts[0] === 'string') return encoder.encode(parts.join(''))
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts as readonly Uint8Array[])
}
