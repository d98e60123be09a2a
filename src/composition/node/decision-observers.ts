/** Forwards decisions to two observers if they are both counted and logged. */
import type { DecisionObserver } from '#decisions/decision-service.ts'
import type { DecisionLog } from '#telemetry/decision-log.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'

export function observeBoth(counters: ThreadCounters | null, log: DecisionLog): DecisionObserver {
  return {
    decided: (isAllowed, environmentId, asked) => {
      counters?.decided(isAllowed)
      log.decided(isAllowed, environmentId, asked)
    },
    decidedAll: (decisions, environmentId, asked) => {
      counters?.decidedAll(decisions, environmentId, asked)
      log.decidedAll(decisions, environmentId, asked)
    },
    later: () => {
      const logged = log.later()
      return (decisions, environmentId, asked) => {
        counters?.decidedAll(decisions, environmentId, asked)
        logged(decisions, environmentId, asked)
      }
    },
    asked: (environmentId, packed) => {
      const counted = counters?.asked(environmentId, packed)
      const logged = log.asked(environmentId, packed)
      return decisions => {
        counted?.(decisions)
        logged(decisions)
      }
    },
  }
}
