/** Main-thread side of request bodies and responses that are sent in chunks to or from one HTTP thread. */
import type { PieceSource } from '#management/content/content-stream.ts'
import type { ErrorData } from '#model/errors.ts'
import type { FromHttpThread, ToHttpThread } from './messages.ts'
import { answerPull, isLastPiece, lostPiece, RemotePieces } from './remote-pieces.ts'

export type PieceMessage = FromHttpThread & { readonly kind: 'body-piece' | 'pull-answer' | 'cancel-answer' }

export function isAboutPieces(message: FromHttpThread): message is PieceMessage {
  const { kind } = message
  return kind === 'body-piece' || kind === 'pull-answer' || kind === 'cancel-answer'
}

/** A response in chunks, and the conversion of an error in its source to data for the thread. */
interface KeptAnswer {
  readonly source: PieceSource
  readonly dataOf: (error: unknown) => ErrorData
}

export class ThreadPieces {
  readonly #send: (message: ToHttpThread) => void
  readonly #bodies = new Map<number, RemotePieces>()
  readonly #answers = new Map<number, KeptAnswer>()

  constructor(send: (message: ToHttpThread) => void) {
    this.#send = send
  }

  /** Returns the body of a call, whose bytes the thread holds. */
  bodyOf(call: number): PieceSource {
    const body = new RemotePieces(
      () => this.#send({ kind: 'pull-body', call }),
      () => this.#send({ kind: 'cancel-body', call }),
    )
    this.#bodies.set(call, body)
    return body
  }

  forgetBody(call: number): void {
    this.#bodies.delete(call)
  }

  /** Keeps a response while the thread requests chunks of it. */
  keepAnswer(call: number, answer: KeptAnswer): void {
    this.#answers.set(call, answer)
  }

  receive(message: PieceMessage): void {
    const { call } = message
    if (message.kind === 'body-piece') this.#bodies.get(call)?.receive(message.piece)
    else if (message.kind === 'pull-answer') void this.#answer(call)
    else {
      this.#answers.get(call)?.source.cancel()
      this.#answers.delete(call)
    }
  }

  /** Called when the thread has ended. */
  end(): void {
    for (const body of this.#bodies.values()) body.receive(lostPiece())
    for (const { source } of this.#answers.values()) source.cancel()
    this.#bodies.clear()
    this.#answers.clear()
  }

  async #answer(call: number): Promise<void> {
    const answer = this.#answers.get(call)
    const piece = await answerPull(answer?.source, answer?.dataOf)
    if (isLastPiece(piece)) this.#answers.delete(call)
    this.#send({ kind: 'answer-piece', call, piece })
  }
}

export function isPieceSource(value: unknown): value is PieceSource {
  return typeof value === 'object' && value !== null && 'next' in value && 'cancel' in value
}
