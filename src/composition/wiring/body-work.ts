/**
 * Parses large request bodies for one HTTP thread and handles them with the same routes. Decisions use the
 * indexes that are passed with the jobs.
 */
import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { ThreadSettings } from '#config/settings.ts'
import { abandoned } from '#scheduling/admission.ts'
import { type PauseData, SharedPause } from '#scheduling/shared-pause.ts'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import type { DecisionEngine } from '#engine/engine.ts'
import { joined } from '#http/edge/body-segments.ts'
import { encodeReply } from '#http/message/answer.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { type Reply, RawBytes } from '#http/message/request-reply.ts'
import { decisionRoutes } from '#http/routes/route-table.ts'
import type { AnswersOfParts } from '#http/routing/large-answers.ts'
import { readBody } from '#http/routing/read-body.ts'
import type { Route } from '#http/routing/route.ts'
import { AuthzError, errorFromData, errorToData } from '#model/errors.ts'
import type { BodyAnswer, BodyJob, BodyRequest, BodyThreadData, Decided } from '#threads/pool/body-jobs.ts'
import { isOver, type PoolAnswer } from '#threads/pool/pool-jobs.ts'
import { failed, ReaderCache } from '#composition/process/reader-cache.ts'
import { RecordedDecisions } from '#composition/node/recorded-decisions.ts'
import { decisionParts } from './thread-routes.ts'

const NOTHING = Object.freeze({})

/**
 * Marks a response whose memory counts against a limit (`large-answers.ts`). The HTTP thread enforces that
 * limit, not this thread.
 */
class OfParts extends RawBytes {
  get fillsMemory(): boolean {
    return this.bytes.byteLength === this.bytes.buffer.byteLength
  }
}

const answers: AnswersOfParts = {
  reply: (_environmentId, json) => ({ status: 200, body: new OfParts(Buffer.concat(json)) }),
}

export class BodyWorker {
  readonly #readers = new ReaderCache()
  /**
   * Index, or refusal, for the running job of each environment. An environment has one job at a time on this
   * thread.
   */
  readonly #decidedOn = new Map<string, Exclude<BodyRequest['on'], null>>()
  readonly #routes: ReadonlyMap<string, Route>

  readonly #pause: SharedPause

  constructor({ settings, tokenSecret, observes, pauseCell }: BodyThreadData<ThreadSettings> & PauseData) {
    this.#pause = new SharedPause(pauseCell)
    const parts = decisionParts({
      engines: { engine: environmentId => this.#engineOf(environmentId) },
      observer: observes === 'nothing' ? null : new RecordedDecisions(observes === 'checks'),
      tokenSecret,
      settings,
      sliced: new ThreadScheduler(new TimeBudget('body'), this.#pause.note),
      pool: null,
      answers,
    })
    this.#routes = new Map(decisionRoutes(parts).map(route => [route.operationId, route]))
  }

  work(job: BodyJob): PoolAnswer<unknown> | Promise<PoolAnswer<unknown>> {
    if (job.kind === 'warm-up') return { value: null }
    if (job.kind === 'let-go') return this.#readers.letGo()
    return this.#pause.during(() => this.#answerTo(job))
  }

  #engineOf(environmentId: string): DecisionEngine {
    const on = this.#decidedOn.get(environmentId)!
    if ('refusal' in on) throw errorFromData(on.refusal)
    return this.#readers.of(on)
  }

  async #answerTo(job: BodyRequest): Promise<PoolAnswer<unknown>> {
    const decided: Decided[] = []
    try {
      const outcome = await this.#outcomeOf(job, decided)
      return given({ outcome, decided })
    } catch (error) {
      if (error instanceof AuthzError) {
        return given({ outcome: { kind: 'refused', error: errorToData(error) }, decided })
      }
      return failed(error)
    }
  }

  async #outcomeOf(job: BodyRequest, decided: Decided[]): Promise<BodyAnswer['outcome']> {
    const { operationId, principal, contentEncoding, segments, bytes, on, over } = job
    const caller = {
      get isGone() {
        return isOver(over)
      },
      whenOver: () => {},
      // The HTTP thread checks the client again when it receives the outcome.
      identifyAgain: () => principal,
      bodyBytes: bytes,
      // The HTTP thread knows the ID of the request.
      requestId: '',
      decided,
      traceparent: null,
    }
    const route = this.#routes.get(operationId)!
    if (caller.isGone) throw abandoned()
    const whole = viewOf(joined(segments, bytes))
    if (on === null || principal?.kind !== 'environment') {
      readBody(route, whole, { principal: null, contentEncoding })
      return { kind: 'checked' }
    }
    const { environmentId } = principal
    this.#decidedOn.set(environmentId, on)
    try {
      const body = readBody(route, whole, { principal, contentEncoding })
      if (caller.isGone) throw abandoned()
      const headers = new Map<string, string>()
      const asked = { params: NOTHING, query: NOTHING, body, headers, claim: null }
      const call = { principal, ...asked, caller, names: caller }
      return answered(await route.handle(call))
    } finally {
      this.#decidedOn.delete(environmentId)
    }
  }
}

function answered(reply: Reply): BodyAnswer['outcome'] {
  const { status, body, lent } = encodeReply(reply)
  const isOfParts = reply.body instanceof OfParts
  // The receiver cannot take ownership of constant bytes, of lent bytes, or of bytes that share their buffer:
  // these are copied.
  const own = isOfParts && reply.body.fillsMemory ? reply.body.bytes : copied(body ?? '')
  lent?.giveBack()
  return { kind: 'answered', status, bytes: own, isOfParts }
}

function copied(body: string | Uint8Array): Uint8Array {
  return new Uint8Array(typeof body === 'string' ? Buffer.from(body) : body)
}

/** Transfers the response instead of copying it. The receiver owns it afterwards. */
function given(value: BodyAnswer): PoolAnswer<unknown> {
  const { outcome } = value
  const memories = outcome.kind === 'answered' ? [outcome.bytes.buffer] : []
  return move({ [transferableSymbol]: memories, [valueSymbol]: { value } } as never) as never
}
