/**
 * Writes the responses of one exchange, one request at a time. A reply, a promise of a reply or an error
 * becomes bytes on the wire.
 *
 * The wire is not used after the request is over (`isOver`). Responses are written corked: the socket is
 * already corked inside a callback of the HTTP library (`isCorked`); otherwise `cork` does it.
 */
import { type Answer, encodeReply, cancelPieces, prebuiltAnswer } from '#http/message/answer.ts'
import type { RequestId } from '#http/message/request-id.ts'
import type { ErrorFamily, Reply } from '#http/message/request-reply.ts'
import { limitOf } from '#http/routing/limit-of.ts'
import { problemAnswer } from '#http/routing/problem.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { isUnreportedFault } from '#model/errors.ts'
import { writeHead } from './answer-head.ts'
import type { ExchangeHost } from './exchange-host.ts'
import { LiveAnswer } from './live-answer.ts'
import { piecesOf, PouredAnswer, streamWhole } from './poured-answer.ts'
import type { Wire, WireHead } from './wire.ts'

/**
 * Responses of at least this many characters are sent as fast as the client reads them. Such a response is in
 * flight until the kernel has its last byte, so closing the server does not truncate it. Shorter responses
 * are left to the buffer of the library. The library rejects the next request of a connection while a
 * response is streamed, which would affect clients that pipeline bulk checks.
 */
const STREAMED_LENGTH_MIN = 1_024 * 1_024

/** The request to which the response belongs. */
export interface AnsweredRequest {
  readonly requestId: string
  /** Format of an error response. */
  readonly family: ErrorFamily
  /** Whether the response was sent, or the connection ended before. */
  readonly isOver: boolean
  /** Called when the head of a live response was sent. A live response has no fixed end. */
  goesOn(): void
  /** Called when the last byte of the response was sent, or no more bytes will be sent. Safe to repeat. */
  finish(): void
}

export class AnswerWriter {
  readonly #host: ExchangeHost
  readonly #request: AnsweredRequest
  readonly #head: WireHead
  readonly #id: RequestId

  // Set when a request begins.
  #wire!: Wire
  /** Status of the response; 0 until there is one. */
  status = 0

  /** The live response, or null. Never set in an exchange that is reused. */
  #live: LiveAnswer | null = null

  /** The response in pieces, or null. Never set in an exchange that is reused. */
  #poured: PouredAnswer | null = null

  constructor(host: ExchangeHost, request: AnsweredRequest, head: WireHead, id: RequestId) {
    this.#host = host
    this.#request = request
    this.#head = head
    this.#id = id
  }

  /** Starts with the next request. */
  begin(wire: Wire): void {
    this.#wire = wire
    this.status = 0
  }

  /** Called when the request is over. The wire must not be used any more. */
  stop(): void {
    if (this.#poured !== null) this.#poured.stop()
    if (this.#live !== null) this.#live.stop()
  }

  /** Writes the reply. Runs corked, inside a callback of the library, unless the reply is a promise. */
  answer(reply: Reply | Promise<Reply>): void {
    const answer = prebuiltAnswer(reply)
    if (answer !== undefined) this.#send(answer, true, this.#host.isDraining)
    else if (reply instanceof Promise) this.#await(reply)
    else this.reply(reply, true)
  }

  // Separate function for the same reason as `#writeCorked` and `#handleAt` of the dispatcher, where the
  // reason is stated.
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
   * Responds with an error. Reports it if it is an internal fault. `closes`: whether the connection ends with
   * the response.
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
      this.#writeBody(answer, closes)
    } catch (error) {
      this.#host.report(error, this.#request.requestId)
      cancelPieces(answer)
      this.status = 500
      this.#break()
    }
  }

  /**
   * Ends the connection if the response cannot be written completely, so that the client and the library
   * notice the failure.
   */
  #break(): void {
    if (!this.#request.isOver) this.#wire.close()
    this.#request.finish()
  }

  #writeBody(answer: Answer, closes: boolean): void {
    const { status, body, buffer, lent, pieces, live } = answer
    const { isHead } = this.#head
    // For a HEAD request, the library would send the body. With a length and no body, it waits for the body
    // forever. If it must also close the connection, it drops the response. So the response has no length, or
    // a length of 0 if the connection ends.
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
      // Keep lent memory until the last byte was sent.
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      if (this.#head.headers.comesInChunks) void this.#pour(piecesOf(bytes))
      else streamWhole(this.#wire, bytes, () => this.#request.finish())
    } else {
      this.#wire.end(isHead || body === null ? '' : (buffer ?? body), closes)
      lent?.giveBack()
      this.#request.finish()
    }
  }

  /**
   * Writes `Connection: close` if the client did not send it. The library then leaves the closing to the
   * client.
   */
  #askToClose(closes: boolean): void {
    if (closes && !this.#head.headers.endsConnection) this.#wire.writeHeader('Connection', 'close')
  }

  /**
   * Sends a response in pieces. If it cannot be completed, the connection ends, so that the client does not
   * accept a partial response as complete.
   */
  async #pour(source: PieceSource): Promise<void> {
    const poured = new PouredAnswer(this.#wire, source)
    this.#poured = poured
    try {
      if (!(await poured.run())) return
      // The header already requests the closing. If the library were asked to close here, it would write that
      // header into the body.
      this.#wire.cork(() => this.#wire.end('', false))
      this.#request.finish()
    } catch (error) {
      if (isUnreportedFault(error)) this.#host.report(error, this.#request.requestId)
      if (!this.#request.isOver) this.status = problemAnswer(error, this.#request.family).status
      this.#break()
    }
  }
}
