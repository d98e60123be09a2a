/**
 * Composition root: creates a running service from the settings. This file defines the order of a start and
 * of a shutdown. The other files in this directory create the parts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '#config/settings.ts'
import type { OrganizationService } from '#management/organization/organization-service.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { VERSION } from '#model/version.ts'
import { Replica } from '#replica/replica.ts'
import type { Logger } from '#telemetry/log.ts'
import { OrganizationProgress } from '#threads/indexes/organization-progress.ts'
import { ensureKey } from '#composition/node/ensure-key.ts'
import { OrganizationFollower } from '#composition/node/node-sessions.ts'
import { type NodeParts, openParts, type StartEvents } from './node-parts.ts'
import { openManagement } from './open-management.ts'
import { requireKeyForAll } from './open-node-store.ts'
import { openOrganization } from './open-organization.ts'
import { abandonSilentStore } from '#composition/process/store-shutdown-timeout.ts'
import { addressOf, beginHttp, requireWritable } from './start-http.ts'

export interface RunningService {
  readonly address: string
  /** The key created at this start, to be shown once; null if a key existed already. */
  readonly generatedApiKey: string | null
  readonly hasSampleWorkspace: boolean
  /** Operations of the organization, for parts of this process that do not send requests. */
  readonly organization: OrganizationService
  /**
   * How long this node might have missed changes of other nodes, in milliseconds. 0 if no other node writes
   * to the store.
   */
  stalenessMs(): number
  /**
   * Number of epochs of the store that were replaced since the start by a restore, a rewind or a
   * reinitialization.
   */
  replacedHistories(): number
  /**
   * Makes the service not ready, completes all in-flight requests, and closes everything. Before that, it
   * continues to serve for `delayMs` milliseconds and asks clients to use another node, so that a load
   * balancer can detect the shutdown.
   */
  close(delayMs?: number): Promise<void>
}

/**
 * Opens the store, loads its contents into the index, starts the threads, and resolves when requests are
 * served. If that fails, closes everything that was opened and throws the reason: `STORE_UNAVAILABLE`, a port
 * in use, or a setting that contradicts the store.
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
    // Everything is closed here, because the HTTP library aborts a process that ends while a thread still
    // listens.
    await stop(parts).catch((closeError: unknown) => {
      log.error({ err: closeError }, 'parts that had started could not be closed')
    })
    throw error
  }
}

async function start(parts: NodeParts): Promise<RunningService> {
  const { config, log, store, runtime, health, environments, indexes, threads, deadlines, die } = parts
  const { status, background, keyUses, signInCounts } = parts
  requireKeyForAll(store, config)
  const open = await openOrganization(store, runtime, config)
  parts.opened.sessions = open.sessions
  const { listening } = await beginHttp(threads, config, { open, counts: parts.counts, deadlines })
  background.add(status)
  status.begin()
  // This is started before the first environment makes decisions, because opening the other environments can
  // take long.
  if (store.isShared) {
    const onFresh = (isFresh: boolean): void => health.become({ isFresh })
    parts.staleness.begin(store, open.store, { config, onFresh, deadlines, log })
  }
  const opened = openManagement({
    config,
    log,
    store,
    runtime,
    open,
    indexes,
    threads,
    keyUses,
    signInCounts,
  })
  environments.open(opened.environments)
  const organizationFollower = new OrganizationFollower(opened.environments, {
    sessions: open.sessions && open.sessions.directory,
    threads,
  })
  const progress = new OrganizationProgress(organizationFollower, handle =>
    threads.followOrganization(handle),
  )
  const follower = new Replica(ORGANIZATION_STORE_ID, open.store, progress)
  const following = follower.start(error =>
    die(new Error('changes of the organization are no longer followed', { cause: error })),
  )
  // The first environments are opened while the threads start to listen. If one side fails, the other one is
  // awaited: a part that is half open cannot be closed.
  await Promise.allSettled([listening, following])
  const [port] = await Promise.all([listening, following])
  const { organization, management, trimming, lapsedMembers } = opened.serve(follower)
  background.add(trimming)
  background.add(lapsedMembers)
  background.add(keyUses)
  if (open.sessions !== null) background.add(open.sessions.uses)
  parts.managementRequests.open(management)

  const generated = await ensureKey({
    organization: open.organization,
    config,
    environments: opened.environments,
  })
  await follower.whenVisible(await open.store.ledger.head())
  health.become({ isServing: true })
  status.onChange()
  trimming.trim()
  const address = addressOf(config, port)
  const { opaPort, httpThreads: threadCount } = config
  log.info({ version: VERSION, address, opaPort, threads: threadCount, pid: process.pid }, 'ready')
  return {
    address,
    generatedApiKey: generated?.apiKey ?? null,
    hasSampleWorkspace: generated?.hasSampleWorkspace ?? false,
    organization,
    stalenessMs: () => store.stalenessMs(),
    replacedHistories: () => store.replacedHistories(),
    close: delayMs => stop(parts, delayMs),
  }
}

async function stop(parts: NodeParts, delayMs = 0): Promise<void> {
  const { health, threads, store } = parts
  for (const work of parts.background) work.close()
  health.become({ isServing: false })
  if (delayMs > 0) {
    threads.drain()
    await sleep(delayMs)
  }
  const stopLooking = abandonSilentStore(store)
  try {
    await threads.close()
    // Deadlines are extended until here, because decisions are made until here.
    parts.staleness.close()
    await Promise.all([parts.tracing?.close(), closeStore(parts)])
  } finally {
    stopLooking()
    parts.loopMeter.close()
  }
}

async function closeStore({ environments, store, largeWrites }: NodeParts): Promise<void> {
  await environments.close()
  await store.close()
  await largeWrites.close()
}
