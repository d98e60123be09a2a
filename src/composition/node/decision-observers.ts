/** Forwards decisions and plans to the decision log and, if they are also counted, to the counters. */
import type { DecisionObserver, PlanObserver } from '#decisions/decision-observer.ts'
import type { DecisionLog } from '#telemetry/decision-log.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'

export function observeBoth(
  counters: ThreadCounters | null,
  log: DecisionLog,
): DecisionObserver & PlanObserver {
  return {
    readsChecks: true,
    decided: (verdicts, asked, environmentId, client) => {
      counters?.decided(verdicts, asked)
      log.decided(verdicts, asked, environmentId, client)
    },
    planned: (outcome, environmentId, client) => {
      counters?.planned(outcome)
      log.planned(outcome, environmentId, client)
    },
  }
}
