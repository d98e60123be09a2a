/**
 * The composition root: settings in, a running service out. The order of a start and of a stop; what the parts are made of
 * is in the files beside this one.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '#config/config.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { Replica } from '#replica/replica.ts'
import type { Logger } from '#telemetry/log.ts'
import { OrganizationProgress } from '#threads/indexes/organization-progress.ts'
import { ensureKey } from './ensure-key.ts'
import { type NodeParts, openParts, type StartEvents } from './node-parts.ts'
import { openManagement } from './open-management.ts'
import { requireKeyForAll } from './open-node-store.ts'
import { openOrganization } from './open-organization.ts'
import { giveUpWhenSilent } from './silent-store.ts'
import { addressOf, requireWritable, startHttp } from './start-http.ts'

export interface RunningService {
  readonly address: string
  /** The key made at this start, to be shown once; null when there was one already. */
  readonly generatedApiKey: string | null
  readonly hasSampleWorkspace: boolean
  /** For how long this node may have missed what others changed; 0 where nobody else writes. Milliseconds. */
  stalenessMs(): number
  /** How many histories of the store were replaced by others since the start: restored, rewound or begun anew. */
  replacedHistories(): number
  /**
   * Not ready at once; then everything in flight is answered and everything closed. For `delayMs` before that it goes on
   * serving, and asks callers to go elsewhere, so that whoever sends traffic can learn that it should not.
   */
  close(delayMs?: number): Promise<void>
}

/**
 * Opens the store, replays what it holds into the index, starts the threads, and resolves when requests are served.
 * Throws what keeps it from that (`STORE_UNAVAILABLE`, a port in use, a setting that does not fit what is stored),
 * everything it had opened closed again.
 */
export async function startService(
  config: Config,
  log: Logger,
  events: StartEvents,
): Promise<RunningService> {
  requireWritable(config)
  const parts = await openParts(config, log, events)
  try {
    return await start(parts)
  } catch (error) {
    // A process that ends with a thread still listening is aborted by the HTTP library.
    await stop(parts).catch((closeError: unknown) => {
      log.error({ err: closeError }, 'what had started could not be closed')
    })
    throw error
  }
}

async function start(parts: NodeParts): Promise<RunningService> {
  const { config, log, store, surroundings, standing, environments, indexes, threads, deadlines, die } = parts
  requireKeyForAll(store, config)
  const open = await openOrganization(store, surroundings, config)
  const port = await startHttp(threads, config, { open, counts: parts.counts, deadlines })
  // Before the first environment decides: the others may be long in coming.
  if (store.isShared) {
    const onFresh = (isFresh: boolean): void => standing.become({ isFresh })
    parts.freshness.begin(store, open.store, { config, onFresh, deadlines, log })
  }
  const opened = openManagement({ config, log, store, surroundings, open, indexes, threads })
  environments.open(opened.environments)
  const progress = new OrganizationProgress(opened.environments, handle => threads.followOrganization(handle))
  const follower = new Replica(ORGANIZATION_STORE_ID, open.store, progress)
  await follower.start(error => die(new Error('the organization is no longer followed', { cause: error })))
  const { management, trimming } = opened.serve(follower)
  parts.background.add(trimming)
  parts.entrance.open(management)

  const generated = await ensureKey({
    organization: open.organization,
    config,
    environments: opened.environments,
  })
  await follower.whenVisible(await open.store.ledger.head())
  standing.become({ isServing: true })
  trimming.trim()
  const address = addressOf(config, port)
  log.info({ address, opaPort: config.opaPort, threads: config.httpThreads, pid: process.pid }, 'ready')
  return {
    address,
    generatedApiKey: generated?.apiKey ?? null,
    hasSampleWorkspace: generated?.hasSampleWorkspace ?? false,
    stalenessMs: () => store.stalenessMs(),
    replacedHistories: () => store.replacedHistories(),
    close: delayMs => stop(parts, delayMs),
  }
}

async function stop(parts: NodeParts, delayMs = 0): Promise<void> {
  const { standing, threads, store } = parts
  for (const work of parts.background) work.close()
  standing.become({ isServing: false })
  if (delayMs > 0) {
    threads.drain()
    await sleep(delayMs)
  }
  const stopLooking = giveUpWhenSilent(store)
  try {
    await threads.close()
    // Until then decisions are made, and need their deadlines moved on.
    parts.freshness.close()
    await parts.environments.close()
    await store.close()
    await parts.largeWrites.close()
  } finally {
    stopLooking()
    parts.loopMeter.close()
  }
}
