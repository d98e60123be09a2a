/** Pieces of bytes that another thread has: asked for in a message, one at a time. */
import { AuthzError } from '#model/errors.ts'
import type { PieceSource } from '#services/content-stream.ts'

/** What a piece was answered to be: bytes, the end (null), or nothing any more. */
export type PieceAnswer = { readonly bytes: Uint8Array | null } | { readonly isLost: true }

export class RemotePieces implements PieceSource {
  readonly #pull: () => void
  readonly #onCancel: () => void
  #waiting: { resolve(piece: Uint8Array | null): void; reject(error: unknown): void } | null = null
  #isOver = false
  #isLost = false

  /** `pull` asks the other thread for the next piece, which it answers with `receive`; `onCancel` tells it to forget the rest. */
  constructor(pull: () => void, onCancel: () => void) {
    this.#pull = pull
    this.#onCancel = onCancel
  }

  next(): Promise<Uint8Array | null> {
    if (this.#isLost) return Promise.reject(lost())
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
    this.#isLost = 'isLost' in answer
    if (this.#isLost) this.#isOver = true
    if ('isLost' in answer) {
      waiting?.reject(lost())
      return
    }
    if (answer.bytes === null) this.#isOver = true
    waiting?.resolve(answer.bytes)
  }
}

function lost(): AuthzError {
  return new AuthzError('MALFORMED_REQUEST', 'the other side ended before all pieces had come')
}

/** Answers one request for a piece of a source. */
export async function answerPull(source: PieceSource | undefined): Promise<PieceAnswer> {
  try {
    return source ? { bytes: await source.next() } : { isLost: true }
  } catch {
    return { isLost: true }
  }
}
