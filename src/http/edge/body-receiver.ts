/**
 * Receives the bodies of one conversation, one request after the other, and hands each on: whole, where it came in one piece;
 * collected, where it did not; piece by piece, where the route takes it so (`takePieces`).
 *
 * A body that is not read (the request is refused, or the route takes none) passes uncollected, so that the refusal is heard and the
 * connection can live on. One that is too long, or does not arrive in time, ends the connection.
 */
import { EMPTY_BODY } from '#http/message/byte-views.ts'
import { bodyTooLarge, discardedBytesMax } from '#http/routing/body-ceilings.ts'
import { BYTES_HERE_MAX, type WholeBody } from '#http/routing/large-bodies.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import { AuthzError } from '#model/errors.ts'
import { type Principal, shareOf } from '#model/principal.ts'
import { BodyCollector } from './body-collector.ts'
import { BodyPieces } from './body-pieces.ts'
import type { ConversationHost, Receiving } from './conversation-host.ts'
import { LARGE_BODY_BYTES_MIN } from './request-turns.ts'
import type { Wire, WireHead } from './wire.ts'

/** The request whose body is received. */
export interface ReceivingRequest {
  /** Null: there is no route. */
  readonly match: RouteMatch | null
  readonly principal: Principal | null
  readonly isAdmitted: boolean
  /** Whether the answer is settled, whatever still arrives. */
  readonly isDecided: boolean
  readonly isOver: boolean
  /**
   * Called inside a callback of the library, for a request that no promise and no job refers to yet. The body is the
   * library's memory.
   */
  answerAtOnce(body: DataView): void
  /**
   * Called in a callback of the library or a turn of the event loop, long after the head. The body is valid until this
   * returns.
   */
  answerLater(body: DataView): void
  /** As `answerLater`, for a body that another thread may read. Releases the body. */
  answerLarge(body: WholeBody): void
  /** Notes that the request is refused, without answering yet. A refusal noted before counts. */
  refuse(error: unknown): void
  /** Answers with the noted refusal, else with this one, inside a callback of the library. All of the body has passed. */
  answerRefusal(error: unknown): void
  /** Answers with that error without waiting for the rest of the body, and ends the connection. */
  refuseAndClose(error: unknown): void
}

export class BodyReceiver implements Receiving {
  readonly #host: ConversationHost
  readonly #request: ReceivingRequest
  readonly #head: WireHead
  readonly #received = (piece: ArrayBuffer, isLast: boolean): void => this.#take(piece, isLast)

  // Set when a request begins.
  #wire!: Wire
  /** More of the body is to come. */
  #isReceiving = false

  // Never set in a conversation that is used again.
  /** Of a body that does not come whole. */
  #collector: BodyCollector | null = null
  /** The body that the handler takes while it comes; null: none. */
  #pieces: BodyPieces | null = null

  constructor(host: ConversationHost, request: ReceivingRequest, head: WireHead) {
    this.#host = host
    this.#request = request
    this.#head = head
  }

  /** Waits for the body, to hand it on whole. */
  begin(wire: Wire): void {
    this.#wire = wire
    wire.onData(this.#received)
  }

  /** Waits for a body that the handler takes while it comes. */
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

  /** The request is over: nothing more of its body is kept. Safe to repeat. */
  end(): void {
    this.#pieces?.lose()
    this.#collector?.release()
    this.#setReceiving(false)
  }

  /** Bytes that have come, or were announced for a body that comes in one piece. */
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

  /** Ceiling of the body in bytes. A method and no getter, since V8 looks up private getters anew at each use. */
  bytesMax(): number {
    return Math.min(
      this.#host.bodyBytesMax,
      this.#request.match?.route.bodyBytesMax ?? Number.POSITIVE_INFINITY,
    )
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#request.isDecided) return
    const isWhole = isLast && this.#collector === null && piece.byteLength <= this.bytesMax()
    this.#setReceiving(!isLast)
    // Nearly all bodies come like this. A body that has to wait, or is large, is copied: the piece is the library's memory.
    const isSmall = isWhole && piece.byteLength < LARGE_BODY_BYTES_MIN
    if (isSmall && this.#host.turns.begin(piece.byteLength, shareOf(this.#request.principal)))
      this.#request.answerAtOnce(this.#isKept() ? new DataView(piece) : EMPTY_BODY)
    // Where a packet ends after the head, the library first hands on an empty piece.
    else if (isLast || piece.byteLength > 0) this.#takePiece(piece, isLast)
  }

  #takePiece(piece: ArrayBuffer, isLast: boolean): void {
    this.#collector ??= this.#newCollector()
    const body = this.#collector
    try {
      body.take(piece)
    } catch (error) {
      // There is no room for a body of that size. Nothing more is kept, and the caller is told when all of it has passed.
      body.discard()
      this.#request.refuse(error)
    }
    if (!body.isTooLarge) {
      if (isLast) this.#takeWhole(body.own())
      else this.#awaitMore()
    } else if (body.bytes > discardedBytesMax(this.#host.bodyBytesMax)) {
      this.#request.refuseAndClose(bodyTooLarge(this.bytesMax()))
    } else if (isLast) {
      // All of the body has passed, so the connection can live on.
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
    this.#host.turns.take(body.bytes, shareOf(request.principal), () => {
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
      // There is no memory.
      this.#request.refuse(error)
      return EMPTY_BODY
    }
  }

  /**
   * The library ends a connection that brings less than 16 kB a second. It begins to count anew when the connection is
   * resumed.
   */
  #awaitMore(): void {
    if (this.#request.isOver) return
    this.#wire.pause()
    this.#wire.resume()
  }

  /** Whether the body is kept. That of a refused request, or of a route without a body, is not. */
  #isKept(): boolean {
    return this.#request.isAdmitted && this.#request.match?.route.body !== null
  }

  /** Most bodies come whole and are never among those that are waited for. */
  #setReceiving(isReceiving: boolean): void {
    if (isReceiving === this.#isReceiving) return
    this.#isReceiving = isReceiving
    if (isReceiving) this.#host.receiving.add(this)
    else this.#host.receiving.delete(this)
  }
}
