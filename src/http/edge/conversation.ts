/**
 * One request on the wire, from its head to the last byte of its answer, and the order of it: admitted by its head, then its body
 * (`body-receiver.ts`), then the dispatcher, then the answer (`answer-writer.ts`). Decides nothing about requests; that is
 * `dispatch.ts`.
 *
 * A conversation whose request was answered at once has another one afterwards (`reuse`): made anew for each, it and what
 * belongs to it were more than a third of what a decision left to the garbage collector.
 *
 * Invariants, each of which the HTTP library punishes with the end of the process or a response gone wrong:
 * - Nothing is ever thrown into the library: `begin` and every callback end in an answer.
 * - The wire is not touched once the answer ended or the request was aborted (`isOver`).
 * - Answers are written corked. Inside a callback of the library the socket already is; elsewhere `cork` does it.
 * - A conversation has another request only when nothing refers to the one before: no promise calls it, and no job asks it for names
 *   or whether its caller waits. The library may say later that an answer before was aborted: what counts is the present wire.
 */
import type { Caller } from '#decisions/decision-pool.ts'
import { EMPTY_BODY } from '#http/message/byte-views.ts'
import { RequestId } from '#http/message/request-id.ts'
import type { ErrorFamily, RequestNames } from '#http/message/request-reply.ts'
import { bodyTooLarge, discardedBytesMax } from '#http/routing/body-ceilings.ts'
import type { Admitted } from '#http/routing/dispatch.ts'
import type { WholeBody } from '#http/routing/large-bodies.ts'
import type { RouteMatch } from '#http/routing/router.ts'
import { AuthzError } from '#model/errors.ts'
import { type Principal, shareOf } from '#model/principal.ts'
import { type AnsweredRequest, AnswerWriter } from './answer-writer.ts'
import { BodyReceiver, type ReceivingRequest } from './body-receiver.ts'
import type { ConversationHost, Reusable } from './conversation-host.ts'
import { beginSpan, endSpan, type RequestSpan } from './request-tracing.ts'
import { isWireGone, type Wire, WireHead } from './wire.ts'

export class Conversation
  implements Admitted, AnsweredRequest, Caller, ReceivingRequest, RequestNames, Reusable
{
  readonly #host: ConversationHost
  readonly #head = new WireHead()
  readonly #id: RequestId
  readonly #body: BodyReceiver
  readonly #answer: AnswerWriter
  /** The connection was aborted: that of this request, or of one before whose answer could not be sent. */
  readonly #aborted = (): void => {
    if (isWireGone(this.#wire)) this.finish()
  }

  // Set when a request begins.
  #wire!: Wire
  #span: RequestSpan | null = null
  /** When the request began, by the clock of its watch. */
  #beganAt = 0
  /** The form of errors of the route, or of the path as long as there is no route. */
  family: ErrorFamily = 'native'
  match: RouteMatch | null = null
  principal: Principal | null = null
  isAdmitted = false
  /** Why the request was not admitted. Answered when its body has passed, so that the connection can live on. */
  #refusal: unknown = null
  isDecided = false
  isOver = false

  /** Whether its answer goes on until somebody ends it. Never set in a conversation that is used again. */
  #goesOn = false
  /** Never set in a conversation that is used again. */
  #onOver: (() => void)[] | null = null

  constructor(host: ConversationHost) {
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

  /** The caller who waits for the answer, and the names of the request. */
  get caller(): Caller & RequestNames {
    return this
  }

  get isGone(): boolean {
    return this.isOver
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
      if (this.#host.turns.begin(0, share)) this.answerAtOnce(EMPTY_BODY)
      else this.#host.turns.take(0, share, () => this.answerLater(EMPTY_BODY))
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

  /** Resets all that an earlier request may have set, except its span: where requests are traced, each has its own. */
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
    // Only when nothing refers to it: not while an answer is promised or on its way.
    if (this.isOver) this.#host.reuse(this)
  }

  /** The caller may have left before the body's turn. Then the handler is not called. */
  answerLater(whole: DataView): void {
    if (this.isOver) return
    try {
      // Time has passed since the head came. The key may have been revoked meanwhile.
      if (this.isAdmitted) this.#host.dispatcher.identifyAgain(this.match!, this, this.#head)
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

  /** The handler takes the body while it comes. A refusal waits until all of it has passed. */
  #answerPieces(match: RouteMatch): void {
    const pieces = this.#body.beginPieces(this.#wire)
    const answer = async () => this.#host.dispatcher.answer(match, this, this.#head, EMPTY_BODY, pieces)
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

  /** Runs inside a callback of the library, hence corked, until a handler makes a promise. */
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

  /** A page that asks what it may send uses a method that no path has. */
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
   * Answers one turn late on purpose. Answered at once, the library forgets to close when more follows in the same packet,
   * and would serve that as the next request.
   */
  #failAndClose(error: unknown): void {
    this.isDecided = true
    setImmediate(() => this.#answer.fail(error, false, true))
  }

  /** It is counted as answered: how long its reader stays says nothing about the service. */
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
