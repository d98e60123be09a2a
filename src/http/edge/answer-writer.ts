/**
 * Writes the responses of one exchange, one request at a time. The input is a reply, a promise of a reply or
 * an error.
 *
 * The writer does not use the wire after the request is over (`isOver`). It writes each response corked,
 * which means that the socket buffers all parts and sends them together. Inside a callback of the HTTP
 * library, the socket is already corked (`isCorked`). Otherwise the writer calls `cork`.
 */
import { type Answer, encodeReply, cancelPieces, prebuiltAnswer } from '#http/message/answer.ts'
import type { RequestId } from '#http/message/request-id.ts'
import type { ErrorFamily, LentJson, Reply } from '#http/message/request-reply.ts'
import { limitOf } from '#http/routing/limit-of.ts'
import { problemAnswer } from '#http/routing/problem.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { SessionAccess } from '#http/routing/session-access.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { isUnreportedFault } from '#model/errors.ts'
import { writeHead } from './answer-head.ts'
import type { ExchangeHost } from './exchange-host.ts'
import { LiveAnswer } from './live-answer.ts'
import { piecesOf, PouredAnswer, streamWhole } from './poured-answer.ts'
import type { Wire, WireHead } from './wire.ts'

/**
 * Minimum length, in characters, of responses that are sent as fast as the client reads them. The request of
 * such a response stays in flight until the kernel has the last byte, so closing the server does not truncate
 * the response. The HTTP library buffers shorter responses. They are not streamed, because the library
 * rejects the next request of a connection while a response is streamed. Clients that pipeline bulk checks
 * would receive such rejections.
 */
const STREAMED_LENGTH_MIN = 1_024 * 1_024

/** The request to which the response belongs. */
export interface AnsweredRequest {
  readonly requestId: string
  /** Format of an error response to this request. */
  readonly family: ErrorFamily
  /** The route of the request. Null if no route matches. */
  readonly match: RouteMatch | null
  /** Whether the response was sent, or the connection ended before. */
  readonly isOver: boolean
  /** Called when the head of a live response was sent. A live response continues until one side ends it. */
  goesOn(): void
  /**
   * Called when the last byte of the response was sent, or when no more bytes will be sent. Repeated calls
   * have no effect.
   */
  finish(): void
}

export class AnswerWriter {
  readonly #host: ExchangeHost
  readonly #request: AnsweredRequest
  readonly #head: WireHead
  readonly #id: RequestId

  // Wire of the current request. `begin` sets it.
  #wire!: Wire
  /** Status of the response; 0 until the response has a status. */
  status = 0

  /** The live response, or null. An exchange with a live response is not reused. */
  #live: LiveAnswer | null = null

  /** The response that is sent in pieces, or null. An exchange with such a response is not reused. */
  #poured: PouredAnswer | null = null

  constructor(host: ExchangeHost, request: AnsweredRequest, head: WireHead, id: RequestId) {
    this.#host = host
    this.#request = request
    this.#head = head
    this.#id = id
  }

  /** Prepares the writer for the next request of the exchange. */
  begin(wire: Wire): void {
    this.#wire = wire
    this.status = 0
  }

  /** Called when the request is over. The wire must not be used any more. */
  stop(): void {
    if (this.#poured !== null) this.#poured.stop()
    if (this.#live !== null) this.#live.stop()
  }

  /**
   * Writes the reply. If the reply is not a promise, it is written immediately, inside a callback of the HTTP
   * library, where the socket is corked.
   */
  answer(reply: Reply | Promise<Reply>): void {
    const answer = prebuiltAnswer(reply)
    if (answer !== undefined) this.#send(answer, true, this.#host.isDraining)
    else if (reply instanceof Promise) this.#await(reply)
    else this.reply(reply, true)
  }

  // A separate function, because it contains closures. A function with closures allocates its captured
  // variables at each call (see `#handleAt` in `dispatch.ts`). `#writeCorked` is separate for the same
  // reason.
  #await(reply: Promise<Reply>): void {
    void reply.then(
      value => this.reply(value, false),
      error => this.fail(error, false),
    )
  }

  reply(reply: Reply, isCorked: boolean): void {
    let answer
    try {
      answer = encodeReply(reply)
    } catch (error) {
      this.fail(error, isCorked)
      return
    }
    this.#send(answer, isCorked, this.#host.isDraining)
  }

  /**
   * Responds with an error, and reports the error if it is an internal fault. `closes`: whether to close the
   * connection after the response.
   */
  fail(error: unknown, isCorked: boolean, closes = this.#host.isDraining): void {
    if (isUnreportedFault(error)) this.#host.report(error, this.#request.requestId)
    else this.#countLimit(error)
    this.#send(problemAnswer(error, this.#request.family), isCorked, closes)
  }

  #countLimit(error: unknown): void {
    const limit = this.#host.watch === null ? null : limitOf(error)
    if (limit !== null) this.#host.watch?.observer.limitReached(limit)
  }

  #send(answer: Answer, isCorked: boolean, closes: boolean): void {
    if (this.#request.isOver) cancelPieces(answer)
    else if (isCorked) this.#write(answer, closes)
    else this.#writeCorked(answer, closes)
  }

  #writeCorked(answer: Answer, closes: boolean): void {
    this.#wire.cork(() => this.#write(answer, closes))
  }

  #write(answer: Answer, closes: boolean): void {
    try {
      this.status = answer.status
      writeHead(this.#wire, answer, this.#id, this.#head.headers.endsConnection)
      if (this.#host.crossOrigin !== null) this.#host.crossOrigin.write(this.#wire, this.#head.headers)
      if (this.#host.sessions !== null && this.#head.headers.authorization === undefined)
        this.#writeSessionHeaders(this.#host.sessions, answer.status)
      this.#writeBody(answer, closes)
    } catch (error) {
      this.#host.report(error, this.#request.requestId)
      cancelPieces(answer)
      this.status = 500
      this.#break()
    }
  }

  /**
   * Writes the headers of a response to a request with the cookie of a session (administration.md C5). No
   * cache stores the response. If the cookie opens no session, the browser removes it.
   */
  #writeSessionHeaders(sessions: SessionAccess, status: number): void {
    const { headers } = this.#head
    const { match } = this.#request
    if (match === null || !sessions.isSent(match.route.access, headers)) return
    this.#wire.writeHeader('Cache-Control', 'no-store')
    if (status === 401 && sessions.isStale(headers))
      this.#wire.writeHeader('Set-Cookie', sessions.cookies.withoutSession())
  }

  /**
   * Closes the connection if the response cannot be written completely. The client and the HTTP library then
   * notice the failure.
   */
  #break(): void {
    if (!this.#request.isOver) this.#wire.close()
    this.#request.finish()
  }

  #writeBody(answer: Answer, closes: boolean): void {
    const { status, body, buffer, lent, pieces, live } = answer
    const { isHead } = this.#head
    // The HTTP library cannot respond to a HEAD request with the length of the omitted body. If it gets the
    // body, it sends the body. If it gets only the length, it waits for the body forever. If it gets no
    // length but must close the connection, it drops the response. Therefore the response has no length, or a
    // length of 0 if the connection is closed.
    if (status === 204 || status === 304 || (isHead && (pieces !== null || live !== null || !closes))) {
      this.#askToClose(closes)
      this.#wire.endWithoutBody()
      cancelPieces(answer)
      this.#request.finish()
      return
    }
    if (live !== null) {
      this.#askToClose(closes)
      this.#live = new LiveAnswer(this.#wire, this.#host.streamScheduler, () => this.#request.finish())
      this.#request.goesOn()
      live.begin(this.#live)
      return
    }
    if (pieces !== null) {
      this.#askToClose(closes)
      void this.#pour(pieces.source)
      return
    }
    if (body !== null && body.length >= STREAMED_LENGTH_MIN && !isHead) {
      this.#askToClose(closes)
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      if (this.#head.headers.comesInChunks) void this.#pour(piecesOf(bytes))
      else this.#streamWhole(bytes, lent)
    } else {
      this.#wire.end(isHead || body === null ? '' : (buffer ?? body), closes)
      lent?.giveBack()
      this.#request.finish()
    }
  }

  /**
   * Sends a response with its length. `lent` is given back after the last byte was sent. If the request ends
   * before that, the garbage collector frees the memory.
   */
  #streamWhole(bytes: Uint8Array, lent: LentJson | null): void {
    streamWhole(this.#wire, bytes, () => {
      lent?.giveBack()
      this.#request.finish()
    })
  }

  /**
   * Writes `Connection: close` unless the client sent this header itself. For a streamed response, the HTTP
   * library does not close the connection. The client closes it.
   */
  #askToClose(closes: boolean): void {
    if (closes && !this.#head.headers.endsConnection) this.#wire.writeHeader('Connection', 'close')
  }

  /**
   * Sends a response in pieces. If the response cannot be completed, the connection is closed, so that the
   * client does not mistake a partial response for a complete one.
   */
  async #pour(source: PieceSource): Promise<void> {
    const poured = new PouredAnswer(this.#wire, source)
    this.#poured = poured
    try {
      if (!(await poured.run())) return
      // The head already contains `Connection: close` if the connection must be closed. If `end` were called
      // with `true`, the HTTP library would write this header again, into the body.
      this.#wire.cork(() => this.#wire.end('', false))
      this.#request.finish()
    } catch (error) {
      if (isUnreportedFault(error)) this.#host.report(error, this.#request.requestId)
      if (!this.#request.isOver) this.status = problemAnswer(error, this.#request.family).status
      this.#break()
    }
  }
}
