/** Who hears of decisions where they are both counted and logged. */
import type { DecisionObserver } from '#services/decision-service.ts'
import type { DecisionLog } from '#telemetry/decision-log.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'

export function observeBoth(counters: ThreadCounters | null, log: DecisionLog): DecisionObserver {
  return {
    decided: (isAllowed, environmentId, query) => {
      counters?.decided(isAllowed)
      // Questions are not read from their bytes where there is a log (`hasBytesPath`).
      if (query !== null) log.decided(isAllowed, environmentId, query)
    },
    decidedAll: (decisions, environmentId, queries) => {
      counters?.decidedAll(decisions)
      if (queries !== null) log.decidedAll(decisions, environmentId, queries)
    },
  }
}
