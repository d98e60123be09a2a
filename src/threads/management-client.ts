/**
 * Sends management requests from an HTTP thread to the thread that writes, and gives each its answer. There is a ceiling
 * for those of all threads together: what comes faster than it is done is refused at once and not piled up.
 */
import type { MessagePort } from 'node:worker_threads'
import { assert } from '#model/assert.ts'
import { AuthzError, errorFromData } from '#model/errors.ts'
import type { ManagementRequest } from '#services/management-service.ts'
import type { PieceSource } from '#services/content-stream.ts'
import type { FromHttpThread, ManagementAnswer } from './messages.ts'
import { answerPull, isLastPiece, type PieceAnswer, RemotePieces } from './remote-pieces.ts'
import type { SharedCount } from './shared-count.ts'

export interface ManagementReply {
  /** The answer's body as JSON; null: no body. */
  readonly json: string | null
  readonly isCreated: boolean
  /** `<epoch>.<sequence>`: the state the answer tells of, or several, separated by commas. */
  readonly revision: string
  /** The body, where it comes in pieces. */
  readonly pieces?: PieceSource
}

interface Waiting {
  readonly resolve: (reply: ManagementReply) => void
  readonly reject: (error: unknown) => void
}

const NO_BODY = { json: null, isCreated: false }

interface Queue {
  /** Requests of all threads that have not been answered yet. */
  readonly inFlight: SharedCount
  readonly max: number
}

export class ManagementClient {
  readonly #port: MessagePort
  readonly #queue: Queue
  readonly #waiting = new Map<number, Waiting>()
  /** What callers send in pieces, by call. */
  readonly #bodies = new Map<number, PieceSource>()
  /** What is answered in pieces, by call. */
  readonly #answers = new Map<number, RemotePieces>()
  #lastCall = 0

  constructor(port: MessagePort, queue: Queue) {
    this.#port = port
    this.#queue = queue
  }

  /**
   * Resolves when the change is visible to every decision of the process. Rejects with the operation's `AuthzError`, and
   * with `OVERLOADED` when too many are waiting already.
   */
  async execute(request: ManagementRequest, body: PieceSource | null = null): Promise<ManagementReply> {
    const { inFlight, max } = this.#queue
    try {
      if (inFlight.add(1) > max) {
        const message = `${max} management requests are waiting already (MAX_MANAGEMENT_QUEUE); try again shortly`
        throw new AuthzError('OVERLOADED', message, { limit: 'queue' })
      }
      return await this.#call(call => {
        if (body !== null) this.#bodies.set(call, body)
        return { kind: 'manage', call, request, hasBody: body !== null }
      })
    } finally {
      inFlight.add(-1)
    }
  }

  /** The metrics of the process, as text. */
  async scrape(requestId: string): Promise<string> {
    const { json } = await this.#call(call => ({ kind: 'scrape', call, requestId }))
    assert(json !== null, 'a scrape is answered with text')
    return json
  }

  #call(messageWith: (call: number) => FromHttpThread): Promise<ManagementReply> {
    this.#lastCall += 1
    const call = this.#lastCall
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject })
      this.#send(messageWith(call))
    })
  }

  receive(call: number, answer: ManagementAnswer): void {
    const waiting = this.#waiting.get(call)
    assert(waiting, 'an answer comes once, to a call that was made')
    this.#waiting.delete(call)
    this.#bodies.delete(call)
    if ('error' in answer) waiting.reject(errorFromData(answer.error))
    else if ('inPieces' in answer) {
      waiting.resolve({ ...NO_BODY, revision: answer.revision, pieces: this.#piecesOf(call) })
    } else waiting.resolve(answer)
  }

  /** The main thread wants the next piece of a body. */
  async pullBody(call: number): Promise<void> {
    this.#send({ kind: 'body-piece', call, piece: await answerPull(this.#bodies.get(call)) })
  }

  cancelBody(call: number): void {
    this.#bodies.get(call)?.cancel()
    this.#bodies.delete(call)
  }

  receivePiece(call: number, piece: PieceAnswer): void {
    this.#answers.get(call)?.receive(piece)
    if (isLastPiece(piece)) this.#answers.delete(call)
  }

  #piecesOf(call: number): PieceSource {
    const cancel = () => {
      this.#answers.delete(call)
      this.#send({ kind: 'cancel-answer', call })
    }
    const pieces = new RemotePieces(() => this.#send({ kind: 'pull-answer', call }), cancel)
    this.#answers.set(call, pieces)
    return pieces
  }

  #send(message: FromHttpThread): void {
    this.#port.postMessage(message)
  }
}
