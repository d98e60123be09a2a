/**
 * Sends management requests from an HTTP thread to the main thread, which writes, and hands each its answer. There is a
 * ceiling for the requests of all threads together, and half of it for those of one environment: a request above it is
 * refused at once and not queued. A call whose caller has left is not sent; if it was sent already, the main thread is
 * told.
 */
import type { Caller } from '#decisions/decision-pool.ts'
import type { NodeQuestion } from '#decisions/node-question.ts'
import { abandoned } from '#management/commands/resumable.ts'
import type { LiveBytes } from '#management/changes/live-bytes.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type { AskedBy, ManagementRequest } from '#management/management-service.ts'
import { assert } from '#model/assert.ts'
import { AuthzError, errorFromData } from '#model/errors.ts'
import type { LiveStreams } from './live-streams.ts'
import { ManagementAdmission, type Place } from './management-admission.ts'
import type { FromHttpThread, ManagementAnswer, NamedRequest } from './messages.ts'
import type { Outbox } from './outbox.ts'
import { answerPull, isLastPiece, type PieceAnswer, RemotePieces } from './remote-pieces.ts'
import type { SharedCount } from './shared-count.ts'

export interface ManagementReply {
  /** The answer's body as JSON; null: no body. */
  readonly json: string | Uint8Array | null
  readonly isCreated: boolean
  /** What the caller should know of what was done. */
  readonly warning: string | null
  /** `<epoch>.<sequence>`: the state that the answer is from, or several, separated by commas. */
  readonly revision: string
  /** The body of an answer that comes in pieces. */
  readonly pieces?: PieceSource
  /** The body of an answer that goes on; `isAdmitted` says whether the key of its reader is still good. */
  readonly stream?: (isAdmitted: () => boolean) => LiveBytes
}

interface Waiting {
  readonly resolve: (reply: ManagementReply) => void
  readonly reject: (error: unknown) => void
}

const NO_BODY = { json: null, isCreated: false, warning: null }

interface Queue {
  /** Unanswered requests of all threads. */
  readonly inFlight: SharedCount
  readonly max: number
  /** How many threads there are. */
  readonly threads: number
}

export class ManagementClient {
  readonly #outbox: Outbox<FromHttpThread>
  readonly #queue: Queue
  readonly #streams: LiveStreams
  readonly #waiting = new Map<number, Waiting>()
  /** Questions about the node that are being answered. */
  readonly #asked = new Map<string, Promise<string>>()
  /** Bodies of callers that are sent in pieces, by call. */
  readonly #bodies = new Map<number, PieceSource>()
  /** Answers that come in pieces, by call. */
  readonly #answers = new Map<number, RemotePieces>()
  readonly #admission: ManagementAdmission
  #lastCall = 0

  constructor(outbox: Outbox<FromHttpThread>, queue: Queue, streams: LiveStreams) {
    this.#outbox = outbox
    this.#streams = streams
    this.#queue = queue
    // This thread's part of the ceiling: the connections of one caller are spread over the threads.
    this.#admission = new ManagementAdmission(Math.max(1, Math.floor(queue.max / 2 / queue.threads)))
  }

  /**
   * Resolves when the change is visible to every decision of the process. Rejects with the operation's `AuthzError`, with
   * `OVERLOADED` when too many requests wait already or the caller leaves, and with `RATE_LIMITED` when too many of them
   * are of the same environment.
   */
  async execute(request: ManagementRequest, { caller, isRead, body }: AskedBy): Promise<ManagementReply> {
    // Imports, exports, backups and streams have ceilings of their own, and may take their time.
    const isInPieces =
      request.about === 'content' || request.about === 'backup' || request.about === 'changes'
    const place = isInPieces
      ? null
      : this.#admission.enter({ share: shareOf(request), isRead, bytes: caller.bodyBytes })
    const { inFlight, max } = this.#queue
    try {
      if (inFlight.add(1) > max) {
        place?.leave()
        const message = `${max} management requests are waiting already (MAX_MANAGEMENT_QUEUE); try again shortly`
        throw new AuthzError('OVERLOADED', message, { limit: 'queue' })
      }
      if (place === null) return await this.#call(messageOf(request, body), body)
      return await this.#executeInPlace(request, place, caller)
    } finally {
      inFlight.add(-1)
    }
  }

  async #executeInPlace(request: ManagementRequest, place: Place, caller: Caller): Promise<ManagementReply> {
    let call = 0
    let isAnswered = false
    let isOver = false
    // The request keeps its place until both the answer has come and the caller is done. Otherwise a caller that leaves and
    // comes again could have the main thread begin any number of requests.
    const leave = (): void => {
      if (isOver && (isAnswered || call === 0)) place.leave()
      else if (isOver) this.#send({ kind: 'abandon', call })
    }
    caller.whenOver(() => {
      isOver = true
      leave()
    })
    await place.begun
    if (isOver) throw abandoned()
    try {
      const reply = await this.#call(made => {
        call = made
        return messageOf(request)(made)
      })
      place.answered(reply.json?.length ?? 0)
      return reply
    } finally {
      isAnswered = true
      if (isOver) leave()
    }
  }

  /**
   * Who asks what is being asked already gets the same answer. However many callers there are, the main thread has one call of each
   * question, so they need no place. Metrics are read anew for each: a scrape has all that came before it.
   */
  ask(question: NodeQuestion, by: NamedRequest): Promise<string> {
    if (question.about === 'metrics') return this.#askNow(question, by)
    const name = question.about === 'nodes' ? `nodes ${question.environmentId}` : question.about
    const asked = this.#asked.get(name)
    if (asked) return asked
    const answer = this.#askNow(question, by).finally(() => this.#asked.delete(name))
    this.#asked.set(name, answer)
    return answer
  }

  async #askNow(question: NodeQuestion, by: NamedRequest): Promise<string> {
    const { json } = await this.#call(call => ({ kind: 'ask-node', call, question, by }))
    assert(typeof json === 'string', 'what is told of the node is text')
    return json
  }

  #call(messageWith: (call: number) => FromHttpThread, body?: PieceSource): Promise<ManagementReply> {
    this.#lastCall += 1
    const call = this.#lastCall
    if (body !== undefined) this.#bodies.set(call, body)
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
    else if ('isStream' in answer) {
      const stream = (isAdmitted: () => boolean): LiveBytes => this.#streams.answerTo(call, isAdmitted)
      waiting.resolve({ ...NO_BODY, revision: answer.revision, stream })
    } else if ('inPieces' in answer) {
      waiting.resolve({ ...NO_BODY, revision: answer.revision, pieces: this.#piecesOf(call) })
    } else waiting.resolve(answer)
  }

  /** The main thread asks for the next piece of a body. */
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
    this.#outbox.send(message)
  }
}

function messageOf(request: ManagementRequest, body?: PieceSource) {
  return (call: number): FromHttpThread => ({ kind: 'manage', call, request, hasBody: body !== undefined })
}

/**
 * The environment that a request is about, or whose key it carries. Other keys may reach several environments, and are
 * trusted with that.
 */
function shareOf(request: ManagementRequest): string {
  const { principal } = request
  if (principal.kind === 'environment') return principal.environmentId
  if (request.about === 'organization' || request.about === 'backup' || request.path === null) return ''
  return `${request.path.project}/${request.path.environment}`
}
