/** Creates the counters, logs and traces of an HTTP thread. */
import type { ThreadSettings } from '#config/settings.ts'
import type { DecisionObserver, PlanObserver } from '#decisions/decision-observer.ts'
import type { SlowRequest } from '#http/edge/request-watch.ts'
import { loggedId } from '#http/message/request-id.ts'
import { actorText, shortActor } from '#http/message/short-actor.ts'
import { LIMIT_NAMES } from '#model/errors.ts'
import { DecisionLog } from '#telemetry/decision-log.ts'
import { createLog, type Logger } from '#telemetry/log.ts'
import { type LongestPauses, LoopMeter } from '#telemetry/loop-meter.ts'
import { SlowRequestLog } from '#telemetry/slow-request-log.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'
import type { Tracing } from '#telemetry/tracing.ts'
import { observeBoth } from './decision-observers.ts'
import { type OpenTracing, tracingOf } from '#composition/process/open-tracing.ts'

/** Limit of endpoints that are counted. There are about 150. */
const ENDPOINTS_MAX = 255

export class ThreadTelemetry {
  readonly log: Logger
  /** Null if this thread does not count. */
  readonly counters: ThreadCounters | null
  readonly decisionLog: DecisionLog | null
  /** Observes decisions; null if there is no observer. */
  readonly observer: (DecisionObserver & PlanObserver) | null
  /**
   * Requests that take at least `ms` milliseconds are slow and are passed to `onSlow`; null if slow requests
   * are not logged.
   */
  readonly slow: { readonly ms: number; readonly onSlow: (request: SlowRequest) => void } | null
  readonly tracing: Tracing | null
  #loopMeter: LoopMeter | null = null

  constructor(settings: ThreadSettings, open: OpenTracing) {
    const log = createLog(settings.logLevel)
    const counters = settings.metrics === 'on' ? ThreadCounters.create(LIMIT_NAMES, ENDPOINTS_MAX) : null
    const decisionLog =
      settings.decisionLog === null
        ? null
        : new DecisionLog({
            destination: settings.decisionLog,
            share: settings.decisionLogShare,
            random: Math.random,
            now: Date.now,
            shownId: loggedId,
            shortActor,
            actorText,
            counters,
            onFault: error => log.error({ err: error }, 'the decision log cannot be written'),
          })
    const slowRequests = new SlowRequestLog(log, () => performance.now())
    this.log = log
    this.counters = counters
    this.decisionLog = decisionLog
    this.observer = decisionLog === null ? counters : observeBoth(counters, decisionLog)
    this.slow =
      settings.slowRequestMs > 0
        ? { ms: settings.slowRequestMs, onSlow: request => slowRequests.write(request) }
        : null
    this.tracing = tracingOf(settings, open, { log, counters })
  }

  /** Measures the load of the thread from now on. `onTick` can count more values at the same times. */
  measure(onTick: (counters: ThreadCounters, pauses: LongestPauses) => void): void {
    const { counters } = this
    if (counters) this.#loopMeter = new LoopMeter(counters, pauses => onTick(counters, pauses))
  }

  async close(): Promise<void> {
    this.#loopMeter?.close()
    await Promise.all([this.decisionLog?.close(), this.tracing?.close()])
  }
}
