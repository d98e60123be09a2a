/** Sends long responses at the speed at which their clients read them. */
import type { PieceSource } from '#management/content/content-stream.ts'
import { type Wire, writePiece } from './wire.ts'

/** Number of bytes that are passed to a socket at a time. */
const PIECE_BYTES = 65_536

/**
 * Writes a response with its length, at the speed at which the socket accepts it. `onDone` is called when the
 * kernel has received the last byte.
 */
export function streamWhole(wire: Wire, bytes: Uint8Array, onDone: () => void): void {
  const start = wire.getWriteOffset()
  const [, isDone] = wire.tryEnd(bytes, bytes.length)
  if (isDone) {
    onDone()
    return
  }
  wire.onWritable(offset => {
    const [isFlushed, isDoneNow] = wire.tryEnd(bytes.subarray(offset - start), bytes.length)
    if (isDoneNow) onDone()
    return isFlushed
  })
}

/** Splits a complete response into pieces. */
export function piecesOf(bytes: Uint8Array): PieceSource {
  let at = 0
  return {
    next: () => {
      const piece = at < bytes.length ? bytes.subarray(at, at + PIECE_BYTES) : null
      at += PIECE_BYTES
      return Promise.resolve(piece)
    },
    cancel: () => {
      at = bytes.length
    },
  }
}

/** A response in pieces, without a length. */
export class PouredAnswer {
  readonly #wire: Wire
  readonly #source: PieceSource
  #isStopped = false
  /**
   * Callback that continues `run`: called when the socket accepts more bytes, or when the response was
   * stopped.
   */
  #onTurn: (() => void) | null = null

  constructor(wire: Wire, source: PieceSource) {
    this.#wire = wire
    this.#source = source
  }

  /**
   * Writes all pieces. Resolves to true when everything except the end of the response was written, or to
   * false if `stop` was called before that. Rejects with the error if the source fails.
   */
  async run(): Promise<boolean> {
    const wire = this.#wire
    const source = this.#source
    try {
      for (let piece = await source.next(); !this.#isStopped; piece = await source.next()) {
        if (piece === null) return true
        if (writePiece(wire, piece)) {
          // Lets other requests run first. Otherwise a client that reads fast would receive the whole
          // response without interruption, and other requests would wait.
          await new Promise(resolve => setImmediate(resolve))
          continue
        }
        const turn = Promise.withResolvers<void>()
        this.#onTurn = turn.resolve
        wire.onWritable(() => {
          turn.resolve()
          return true
        })
        await turn.promise
      }
      return false
    } finally {
      source.cancel()
    }
  }

  /** Called when the request is over. The wire must not be used any more. */
  stop(): void {
    this.#isStopped = true
    if (this.#onTurn !== null) this.#onTurn()
  }
}
