/** Long answers, which go out as fast as their callers read them. */
import type { PieceSource } from '#management/content/content-stream.ts'
import { type Wire, writePiece } from './wire.ts'

/** Bytes given to a socket at a time. */
const PIECE_BYTES = 65_536

/**
 * Writes an answer with its length, as fast as the socket takes it. `onDone` is called when the last byte is with the
 * kernel.
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

/** A whole answer as a source of pieces. */
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

/** An answer in pieces, without a length. */
export class PouredAnswer {
  readonly #wire: Wire
  readonly #source: PieceSource
  #isStopped = false
  /** Called when the socket takes more, or nothing more. */
  #onTurn: (() => void) | null = null

  constructor(wire: Wire, source: PieceSource) {
    this.#wire = wire
    this.#source = source
  }

  /**
   * Resolves to true when everything but the end has been written; to false when it was stopped before. Rejects with what
   * the source throws.
   */
  async run(): Promise<boolean> {
    const wire = this.#wire
    const source = this.#source
    try {
      for (let piece = await source.next(); !this.#isStopped; piece = await source.next()) {
        if (piece === null) return true
        if (writePiece(wire, piece)) {
          // Other requests go first: otherwise a caller who reads fast would get the whole answer in one go.
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

  /** The wire must not be touched any more. */
  stop(): void {
    this.#isStopped = true
    if (this.#onTurn !== null) this.#onTurn()
  }
}
