/** Forwards decisions to the decision log and, if they are also counted, to the counters. */
import type { DecisionObserver } from '#decisions/decision-observer.ts'
import type { AskingClient } from '#model/caller.ts'
import { loggedId } from '#http/message/request-id.ts'
import type { DecisionLog } from '#telemetry/decision-log.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'

/** A client as the decision log shows it. */
class LoggedClient {
  readonly #client: AskingClient

  constructor(client: AskingClient) {
    this.#client = client
  }

  get requestId(): string {
    return loggedId(this.#client.requestId)
  }

  get actor(): AskingClient['actor'] {
    return this.#client.actor
  }
}

export function observeBoth(counters: ThreadCounters | null, log: DecisionLog): DecisionObserver {
  return {
    readsChecks: true,
    decided: (verdicts, asked, environmentId, client) => {
      counters?.decided(verdicts, asked)
      log.decided(verdicts, asked, environmentId, new LoggedClient(client))
    },
  }
}
