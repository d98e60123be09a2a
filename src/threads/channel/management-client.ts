/**
 * Sends management requests from an HTTP thread to the main thread, which is the writer, and returns the
 * responses. There is a limit for the requests of all threads together; an environment can use half of it. A
 * request above the limit is rejected immediately and not queued. If a client disconnects, its request is not
 * sent. If it was already sent, the main thread is notified.
 */
import type { RequestClient } from '#model/caller.ts'
import type { NodeQuestion } from '#decisions/questions/node-question.ts'
import { abandoned } from '#scheduling/admission.ts'
import type { LiveBytes, StreamHolder } from '#management/changes/live-bytes.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type { AskedBy, ManagementReply, ManagementRequest } from '#management/management-service.ts'
import { assert } from '#model/assert.ts'
import { AuthzError, errorFromData } from '#model/errors.ts'
import type { ChangeStreamReaders } from './change-stream-readers.ts'
import { ManagementAdmission, type RequestSlot } from './management-admission.ts'
import type { FromHttpThread, ManagementAnswerMessage, NamedRequest } from './messages.ts'
import type { Outbox } from './outbox.ts'
import { answerPull, isLastPiece, type PieceAnswer, RemotePieces } from './remote-pieces.ts'
import type { SharedCount } from './shared-count.ts'

interface PendingCall {
  readonly resolve: (reply: ManagementReply) => void
  readonly reject: (error: unknown) => void
}

const NO_BODY = { json: null, isCreated: false, warning: null }

interface Queue {
  /** Number of requests of all threads without a response. */
  readonly inFlight: SharedCount
  readonly max: number
  /** Number of threads. */
  readonly threads: number
}

export class ManagementClient {
  readonly #outbox: Outbox<FromHttpThread>
  readonly #queue: Queue
  readonly #streams: ChangeStreamReaders
  readonly #waiting = new Map<number, PendingCall>()
  /** Requests for node information that are in progress. */
  readonly #asked = new Map<string, Promise<string>>()
  /** Request bodies that are sent in chunks, by call. */
  readonly #bodies = new Map<number, PieceSource>()
  /** Responses that arrive in chunks, by call. */
  readonly #answers = new Map<number, RemotePieces>()
  readonly #admission: ManagementAdmission
  #lastCall = 0

  constructor(outbox: Outbox<FromHttpThread>, queue: Queue, streams: ChangeStreamReaders) {
    this.#outbox = outbox
    this.#streams = streams
    this.#queue = queue
    // Quota of this thread: the connections of one client are distributed over the threads.
    this.#admission = new ManagementAdmission(Math.max(1, Math.floor(queue.max / 2 / queue.threads)))
  }

  /**
   * Resolves when the change is visible to every decision of the process. Rejects with the `AuthzError` of
   * the operation, with `OVERLOADED` if too many requests are queued or the client disconnects, and with
   * `RATE_LIMITED` if too many of them belong to the same environment.
   */
  async execute(request: ManagementRequest, { caller, isRead, body }: AskedBy): Promise<ManagementReply> {
    // Imports, exports, backups and streams have their own limits and can take long.
    const isInPieces =
      request.about === 'content' || request.about === 'backup' || request.about === 'changes'
    const place = isInPieces
      ? null
      : this.#admission.enter({ share: shareOf(request), isRead, bytes: caller.bodyBytes })
    const { inFlight, max } = this.#queue
    try {
      if (inFlight.add(1) > max) {
        place?.leave()
        const message = `${max} management requests already wait (MAX_MANAGEMENT_QUEUE); try again shortly`
        throw new AuthzError('OVERLOADED', message, { limit: 'queue' })
      }
      if (place === null) return await this.#call(messageOf(request, body), body)
      return await this.#executeInPlace(request, place, caller)
    } finally {
      inFlight.add(-1)
    }
  }

  async #executeInPlace(
    request: ManagementRequest,
    place: RequestSlot,
    caller: RequestClient,
  ): Promise<ManagementReply> {
    let call = 0
    let isAnswered = false
    let isOver = false
    // The request keeps its slot until the response has arrived and the client is done. Otherwise a client
    // that disconnects and reconnects could start any number of requests in the main thread.
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
    const present = atPresent(request, caller)
    try {
      const reply = await this.#call(made => {
        call = made
        return messageOf(present)(made)
      })
      place.answered(reply.json?.length ?? 0)
      return reply
    } finally {
      isAnswered = true
      if (isOver) leave()
    }
  }

  /**
   * Requests node information. Concurrent callers with the same question share one call and its response.
   * Therefore, the main thread has at most one call per question, and these calls need no slots. Metrics are
   * always read again: a scrape must include everything that happened before it.
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
    assert(typeof json === 'string', 'the description of the node is text')
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

  receive(call: number, answer: ManagementAnswerMessage): void {
    const waiting = this.#waiting.get(call)
    assert(waiting, 'each response belongs to a pending call')
    this.#waiting.delete(call)
    this.#bodies.delete(call)
    if ('error' in answer) waiting.reject(errorFromData(answer.error))
    else if ('isStream' in answer) {
      const stream = (isAdmitted: () => boolean, holder: StreamHolder): LiveBytes =>
        this.#streams.answerTo(call, isAdmitted, holder)
      waiting.resolve({ ...NO_BODY, revision: answer.revision, stream })
    } else if ('inPieces' in answer) {
      waiting.resolve({ ...NO_BODY, revision: answer.revision, pieces: this.#piecesOf(call) })
    } else waiting.resolve(answer)
  }

  /** The main thread requests the next chunk of a body. */
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

/**
 * Returns the request with the present rights of its client, which can change while the request waits
 * (administration.md K4). Throws the `AuthzError` for a client that is no longer admitted.
 */
function atPresent(request: ManagementRequest, caller: RequestClient): ManagementRequest {
  if (request.about === 'sign-in') return request
  const principal = caller.identifyAgain()
  return principal === null ? request : { ...request, principal }
}

function messageOf(request: ManagementRequest, body?: PieceSource) {
  return (call: number): FromHttpThread => ({ kind: 'manage', call, request, hasBody: body !== undefined })
}

/**
 * Returns the environment that a request is about, or whose key it carries. A key with a wider scope can use
 * the quotas of several environments.
 */
function shareOf(request: ManagementRequest): string {
  if (request.about === 'sign-in') return request.about
  const { principal } = request
  if (principal.kind === 'environment') return principal.environmentId
  if (request.about === 'organization' || request.about === 'backup' || request.path === null) return ''
  return `${request.path.project}/${request.path.environment}`
}
