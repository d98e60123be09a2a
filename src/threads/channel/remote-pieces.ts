/** Reads bytes that another thread holds, in chunks. Each chunk is requested by a message, one at a time. */
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError, type ErrorData, errorFromData, errorToData } from '#model/errors.ts'

/** Response to a request for a chunk: bytes, null at the end, or the error that ended the source. */
export type PieceAnswer = { readonly bytes: Uint8Array | null } | { readonly error: ErrorData }

export class RemotePieces implements PieceSource {
  readonly #pull: () => void
  readonly #onCancel: () => void
  #waiting: { resolve(piece: Uint8Array | null): void; reject(error: unknown): void } | null = null
  #isOver = false
  /** The error that ended the source prematurely. */
  #failure: AuthzError | null = null

  /**
   * `pull` requests the next chunk from the other thread; the chunk arrives through `receive`. `onCancel`
   * notifies the other thread that the rest is not needed.
   */
  constructor(pull: () => void, onCancel: () => void) {
    this.#pull = pull
    this.#onCancel = onCancel
  }

  next(): Promise<Uint8Array | null> {
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#isOver) return Promise.resolve(null)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#pull()
    })
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onCancel()
  }

  receive(answer: PieceAnswer): void {
    const waiting = this.#waiting
    this.#waiting = null
    if ('error' in answer) {
      this.#isOver = true
      this.#failure = errorFromData(answer.error)
      waiting?.reject(this.#failure)
      return
    }
    if (answer.bytes === null) this.#isOver = true
    waiting?.resolve(answer.bytes)
  }
}

/**
 * Response to a request for a chunk of a source that no longer exists, for example because its thread ended.
 */
export function lostPiece(): PieceAnswer {
  const message = 'the other side ended before all pieces arrived'
  return { error: errorToData(new AuthzError('MALFORMED_REQUEST', message)) }
}

/**
 * Handles one request for a chunk of a source. `dataOf` converts an error to the data for the other thread.
 */
export async function answerPull(
  source: PieceSource | undefined,
  dataOf: (error: unknown) => ErrorData = errorToData,
): Promise<PieceAnswer> {
  if (!source) return lostPiece()
  try {
    return { bytes: await source.next() }
  } catch (error) {
    return { error: dataOf(error) }
  }
}

/** Whether the response is the last one of its source. */
export function isLastPiece(answer: PieceAnswer): boolean {
  return 'error' in answer || answer.bytes === null
}
