/** Says and does what follows from not having heard from the store for a while: a log line, a state, the deadline of decisions. */
import type { Config } from './config.ts'
import { Freshness, type Standing } from './services/freshness.ts'
import type { EnvironmentStore, Store } from './store/store.ts'
import type { Logger } from './telemetry/log.ts'
import type { DecisionDeadline } from './threads/decision-deadline.ts'

/** Looks from now on until it is closed; `onChange` hears whether this node hears of changes. */
export function watchFreshness(
  store: Store,
  organizationStore: EnvironmentStore,
  parts: {
    readonly config: Config
    readonly onChange: (isFresh: boolean) => void
    readonly deadline: DecisionDeadline
    readonly log: Logger
  },
): Freshness {
  const { config, onChange, deadline, log } = parts
  const said: Record<Standing, string> = {
    fresh: 'up to date with the store again',
    stale: 'stale: nothing was heard from the store for a while; deciding from what is known',
    stopped: 'too stale: not ready, and decisions are refused until the store is heard from again',
    emptied:
      'what the store held is lost: not ready, and decisions are refused until it is restored, or a node that starts begins anew',
  }
  const freshness = new Freshness({
    stalenessMs: () => store.stalenessMs(),
    isEmptied: () => store.isEmptied() || !isWhole(organizationStore),
    staleAfterMs: config.staleAfterMs,
    maxStaleMs: config.maxStaleMs,
    onLook: decidesForMs => deadline.set(decidesForMs),
    onChange: (standing, stalenessMs) => {
      const fields = { standing, stalenessMs: Math.round(stalenessMs) }
      if (standing === 'fresh') log.info(fields, said.fresh)
      else log.warn(fields, said[standing])
      onChange(standing === 'fresh')
    },
  })
  freshness.look()
  return freshness
}

function isWhole(store: EnvironmentStore): boolean {
  try {
    store.requireWhole()
    return true
  } catch {
    return false
  }
}
