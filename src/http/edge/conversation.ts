/**
 * One request on the wire, from its head to the last byte of its answer: collects the body, hands both to the
 * dispatcher, writes whatever comes back. Decides nothing about requests; that is `dispatch.ts`.
 *
 * A conversation whose request was answered at once has another one afterwards (`reuse`): made anew for each, it and what
 * belongs to it were more than a third of what a decision left to the garbage collector.
 *
 * Invariants, each of which the HTTP library punishes with the end of the process or a response gone wrong:
 * - Nothing is ever thrown into the library: `begin` and every callback end in an answer.
 * - The wire is not touched once the answer ended or the request was aborted (`#isOver`).
 * - Answers are written corked. Inside a callback of the library the socket already is; elsewhere `cork` does it.
 * - Only a conversation that nobody knows any more has another request: no promise calls it, and no job asks it for names or
 *   whether somebody waits. The library may say later that an answer before was aborted: what counts is the present wire.
 */
import type { Caller } from '#decisions/decision-pool.ts'
import type { Admitted } from '#http/routing/dispatch.ts'
import type { ErrorFamily, Reply, RequestNames } from '#http/routing/exchange.ts'
import { limitOf } from '#http/routing/limit-of.ts'
import { problemAnswer } from '#http/routing/problem.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError, isUnreportedFault } from '#model/errors.ts'
import { type Principal, shareOf } from '#model/principal.ts'
import { writeHead } from './answer-head.ts'
import { type Answer, encodeReply, giveUp, standingAnswer } from './answer.ts'
import { bodyTooLarge, discardedBytesMax } from './body-ceilings.ts'
import { BodyPieces } from './body-pieces.ts'
import { BodyCollector, EMPTY_BODY, type OwnBody } from './body.ts'
import type { ConversationHost, Receiving } from './conversation-host.ts'
import { BYTES_HERE_MAX } from './large-bodies.ts'
import { LARGE_BODY_BYTES_MIN } from './large-body-turns.ts'
import { piecesOf, PouredAnswer, streamWhole } from './poured-answer.ts'
import { RequestId } from './request-id.ts'
import { beginSpan, endSpan, type RequestSpan } from './request-tracing.ts'
import { isWireGone, type Wire, WireHead } from './wire.ts'

/**
 * From this many characters on an answer goes out as fast as the caller reads it, and is in flight until its last byte went to
 * the kernel, so that closing the server does not cut it off. Shorter ones are left to the library's buffer: until an answer
 * is out it refuses the next request on that connection, and those who pipeline bulk decisions would feel that.
 */
const STREAMED_LENGTH_MIN = 1_024 * 1_024

export class Conversation implements Admitted, Caller, Receiving, RequestNames {
  readonly #host: ConversationHost<Conversation>
  readonly #head = new WireHead()
  readonly #id: RequestId
  /** Of this request, or of one before whose answer could not be sent. */
  readonly #aborted = (): void => {
    if (isWireGone(this.#wire)) this.#finish()
  }
  readonly #received = (piece: ArrayBuffer, isLast: boolean): void => this.#take(piece, isLast)

  // Set when a request begins.
  #wire!: Wire
  #span: RequestSpan | null = null
  /** When it began, as its watch has it. */
  #beganAt = 0
  /** That of the answer; 0 until there is one. */
  #status = 0
  /** That of the route; of the path, as long as no route is found. */
  #family: ErrorFamily = 'native'
  #match: RouteMatch | null = null
  principal: Principal | null = null
  #isAdmitted = false
  /** Why the request was not admitted; told when its body has passed, so that the connection can live on. */
  #refusal: unknown = null
  /** Nothing that still arrives changes the answer. */
  #isDecided = false
  #isOver = false
  /** More of the body is to come. */
  #isReceiving = false

  // Never set in a conversation that is used again.
  /** Of a body that does not come whole. */
  #collector: BodyCollector | null = null
  /** Of a body that the handler takes while it comes. */
  #pieces: BodyPieces | null = null
  #onOver: (() => void) | null = null
  /** The answer, where it goes out in pieces. */
  #poured: PouredAnswer | null = null

  constructor(host: ConversationHost<Conversation>) {
    this.#host = host
    this.#id = new RequestId(host.requestIds)
  }

  get requestId(): string {
    return this.#id.text
  }

  get traceparent(): string | null {
    return this.#span === null ? null : this.#span.traceparent
  }

  /** Who asks: whose going spares the handler its work, and what the request goes by. */
  get caller(): Caller & RequestNames {
    return this
  }

  /** Whether the answer has gone out, or the connection has ended before it could. */
  get isGone(): boolean {
    return this.#isOver
  }

  get bodyBytes(): number {
    return this.#collector === null ? Number(this.#head.headers.contentLength) || 0 : this.#collector.bytes
  }

  whenOver(listener: () => void): void {
    if (this.#isOver) listener()
    else this.#onOver = listener
  }

  /** The head of the next request, to be filled before it begins. `keepsOthers`: as of `HeaderList.clear`. */
  emptyHead(keepsOthers: boolean): WireHead {
    this.#head.headers.clear(keepsOthers)
    return this.#head
  }

  /**
   * Admits the request whose head was filled in and waits for its body, if it has one. `known` is the route, if whoever took
   * the request knows it already.
   */
  begin(wire: Wire, known: RouteMatch | null): void {
    this.#reset(wire, known)
    const { headers } = this.#head
    wire.onAborted(this.#aborted)
    this.#admit()
    if (this.#host.tracing !== null) this.#span = beginSpan(this.#host, this.#match, this.#head, this)
    const { framingFault } = headers
    if (framingFault !== null) {
      this.#refuseAndClose(new AuthzError('INVALID_INPUT', framingFault))
      return
    }
    if (!headers.announcesBody) {
      if (this.#host.bodyTurns.begin(0)) this.#answerAtOnce(EMPTY_BODY)
      else this.#host.bodyTurns.take(0, () => this.#answerLater(EMPTY_BODY))
      return
    }
    if (this.#isAdmitted && this.#match?.route.bodyInPieces) {
      this.#answerPieces(this.#match)
      return
    }
    if (headers.announcesMoreThan(discardedBytesMax(this.#host.bodyBytesMax))) {
      this.#refuseAndClose(this.#refusal ?? bodyTooLarge(this.#bodyBytesMax()))
      return
    }
    wire.onData(this.#received)
  }

  /** All that a request before may have set, but for its span: where requests are traced, each has one. */
  #reset(wire: Wire, known: RouteMatch | null): void {
    const host = this.#host
    this.#wire = wire
    this.#beganAt = host.watch === null ? 0 : host.watch.begin()
    this.#id.begin(this.#head.headers.requestId)
    this.#status = 0
    this.#match = known
    this.#family = known === null ? host.familyOf(this.#head.path) : known.route.family
    this.principal = null
    this.#isAdmitted = false
    this.#refusal = null
    this.#isDecided = false
    this.#isOver = false
  }

  /** The handler takes the body while it comes. A refusal waits until all of it has passed. */
  #answerPieces(match: RouteMatch): void {
    const pieces = new BodyPieces(this.#wire)
    this.#pieces = pieces
    this.#setReceiving(true)
    this.#wire.onData((piece, isLast) => {
      if (isLast) this.#setReceiving(false)
      if (!this.#isDecided) pieces.take(piece, isLast)
      if (!isLast && !pieces.isPaused) this.#awaitMore()
    })
    const answer = async () => this.#host.dispatcher.answer(match, this, this.#head, EMPTY_BODY, pieces)
    void answer().then(
      async reply => {
        await pieces.passed()
        this.#reply(reply, false)
      },
      async (error: unknown) => {
        this.#refusal = error
        await pieces.passed()
        this.#fail(error, false)
      },
    )
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#isDecided) return
    const isWhole = isLast && this.#collector === null && piece.byteLength <= this.#bodyBytesMax()
    this.#setReceiving(!isLast)
    // As nearly all come. One that has to wait, or is large, is copied: the piece is the library's.
    if (isWhole && piece.byteLength < LARGE_BODY_BYTES_MIN && this.#host.bodyTurns.begin(piece.byteLength))
      this.#answerAtOnce(this.#isBodyKept() ? new DataView(piece) : EMPTY_BODY)
    // Where a packet ends behind the head, the library hands on first that nothing of the body has come.
    else if (isLast || piece.byteLength > 0) this.#takePiece(piece, isLast)
  }

  /** Inside a callback of the library, about a request that nobody else has heard of yet. */
  #answerAtOnce(body: DataView): void {
    this.#answer(body)
    // Not while it is promised or on its way.
    if (this.#isOver) this.#host.reuse(this)
  }

  #takePiece(piece: ArrayBuffer, isLast: boolean): void {
    this.#collector ??= new BodyCollector({
      bytesMax: this.#bodyBytesMax(),
      announcedBytes: Number(this.#head.headers.contentLength) || 0,
      buffers: this.#host.bodies,
      segments: { stock: this.#host.segments, share: shareOf(this.principal), from: BYTES_HERE_MAX },
      isKept: this.#isBodyKept(),
    })
    const body = this.#collector
    try {
      body.take(piece)
    } catch (error) {
      // No room for what the ceiling allows. Nothing more is kept, and the caller hears of it when all of it has passed.
      body.discard()
      this.#refuse(error)
    }
    if (!body.isTooLarge) {
      if (isLast) this.#takeWhole(body.own())
      else this.#awaitMore()
      return
    }
    const refusal = this.#refusal ?? bodyTooLarge(this.#bodyBytesMax())
    if (body.bytes > discardedBytesMax(this.#host.bodyBytesMax)) {
      this.#refuseAndClose(refusal)
    } else if (isLast) {
      // All of it has passed: the connection can live on.
      this.#isDecided = true
      this.#fail(refusal, true)
    }
  }

  #takeWhole(body: OwnBody): void {
    this.#host.bodyTurns.take(body.bytes, () => {
      const isLarge = body.bytes >= LARGE_BODY_BYTES_MIN && this.#host.dispatcher.takesLarge(this.#match!)
      if (isLarge && !this.#isOver) this.#answerLarge(body)
      else {
        if (!this.#isOver) this.#answerLater(this.#viewOf(body))
        body.release()
      }
    })
  }

  #viewOf(body: OwnBody): DataView {
    try {
      return body.view
    } catch (error) {
      // No memory.
      this.#refuse(error)
      return EMPTY_BODY
    }
  }

  /** As `#answerLater`, where another thread may read the body. */
  #answerLarge(body: OwnBody): void {
    this.#isDecided = true
    this.#wire.cork(() => {
      try {
        this.#answered(this.#host.dispatcher.answerLarge(this.#match!, this, this.#head, body))
      } catch (error) {
        this.#fail(error, true)
      }
    })
  }

  /** Inside a callback of the library, or in a turn of the body's own, before which the caller may have left: then nobody is asked. */
  #answerLater(whole: DataView): void {
    if (this.#isOver) return
    try {
      // Time has passed since the head came, in which the key may have been revoked.
      if (this.#isAdmitted) this.#host.dispatcher.identifyAgain(this.#match!, this, this.#head)
    } catch (error) {
      this.#refuse(error)
    }
    this.#wire.cork(() => this.#answer(whole))
  }

  #refuse(error: unknown): void {
    this.#isAdmitted = false
    this.#refusal ??= error
  }

  /** The library would end a connection that brings less than 16 kB a second, and begins to count anew where it is resumed. */
  #awaitMore(): void {
    if (this.#isOver) return
    this.#wire.pause()
    this.#wire.resume()
  }

  /** Nobody reads the body of a request that is refused, or of a route without one. */
  #isBodyKept(): boolean {
    return this.#isAdmitted && this.#match?.route.body !== null
  }

  get receivedSteps(): number {
    return this.#pieces === null ? 0 : this.#pieces.receivedSteps
  }

  get isHeldUp(): boolean {
    return this.#pieces !== null && this.#pieces.isPaused
  }

  stopReceiving(): void {
    if (this.#isDecided) return
    const message = 'the body took too long to arrive'
    this.#refuseAndClose(
      this.#refusal ?? new AuthzError('REQUEST_TIMEOUT', message, { limit: 'receive-time' }),
    )
  }

  /** Most bodies come whole, and are never among those that are waited for. */
  #setReceiving(isReceiving: boolean): void {
    if (isReceiving === this.#isReceiving) return
    this.#isReceiving = isReceiving
    if (isReceiving) this.#host.receiving.add(this)
    else this.#host.receiving.delete(this)
  }

  #admit(): void {
    const { dispatcher } = this.#host
    try {
      this.#match ??= dispatcher.find(this.#head)
      this.#family = this.#match.route.family
      this.principal = dispatcher.admit(this.#match, this.#head)
      this.#isAdmitted = true
    } catch (error) {
      this.#refusal = error
    }
  }

  /** Runs inside a callback of the library, hence corked, until a handler makes a promise. */
  #answer(body: DataView): void {
    this.#isDecided = true
    if (this.#match === null || !this.#isAdmitted) {
      this.#fail(this.#refusal, true)
      return
    }
    try {
      this.#answered(this.#host.dispatcher.answer(this.#match, this, this.#head, body))
    } catch (error) {
      this.#fail(error, true)
    }
  }

  #answered(reply: Reply | Promise<Reply>): void {
    const answer = standingAnswer(reply)
    if (answer !== undefined) this.#send(answer, true, this.#host.isDraining)
    else if (reply instanceof Promise) this.#await(reply)
    else this.#reply(reply, true)
  }

  // A function of its own, as `#writeCorked` is, and the dispatcher's `#handleAt`, which says why.
  #await(reply: Promise<Reply>): void {
    void reply.then(
      value => this.#reply(value, false),
      error => this.#fail(error, false),
    )
  }

  /** No getter: those that are private are looked up anew at each use. */
  #bodyBytesMax(): number {
    return Math.min(this.#host.bodyBytesMax, this.#match?.route.bodyBytesMax ?? Number.POSITIVE_INFINITY)
  }

  /**
   * Refuses without waiting for the rest of the body. One turn late on purpose: answered at once, the library forgets to
   * close when more follows in the same packet, and would serve it as the next request.
   */
  #refuseAndClose(error: unknown): void {
    this.#isDecided = true
    setImmediate(() => this.#fail(error, false, true))
  }

  #reply(reply: Reply, isCorked: boolean): void {
    let answer
    try {
      answer = encodeReply(reply)
    } catch (error) {
      this.#fail(error, isCorked)
      return
    }
    this.#send(answer, isCorked, this.#host.isDraining)
  }

  #fail(error: unknown, isCorked: boolean, closes = this.#host.isDraining): void {
    if (isUnreportedFault(error)) this.#host.report(error, this.requestId)
    else this.#countLimit(error)
    this.#send(problemAnswer(error, this.#family), isCorked, closes)
  }

  #countLimit(error: unknown): void {
    const limit = this.#host.watch === null ? null : limitOf(error)
    if (limit !== null) this.#host.watch?.observer.limitReached(limit)
  }

  #send(answer: Answer, isCorked: boolean, closes: boolean): void {
    if (this.#isOver) giveUp(answer.pieces)
    else if (isCorked) this.#write(answer, closes)
    else this.#writeCorked(answer, closes)
  }

  #writeCorked(answer: Answer, closes: boolean): void {
    this.#wire.cork(() => this.#write(answer, closes))
  }

  #write(answer: Answer, closes: boolean): void {
    try {
      this.#status = answer.status
      writeHead(this.#wire, answer, this.#id, this.#head.headers.endsConnection)
      this.#writeBody(answer, closes)
    } catch (error) {
      this.#host.report(error, this.requestId)
      giveUp(answer.pieces)
      this.#status = 500
      this.#break()
    }
  }

  /** Of an answer that cannot be written, nothing is: the connection ends, whereby its caller and the library hear of it. */
  #break(): void {
    if (!this.#isOver) this.#wire.close()
    this.#finish()
  }

  #writeBody({ status, body, buffer, lent, pieces }: Answer, closes: boolean): void {
    const { isHead } = this.#head
    // To a HEAD the library would send the body. Told a length without the body, it waits for the body forever; told
    // to close as well, it drops the answer. So no length at all, and a length of 0 where the connection ends.
    if (status === 204 || status === 304 || (isHead && (pieces !== null || !closes))) {
      this.#askToClose(closes)
      this.#wire.endWithoutBody()
      giveUp(pieces)
      this.#finish()
      return
    }
    if (pieces !== null) {
      this.#askToClose(closes)
      void this.#pour(pieces.source)
      return
    }
    if (body !== null && body.length >= STREAMED_LENGTH_MIN && !isHead) {
      this.#askToClose(closes)
      // What is lent stays with it: it is read until its last byte is out.
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      if (this.#head.headers.comesInChunks) void this.#pour(piecesOf(bytes))
      else streamWhole(this.#wire, bytes, () => this.#finish())
    } else {
      this.#wire.end(isHead || body === null ? '' : (buffer ?? body), closes)
      lent?.giveBack()
      this.#finish()
    }
  }

  /** Where the library does not say so itself. It leaves the closing to the caller then. */
  #askToClose(closes: boolean): void {
    if (closes && !this.#head.headers.endsConnection) this.#wire.writeHeader('Connection', 'close')
  }

  /** Sends an answer in pieces. One that cannot be finished ends with the connection: half of it must not pass for all. */
  async #pour(source: PieceSource): Promise<void> {
    const poured = new PouredAnswer(this.#wire, source)
    this.#poured = poured
    try {
      if (!(await poured.run())) return
      // As for the closing, it was asked for: the library would write that into the answer.
      this.#wire.cork(() => this.#wire.end('', false))
      this.#finish()
    } catch (error) {
      if (isUnreportedFault(error)) this.#host.report(error, this.requestId)
      if (!this.#isOver) this.#status = problemAnswer(error, this.#family).status
      this.#break()
    }
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isDecided = true
    this.#pieces?.lose()
    this.#poured?.stop()
    this.#collector?.release()
    if (this.#onOver !== null) this.#onOver()
    this.#setReceiving(false)
    this.#host.watch?.end(this.#beganAt, this.#match?.route ?? null, this.#status, this)
    if (this.#span !== null) endSpan(this.#host, this.#span, this.#status, this)
    this.#host.leave()
  }
}
