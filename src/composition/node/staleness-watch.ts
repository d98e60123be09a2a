/**
 * Measures how long this node has not received anything from the store. Depending on that time, it writes log
 * lines, sets the state for the health routes, and sets the deadlines until which threads can make decisions.
 */
import type { Config } from '#config/settings.ts'
import { Staleness, type StalenessState } from '#decisions/questions/staleness.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import type { Logger } from '#telemetry/log.ts'
import type { StalenessDeadlines } from '#threads/indexes/staleness-deadlines.ts'

const MESSAGES: Record<StalenessState, string> = {
  fresh: 'up to date with the store again',
  stale: 'stale: no news from the store within STALE_AFTER_MS; decisions continue on the last known state',
  stopped: 'too stale: not ready, and decisions are rejected until the store responds again',
  emptied:
    'the store lost its data: not ready, and decisions are rejected until it is restored or a starting node reinitializes it',
}
const MESSAGES_OF_ONE: Record<StalenessState, string> = {
  ...MESSAGES,
  fresh: 'an environment is up to date with the store again',
  stale:
    'stale: no news of an environment within STALE_AFTER_MS; its decisions continue on the last known state, others are not affected',
  stopped:
    'too stale: decisions of an environment are rejected until news of it arrives, others are not affected',
}

export class StalenessWatch {
  /** Null if this node cannot miss changes, or if the watch has not started. */
  #staleness: Staleness | null = null

  /**
   * Starts the watch, which continues until `close` is called. `onFresh` receives whether this node receives
   * changes.
   */
  begin(store: Store, organizationStore: EnvironmentStore, parts: WatchParts): void {
    this.#staleness = watchStaleness(store, organizationStore, parts)
  }

  /** Adds an environment whose decisions start now. */
  lookAt(environmentId: string): void {
    this.#staleness?.lookAt(environmentId)
  }

  forget(environmentId: string): void {
    this.#staleness?.forget(environmentId)
  }

  close(): void {
    this.#staleness?.close()
  }
}

interface WatchParts {
  readonly config: Config
  readonly onFresh: (isFresh: boolean) => void
  readonly deadlines: StalenessDeadlines
  readonly log: Logger
}

function watchStaleness(store: Store, organizationStore: EnvironmentStore, parts: WatchParts): Staleness {
  const { config, onFresh, deadlines, log } = parts
  const report = (
    messages: Record<StalenessState, string>,
    standing: StalenessState,
    ageMs: number,
    names = {},
  ): void => {
    const fields = { ...names, standing, stalenessMs: Math.round(ageMs) }
    if (standing === 'fresh') log.info(fields, messages.fresh)
    else log.warn(fields, messages[standing])
  }
  const staleness = new Staleness({
    stalenessMs: () => store.stalenessMs(ORGANIZATION_STORE_ID),
    isEmptied: () => store.isEmptied() || !isWhole(organizationStore),
    environmentIds: () => deadlines.environmentIds(),
    stalenessMsOf: environmentId => store.stalenessMs(environmentId),
    staleAfterMs: config.staleAfterMs,
    maxStaleMs: config.maxStaleMs,
    onLook: decidesForMs => deadlines.node.set(decidesForMs),
    onLookAt: (environmentId, decidesForMs) => deadlines.set(environmentId, decidesForMs),
    onFresh,
    onChange: (standing, ageMs) => report(MESSAGES, standing, ageMs),
    onChangeOf: (environment, standing, ageMs) => report(MESSAGES_OF_ONE, standing, ageMs, { environment }),
  })
  staleness.look()
  return staleness
}

function isWhole(store: EnvironmentStore): boolean {
  try {
    store.requireWhole()
    return true
  } catch {
    return false
  }
}
