/**
 * The composition root: settings in, a running service out. This file is the order of a start and of a stop. The files
 * beside it say what the parts are made of.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '#config/config.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { VERSION } from '#model/version.ts'
import { Replica } from '#replica/replica.ts'
import type { Logger } from '#telemetry/log.ts'
import { OrganizationProgress } from '#threads/indexes/organization-progress.ts'
import { ensureKey } from './ensure-key.ts'
import { type NodeParts, openParts, type StartEvents } from './node-parts.ts'
import { openManagement } from './open-management.ts'
import { requireKeyForAll } from './open-node-store.ts'
import { openOrganization } from './open-organization.ts'
import { giveUpWhenSilent } from './silent-store.ts'
import { addressOf, beginHttp, requireWritable } from './start-http.ts'

export interface RunningService {
  readonly address: string
  /** The key made at this start, to be shown once; null when there was a key already. */
  readonly generatedApiKey: string | null
  readonly hasSampleWorkspace: boolean
  /** How long this node may have missed changes of others, in milliseconds; 0 where nobody else writes. */
  stalenessMs(): number
  /** How many histories of the store were replaced by others since the start: restored, rewound or begun anew. */
  replacedHistories(): number
  /**
   * Stops being ready at once, answers everything in flight, and closes everything. Before that it goes on serving for
   * `delayMs` milliseconds and asks callers to go elsewhere, so that a load balancer can learn of the stop.
   */
  close(delayMs?: number): Promise<void>
}

/**
 * Opens the store, replays its contents into the index, starts the threads, and resolves when requests are served. Throws
 * the reason when that fails (`STORE_UNAVAILABLE`, a port in use, a setting that contradicts the store), after closing
 * everything that it had opened.
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
    // The HTTP library aborts a process that ends while a thread still listens.
    await stop(parts).catch((closeError: unknown) => {
      log.error({ err: closeError }, 'what had started could not be closed')
    })
    throw error
  }
}

async function start(parts: NodeParts): Promise<RunningService> {
  const { config, log, store, surroundings, standing, environments, indexes, threads, deadlines, die } = parts
  const { account, background, keyUses } = parts
  requireKeyForAll(store, config)
  const open = await openOrganization(store, surroundings, config)
  const { listening } = await beginHttp(threads, config, { open, counts: parts.counts, deadlines })
  background.add(account)
  account.begin()
  // This comes before the first environment decides, since the others may take long.
  if (store.isShared) {
    const onFresh = (isFresh: boolean): void => standing.become({ isFresh })
    parts.freshness.begin(store, open.store, { config, onFresh, deadlines, log })
  }
  const opened = openManagement({ config, log, store, surroundings, open, indexes, threads, keyUses })
  environments.open(opened.environments)
  const progress = new OrganizationProgress(opened.environments, handle => threads.followOrganization(handle))
  const follower = new Replica(ORGANIZATION_STORE_ID, open.store, progress)
  const following = follower.start(error =>
    die(new Error('the organization is no longer followed', { cause: error })),
  )
  // The first environments are opened while the threads come to listen. A failure waits for the other side: what is half open cannot
  // be closed.
  await Promise.allSettled([listening, following])
  const [port] = await Promise.all([listening, following])
  const { management, trimming } = opened.serve(follower)
  background.add(trimming)
  background.add(keyUses)
  parts.entrance.open(management)

  const generated = await ensureKey({
    organization: open.organization,
    config,
    environments: opened.environments,
  })
  await follower.whenVisible(await open.store.ledger.head())
  standing.become({ isServing: true })
  account.onChange()
  trimming.trim()
  const address = addressOf(config, port)
  const { opaPort, httpThreads: threadCount } = config
  log.info({ version: VERSION, address, opaPort, threads: threadCount, pid: process.pid }, 'ready')
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
    // Decisions are made up to here, and their deadlines must be moved on.
    parts.freshness.close()
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
