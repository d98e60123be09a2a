/** Who hears of decisions where they are both counted and logged. */
import { assert } from '#model/assert.ts'
import type { DecisionObserver } from '#services/decision-service.ts'
import type { DecisionLog } from '#telemetry/decision-log.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'

/** `hasBytesPath` sees to it. */
const READ = 'questions are not decided from their bytes where there is a log'

export function observeBoth(counters: ThreadCounters | null, log: DecisionLog): DecisionObserver {
  return {
    decided: (isAllowed, environmentId, query) => {
      counters?.decided(isAllowed)
      assert(query !== null, READ)
      log.decided(isAllowed, environmentId, query)
    },
    decidedAll: (decisions, environmentId, queries) => {
      counters?.decidedAll(decisions)
      assert(queries !== null, READ)
      log.decidedAll(decisions, environmentId, queries)
    },
  }
}
