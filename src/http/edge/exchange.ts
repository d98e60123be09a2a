/**
 * One HTTP exchange, from the head of the request to the last byte of the response. Steps: admit the request
 * by its head, receive the body (`body-receiver.ts`), call the dispatcher, and write the response
 * (`answer-writer.ts`). The rules for requests are not in this file but in `dispatch.ts`.
 *
 * If the response was written synchronously, the exchange is reused for another request (`reuse`). Without
 * reuse, the exchange and its parts caused more than a third of the garbage of a decision.
 *
 * Invariants. If one of them is violated, the HTTP library aborts the process or sends a wrong response:
 * - No exception reaches the library: `begin` and every callback catch errors and respond.
 * - The wire is not used after the response ended or the request was aborted (`isOver`).
 * - Responses are written corked. Inside a callback of the library, the socket is already corked. Otherwise
 *   `cork` does it.
 * - An exchange is reused only if nothing refers to its previous request: no promise calls the exchange, and
 *   no job reads the names of the request or checks whether its client still waits. The library can still
 *   report that an earlier response was aborted. This report is ignored, because only the current wire is
 *   examined.
 */
import type { AskingClient, RequestClient } from '#model/caller.ts'
import type { LoggedActor } from '#model/wire/organization/actor.ts'
import { EMPTY_BODY } from '#http/message/byte-views.ts'
import { loggedActor } from '#http/message/claimed-actor.ts'
import { RequestId } from '#http/message/request-id.ts'
import type { ErrorFamily, RequestNames } from '#http/message/request-reply.ts'
import { bodyTooLarge, discardedBytesMax } from '#http/routing/body-limits-by-route.ts'
import type { Admitted } from '#http/routing/dispatch.ts'
import type { WholeBody } from '#http/routing/large-bodies.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError } from '#model/errors.ts'
import { type Principal, shareOf } from '#model/principal.ts'
import { type AnsweredRequest, AnswerWriter } from './answer-writer.ts'
import { BodyReceiver, type ReceivingRequest } from './body-receiver.ts'
import type { ExchangeHost, Reusable } from './exchange-host.ts'
import { beginSpan, endSpan, type RequestSpan } from './request-tracing.ts'
import { isWireGone, type Wire, WireHead } from './wire.ts'

export class Exchange
  implements Admitted, AnsweredRequest, RequestClient, ReceivingRequest, RequestNames, Reusable
{
  readonly #host: ExchangeHost
  readonly #head = new WireHead()
  readonly #id: RequestId
  readonly #body: BodyReceiver
  readonly #answer: AnswerWriter
  /**
   * The listener for aborts. The report can concern the connection of the current request, or the connection
   * of an earlier request whose response could not be sent.
   */
  readonly #aborted = (): void => {
    if (isWireGone(this.#wire)) this.finish()
  }

  // Wire of the current request. `#reset` sets it.
  #wire!: Wire
  #span: RequestSpan | null = null
  /** Start time of the request, measured by the clock of `RequestWatch`. */
  #beganAt = 0
  /** Format of errors. Until a route is found, it depends on the path, and then on the route. */
  family: ErrorFamily = 'native'
  match: RouteMatch | null = null
  principal: Principal | null = null
  isAdmitted = false
  /**
   * Error with which the request was rejected. The response is sent after the whole body has arrived, so that
   * the connection can be reused.
   */
  #refusal: unknown = null
  isDecided = false
  isOver = false

  /**
   * Whether the response is live, which means that it continues until one side ends it. Stays false in an
   * exchange that is reused.
   */
  #goesOn = false
  /** Listeners that are called when the request is over. Stays null in an exchange that is reused. */
  #onOver: (() => void)[] | null = null

  constructor(host: ExchangeHost) {
    this.#host = host
    this.#id = new RequestId(host.requestIds)
    this.#body = new BodyReceiver(host, this, this.#head)
    this.#answer = new AnswerWriter(host, this, this.#head, this.#id)
  }

  get requestId(): string {
    return this.#id.text
  }

  get traceparent(): string | null {
    return this.#span === null ? null : this.#span.traceparent
  }

  /**
   * The actor for the decision log. Without a decision log, the headers are not kept (administration.md N3),
   * and this throws `InvariantError`.
   */
  get actor(): LoggedActor | null {
    const { match } = this
    if (match === null) return null
    const caller = () => this.#host.dispatcher.callerOf(match, this, this.#head)
    return loggedActor(this.#head.headers, caller)
  }

  /** The client that waits for the response, together with the IDs of the request. */
  get caller(): RequestClient & RequestNames & AskingClient {
    return this
  }

  get isGone(): boolean {
    return this.isOver
  }

  identifyAgain(): Principal | null {
    return this.match === null ? null : this.#host.dispatcher.identifyHandled(this.match, this, this.#head)
  }

  get bodyBytes(): number {
    return this.#body.bytes
  }

  whenOver(listener: () => void): void {
    if (this.isOver) listener()
    else (this.#onOver ??= []).push(listener)
  }

  emptyHead(keepsOthers: boolean): WireHead {
    this.#head.headers.clear(keepsOthers)
    return this.#head
  }

  begin(wire: Wire, known: RouteMatch | null): void {
    this.#reset(wire, known)
    const { headers } = this.#head
    wire.onAborted(this.#aborted)
    this.#admit()
    if (this.#host.tracing !== null) this.#span = beginSpan(this.#host, this.match, this.#head, this)
    const { framingFault } = headers
    if (framingFault !== null) {
      this.#failAndClose(new AuthzError('INVALID_INPUT', framingFault))
      return
    }
    if (!headers.announcesBody) {
      const share = shareOf(this.principal)
      if (this.#host.requestScheduler.begin(0, share)) this.answerAtOnce(EMPTY_BODY)
      else this.#host.requestScheduler.take(0, share, () => this.answerLater(EMPTY_BODY))
      return
    }
    if (this.isAdmitted && this.match?.route.bodyInPieces) {
      this.#answerPieces(this.match)
      return
    }
    if (headers.announcesMoreThan(discardedBytesMax(this.#host.bodyBytesMax))) {
      this.refuseAndClose(bodyTooLarge(this.#body.bytesMax()))
      return
    }
    this.#body.begin(wire)
  }

  /**
   * Resets all fields that an earlier request could have set, except the span. If requests are traced, each
   * request sets its own span.
   */
  #reset(wire: Wire, known: RouteMatch | null): void {
    const host = this.#host
    this.#wire = wire
    this.#answer.begin(wire)
    this.#beganAt = host.watch === null ? 0 : host.watch.begin()
    this.#id.begin(this.#head.headers.requestId)
    this.match = known
    this.family = known === null ? host.familyOf(this.#head.path) : known.route.family
    this.principal = null
    this.isAdmitted = false
    this.#refusal = null
    this.isDecided = false
    this.isOver = false
  }

  #admit(): void {
    const { dispatcher } = this.#host
    try {
      this.match ??= dispatcher.find(this.#head)
      this.family = this.match.route.family
      this.principal = dispatcher.admit(this.match, this.#head)
      this.isAdmitted = true
    } catch (error) {
      this.#refusal = error
    }
  }

  answerAtOnce(body: DataView): void {
    this.#dispatch(body)
    // `isOver` is true here only if the response is complete. While a response is pending or being sent,
    // other code refers to the exchange, so it is not reused.
    if (this.isOver) this.#host.reuse(this)
  }

  /** The client disconnected while the body waited. The handler is not called. */
  answerLater(whole: DataView): void {
    if (this.isOver) return
    try {
      // Checks the key again, because it could have been revoked since the head arrived.
      if (this.isAdmitted) this.principal = this.#host.dispatcher.identifyAgain(this.match!, this, this.#head)
    } catch (error) {
      this.refuse(error)
    }
    this.#wire.cork(() => this.#dispatch(whole))
  }

  answerLarge(body: WholeBody): void {
    this.isDecided = true
    this.#wire.cork(() => {
      try {
        this.#answer.answer(this.#host.dispatcher.answerLarge(this.match!, this, this.#head, body))
      } catch (error) {
        this.#answer.fail(error, true)
      }
    })
  }

  /**
   * Calls a handler that reads the body as a stream. The response is sent after the whole body has arrived.
   * The key is checked again with each piece and at the end. If it is no longer valid, the body fails.
   */
  #answerPieces(match: RouteMatch): void {
    const pieces = this.#body.beginPieces(this.#wire)
    const { dispatcher } = this.#host
    const checked: PieceSource = {
      next: async () => {
        const piece = await pieces.next()
        dispatcher.identifyHandled(match, this, this.#head)
        return piece
      },
      cancel: () => pieces.cancel(),
    }
    const answer = async () => dispatcher.answer(match, this, this.#head, EMPTY_BODY, checked)
    void answer().then(
      async reply => {
        await pieces.passed()
        this.#answer.reply(reply, false)
      },
      async (error: unknown) => {
        this.#refusal = error
        await pieces.passed()
        this.#answer.fail(error, false)
      },
    )
  }

  /**
   * Calls the dispatcher and writes its reply. Unless the handler returns a promise, this runs inside a
   * callback of the HTTP library, where the socket is corked.
   */
  #dispatch(body: DataView): void {
    this.isDecided = true
    if (this.match === null || !this.isAdmitted) {
      this.#answerRefused()
      return
    }
    try {
      this.#answer.answer(this.#host.dispatcher.answer(this.match, this, this.#head, body))
    } catch (error) {
      this.#answer.fail(error, true)
    }
  }

  /**
   * Responds to a rejected request. A CORS preflight is also handled here, because its method belongs to no
   * route.
   */
  #answerRefused(): void {
    const { crossOrigin } = this.#host
    const { method, headers } = this.#head
    if (crossOrigin !== null && crossOrigin.isPreflight(method, headers)) {
      this.#answer.reply(crossOrigin.preflight(headers), true)
    } else this.#answer.fail(this.#refusal, true)
  }

  refuse(error: unknown): void {
    this.isAdmitted = false
    this.#refusal ??= error
  }

  answerRefusal(error: unknown): void {
    this.isDecided = true
    this.#answer.fail(this.#refusal ?? error, true)
  }

  refuseAndClose(error: unknown): void {
    this.#failAndClose(this.#refusal ?? error)
  }

  /**
   * Responds with the error in the next event-loop iteration, and closes the connection. If the response were
   * sent immediately and the packet contained more data, the HTTP library would not close the connection. It
   * would process that data as the next request.
   */
  #failAndClose(error: unknown): void {
    this.isDecided = true
    setImmediate(() => this.#answer.fail(error, false, true))
  }

  /**
   * Called when a live response starts. Counts the request as complete, because the time for which its reader
   * stays connected is not part of the latency of the service.
   */
  goesOn(): void {
    this.#endObserved()
    this.#goesOn = true
  }

  finish(): void {
    if (this.isOver) return
    this.isOver = true
    this.isDecided = true
    this.#body.end()
    this.#answer.stop()
    if (this.#onOver !== null) for (const listener of this.#onOver) listener()
    if (!this.#goesOn) this.#endObserved()
    this.#host.leave()
  }

  #endObserved(): void {
    const { status } = this.#answer
    this.#host.watch?.end(this.#beganAt, this.match?.route ?? null, status, this)
    if (this.#span !== null) endSpan(this.#host, this.#span, status, this)
  }
}
