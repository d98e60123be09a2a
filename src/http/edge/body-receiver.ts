/**
 * Receives the bodies of one exchange, one request at a time, and passes each body to its request. A body
 * that arrives in one piece is passed directly. Other bodies are collected. If the route requests it, the
 * body is streamed (`beginPieces`).
 *
 * If the request is rejected or the route has no body, the rest of the body is received but not kept. The
 * client can then read the error response and reuse the connection. If a body is too long or does not arrive
 * in time, the connection is closed.
 */
import { EMPTY_BODY } from '#http/message/byte-views.ts'
import { bodyTooLarge, discardedBytesMax } from '#http/routing/body-limits-by-route.ts'
import { BYTES_HERE_MAX, type WholeBody } from '#http/routing/large-bodies.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import { AuthzError } from '#model/errors.ts'
import { type Principal, shareOf } from '#model/principal.ts'
import { BodyCollector } from './body-collector.ts'
import { BodyPieces } from './body-pieces.ts'
import type { ExchangeHost, Receiving } from './exchange-host.ts'
import { LARGE_BODY_BYTES_MIN } from './arrival-scheduler.ts'
import type { Wire, WireHead } from './wire.ts'

/** The request whose body is received. */
export interface ReceivingRequest {
  /** The route of the request. Null if no route matches. */
  readonly match: RouteMatch | null
  readonly principal: Principal | null
  readonly isAdmitted: boolean
  /** Whether the response is already determined. The rest of the body can no longer change it. */
  readonly isDecided: boolean
  readonly isOver: boolean
  /**
   * Called inside a callback of the HTTP library, at a time when no promise and no job refers to the request.
   * The memory of the body belongs to the library.
   */
  answerAtOnce(body: DataView): void
  /**
   * Called in a callback of the HTTP library or in a later iteration of the event loop, possibly long after
   * the head arrived. The body is valid until this function returns.
   */
  answerLater(body: DataView): void
  /**
   * Like `answerLater`, for a large body that another thread can read. The receiver of this call releases the
   * body.
   */
  answerLarge(body: WholeBody): void
  /**
   * Records the error with which the request is rejected, without responding yet. If an earlier error was
   * recorded, that error is kept.
   */
  refuse(error: unknown): void
  /**
   * Responds with the recorded error, or with `error` if no error was recorded. Called inside a callback of
   * the HTTP library after the whole body has arrived.
   */
  answerRefusal(error: unknown): void
  /** Responds with the error without waiting for the rest of the body, and closes the connection. */
  refuseAndClose(error: unknown): void
}

export class BodyReceiver implements Receiving {
  readonly #host: ExchangeHost
  readonly #request: ReceivingRequest
  readonly #head: WireHead
  readonly #received = (piece: ArrayBuffer, isLast: boolean): void => this.#take(piece, isLast)

  // Wire of the current request. `begin` and `beginPieces` set it.
  #wire!: Wire
  /** Whether the rest of the body is still expected. */
  #isReceiving = false

  // The following two fields stay null in an exchange that is reused.
  /** Collects a body that does not arrive in one piece. */
  #collector: BodyCollector | null = null
  /** The body that the handler reads as a stream, or null. */
  #pieces: BodyPieces | null = null

  constructor(host: ExchangeHost, request: ReceivingRequest, head: WireHead) {
    this.#host = host
    this.#request = request
    this.#head = head
  }

  /** Starts to receive a body that is passed as a whole. */
  begin(wire: Wire): void {
    this.#wire = wire
    wire.onData(this.#received)
  }

  /** Starts to receive a body that the handler reads as a stream. */
  beginPieces(wire: Wire): BodyPieces {
    this.#wire = wire
    const pieces = new BodyPieces(wire)
    this.#pieces = pieces
    this.#setReceiving(true)
    wire.onData((piece, isLast) => {
      if (isLast) this.#setReceiving(false)
      if (!this.#request.isDecided) pieces.take(piece, isLast)
      if (!isLast && !pieces.isPaused) this.#awaitMore()
    })
    return pieces
  }

  /** Called when the request is over. Drops the body that was kept. Repeated calls have no effect. */
  end(): void {
    this.#pieces?.lose()
    this.#collector?.release()
    this.#setReceiving(false)
  }

  /** Number of received bytes, or the announced length if the body arrives in one piece. */
  get bytes(): number {
    return this.#collector === null ? Number(this.#head.headers.contentLength) || 0 : this.#collector.bytes
  }

  get receivedSteps(): number {
    return this.#pieces === null ? 0 : this.#pieces.receivedSteps
  }

  get isPaused(): boolean {
    return this.#pieces !== null && this.#pieces.isPaused
  }

  stopReceiving(): void {
    if (this.#request.isDecided) return
    const message = 'the body took too long to arrive'
    this.#request.refuseAndClose(new AuthzError('REQUEST_TIMEOUT', message, { limit: 'receive-time' }))
  }

  /**
   * Maximum length of the body in bytes. This is a method and not a getter because V8 looks up private
   * getters at each use.
   */
  bytesMax(): number {
    return Math.min(
      this.#host.bodyBytesMax,
      this.#request.match?.route.bodyBytesMax ?? Number.POSITIVE_INFINITY,
    )
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#request.isDecided) return
    const isWhole = isLast && this.#collector === null && piece.byteLength <= this.bytesMax()
    const isLate = this.#isReceiving
    this.#setReceiving(!isLast)
    // Nearly all bodies are passed on here, without a copy. A body that is large or must wait is copied,
    // because the memory of the piece belongs to the HTTP library.
    const isSmall = isWhole && piece.byteLength < LARGE_BODY_BYTES_MIN
    if (isSmall && this.#host.requestScheduler.begin(piece.byteLength, shareOf(this.#request.principal))) {
      const body = this.#isKept() ? new DataView(piece) : EMPTY_BODY
      if (isLate) this.#request.answerLater(body)
      else this.#request.answerAtOnce(body)
    }
    // If the first packet contains only the head, the HTTP library first passes an empty piece, which is
    // skipped.
    else if (isLast || piece.byteLength > 0) this.#takePiece(piece, isLast)
  }

  #takePiece(piece: ArrayBuffer, isLast: boolean): void {
    this.#collector ??= this.#newCollector()
    const body = this.#collector
    try {
      body.take(piece)
    } catch (error) {
      // There is no memory for a body of that size. Discard the rest of the body, and respond after all of it
      // has arrived.
      body.discard()
      this.#request.refuse(error)
    }
    if (!body.isTooLarge) {
      if (isLast) this.#takeWhole(body.own())
      else this.#awaitMore()
    } else if (body.bytes > discardedBytesMax(this.#host.bodyBytesMax)) {
      this.#request.refuseAndClose(bodyTooLarge(this.bytesMax()))
    } else if (isLast) {
      // The body is too large, but it has arrived completely. The connection can therefore be reused.
      this.#request.answerRefusal(bodyTooLarge(this.bytesMax()))
    }
  }

  #newCollector(): BodyCollector {
    return new BodyCollector({
      bytesMax: this.bytesMax(),
      announcedBytes: Number(this.#head.headers.contentLength) || 0,
      buffers: this.#host.bodies,
      segments: { stock: this.#host.segments, share: shareOf(this.#request.principal), from: BYTES_HERE_MAX },
      isKept: this.#isKept(),
    })
  }

  #takeWhole(body: WholeBody): void {
    const request = this.#request
    this.#host.requestScheduler.take(body.bytes, shareOf(request.principal), () => {
      const isLarge = body.bytes >= LARGE_BODY_BYTES_MIN && this.#host.dispatcher.takesLarge(request.match!)
      if (isLarge && !request.isOver) request.answerLarge(body)
      else {
        if (!request.isOver) request.answerLater(this.#viewOf(body))
        body.release()
      }
    })
  }

  #viewOf(body: WholeBody): DataView {
    try {
      return body.view
    } catch (error) {
      // There is no memory for the body.
      this.#request.refuse(error)
      return EMPTY_BODY
    }
  }

  /**
   * Restarts the timeout for the next piece by resuming the connection. The HTTP library closes a connection
   * that sends less than 16 kB per second.
   */
  #awaitMore(): void {
    if (this.#request.isOver) return
    this.#wire.pause()
    this.#wire.resume()
  }

  /**
   * Whether the bytes of the body are kept. They are not kept if the request is rejected or the route has no
   * body.
   */
  #isKept(): boolean {
    return this.#request.isAdmitted && this.#request.match?.route.body !== null
  }

  /**
   * Adds this receiver to the set that is checked for timeouts, or removes it from the set. Most bodies
   * arrive in one piece, so their receivers are never added.
   */
  #setReceiving(isReceiving: boolean): void {
    if (isReceiving === this.#isReceiving) return
    this.#isReceiving = isReceiving
    if (isReceiving) this.#host.receiving.add(this)
    else this.#host.receiving.delete(this)
  }
}
