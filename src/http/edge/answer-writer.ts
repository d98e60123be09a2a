/**
 * Writes the answers of one conversation, one request after the other: a reply, a promise of one, or an error becomes bytes on the wire.
 *
 * The wire is not touched once the request is over (`isOver`). Answers are written corked: inside a callback of the HTTP library
 * the socket already is (`isCorked`); elsewhere `cork` does it.
 */
import { type Answer, encodeReply, cancelPieces, standingAnswer } from '#http/message/answer.ts'
import type { RequestId } from '#http/message/request-id.ts'
import type { ErrorFamily, Reply } from '#http/message/request-reply.ts'
import { limitOf } from '#http/routing/limit-of.ts'
import { problemAnswer } from '#http/routing/problem.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { isUnreportedFault } from '#model/errors.ts'
import { writeHead } from './answer-head.ts'
import type { ConversationHost } from './conversation-host.ts'
import { LiveAnswer } from './live-answer.ts'
import { piecesOf, PouredAnswer, streamWhole } from './poured-answer.ts'
import type { Wire, WireHead } from './wire.ts'

/**
 * An answer of at least this many characters goes out as fast as the caller reads it. It is in flight until its last byte
 * is with the kernel, so that closing the server does not cut it off. Shorter answers are left to the library's buffer: the
 * library refuses the next request of a connection while an answer is streamed, and callers who pipeline bulk decisions
 * would notice.
 */
const STREAMED_LENGTH_MIN = 1_024 * 1_024

/** The request that is answered. */
export interface AnsweredRequest {
  readonly requestId: string
  /** The form of an error answer. */
  readonly family: ErrorFamily
  /** Whether the answer has gone out, or the connection has ended before it could. */
  readonly isOver: boolean
  /** The head of an answer is out that goes on until somebody ends it. */
  goesOn(): void
  /** The last byte of the answer is out, or no more will be. Safe to repeat. */
  finish(): void
}

export class AnswerWriter {
  readonly #host: ConversationHost
  readonly #request: AnsweredRequest
  readonly #head: WireHead
  readonly #id: RequestId

  // Set when a request begins.
  #wire!: Wire
  /** The status of the answer; 0 until there is one. */
  status = 0

  /** The answer that goes on; null: there is none. Never set in a conversation that is used again. */
  #live: LiveAnswer | null = null

  /** The answer that goes out in pieces; null: there is none. Never set in a conversation that is used again. */
  #poured: PouredAnswer | null = null

  constructor(host: ConversationHost, request: AnsweredRequest, head: WireHead, id: RequestId) {
    this.#host = host
    this.#request = request
    this.#head = head
    this.#id = id
  }

  /** The next request begins. */
  begin(wire: Wire): void {
    this.#wire = wire
    this.status = 0
  }

  /** The request is over: the wire must not be touched any more. */
  stop(): void {
    if (this.#poured !== null) this.#poured.stop()
    if (this.#live !== null) this.#live.stop()
  }

  /** Writes the reply. Runs inside a callback of the library, hence corked, unless the reply is only promised. */
  answer(reply: Reply | Promise<Reply>): void {
    const answer = standingAnswer(reply)
    if (answer !== undefined) this.#send(answer, true, this.#host.isDraining)
    else if (reply instanceof Promise) this.#await(reply)
    else this.reply(reply, true)
  }

  // A function of its own, like `#writeCorked` and the dispatcher's `#handleAt`, which says why.
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

  /** Answers with what went wrong; a defect of ours is reported. `closes`: whether the connection ends with the answer. */
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

  /** An answer that cannot be written is not sent at all: the connection ends, which tells the caller and the library. */
  #break(): void {
    if (!this.#request.isOver) this.#wire.close()
    this.#request.finish()
  }

  #writeBody(answer: Answer, closes: boolean): void {
    const { status, body, buffer, lent, pieces, live } = answer
    const { isHead } = this.#head
    // To a HEAD the library would send the body. With a length and no body it waits for the body for ever; told to close as
    // well, it drops the answer. So the answer has no length, or a length of 0 where the connection ends.
    if (status === 204 || status === 304 || (isHead && (pieces !== null || live !== null || !closes))) {
      this.#askToClose(closes)
      this.#wire.endWithoutBody()
      cancelPieces(answer)
      this.#request.finish()
      return
    }
    if (live !== null) {
      this.#askToClose(closes)
      this.#live = new LiveAnswer(this.#wire, this.#host.liveTurns, () => this.#request.finish())
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
      // Lent memory stays with the answer: it is read until the last byte is out.
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      if (this.#head.headers.comesInChunks) void this.#pour(piecesOf(bytes))
      else streamWhole(this.#wire, bytes, () => this.#request.finish())
    } else {
      this.#wire.end(isHead || body === null ? '' : (buffer ?? body), closes)
      lent?.giveBack()
      this.#request.finish()
    }
  }

  /** Writes `Connection: close` where the library does not. The library then leaves the closing to the caller. */
  #askToClose(closes: boolean): void {
    if (closes && !this.#head.headers.endsConnection) this.#wire.writeHeader('Connection', 'close')
  }

  /** Sends an answer in pieces. If it cannot be finished, the connection ends: half an answer must not pass for all of it. */
  async #pour(source: PieceSource): Promise<void> {
    const poured = new PouredAnswer(this.#wire, source)
    this.#poured = poured
    try {
      if (!(await poured.run())) return
      // The header asks for the closing already. Asked by its own call, the library would write that header into the
      // answer.
      this.#wire.cork(() => this.#wire.end('', false))
      this.#request.finish()
    } catch (error) {
      if (isUnreportedFault(error)) this.#host.report(error, this.#request.requestId)
      if (!this.#request.isOver) this.status = problemAnswer(error, this.#request.family).status
      this.#break()
    }
  }
}
