/** Creates the parts of a node that exist before its start until after its shutdown, and connects them. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Config } from '#config/settings.ts'
import { KeyUses } from '#management/organization/key-uses.ts'
import { assert, InvariantError } from '#model/assert.ts'
import { formatRevision } from '#model/revision.ts'
import { SignInCounts } from '#model/sign-in/sign-in-counts.ts'
import { VERSION } from '#model/version.ts'
import type { Logger } from '#telemetry/log.ts'
import { LoopMeter } from '#telemetry/loop-meter.ts'
import { Metrics } from '#telemetry/process-metrics.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'
import { HttpThreads } from '#threads/channel/http-threads.ts'
import { createSharedCounts, SharedCount } from '#threads/channel/shared-count.ts'
import { StalenessDeadlines } from '#threads/indexes/staleness-deadlines.ts'
import { StalenessWatch } from '#composition/node/staleness-watch.ts'
import { ManagementRequests } from '#composition/node/management-requests.ts'
import { NodeEnvironments } from '#composition/node/environment-figures.ts'
import { NodeStatus } from '#composition/node/node-status.ts'
import { createIndexes } from '#composition/node/node-indexes.ts'
import { NodeHealth } from '#composition/node/node-health.ts'
import type { NodeSessions } from '#composition/node/node-sessions.ts'
import { runtimeServicesOf } from '#composition/node/node-runtime.ts'
import { openNodeStore } from './open-node-store.ts'
import { loadOpenTracing, tracingOf } from '#composition/process/open-tracing.ts'
import { WORKER_URLS } from '#composition/process/worker-urls.ts'

export interface StartEvents {
  /** Called once, with the fault after which the process must end as soon as possible. */
  onDeath(error: Error): void
  /**
   * Called before HTTP threads are created. From then on, the process must not exit before `abandon` has
   * ended them: the HTTP library aborts a process that exits while a thread listens. A caller that awaits
   * `close` does not need `abandon`.
   */
  onThreads(abandon: (withinMs: number) => Promise<boolean>): void
}

export type NodeParts = Awaited<ReturnType<typeof openParts>>

/** Opens the store. Starts nothing else. */
export async function openParts(config: Config, log: Logger, { onDeath, onThreads }: StartEvents) {
  const environments = new NodeEnvironments()
  const die = (error: Error): void => {
    // The reason is logged first, so that it is not lost if the shutdown fails.
    onDeath(error)
    void threads.abandon(0)
  }
  const runtime = runtimeServicesOf(config, {
    onCommit: (outcome, tookMs, error) => {
      mainCounters.add('commits', 1, outcome)
      if (outcome === 'done') mainCounters.observe('commitSeconds', tookMs / 1_000)
      health.noteCommit(outcome, error)
      if (outcome === 'failed') log.error({ err: error, tookMs: Math.round(tookMs) }, 'a commit failed')
    },
    onBackgroundFault: error => {
      log.error({ err: error }, 'background work failed')
      if (error instanceof InvariantError) die(error)
    },
  })
  const { store, largeWrites } = await openNodeStore(config, log, {
    onFault: die,
    onDamage: (environmentId, damage) => environments.fail(environmentId, damage),
  })
  const deadlines = new StalenessDeadlines()
  const staleness = new StalenessWatch()
  const counts = createSharedCounts()
  const managementInFlight = new SharedCount(counts, 'management')
  const signInCounts = config.oidcIssuer === null ? null : new SignInCounts()
  const isReady = (): boolean => health.state.isServing && !deadlines.node.isOver
  const sources = {
    environments: () => environments.figures(indexes, store),
    environmentStates: () => environments.states(),
    isReady,
    isFresh: () => health.state.isFresh,
    managementInFlight: () => managementInFlight.value,
    signIns: () => signInCounts,
    sessions: () => (config.oidcIssuer === null ? null : (opened.sessions?.directory.count() ?? 0)),
    version: VERSION,
    replacedHistories: () => store.replacedHistories(),
    activeSeconds: () => [
      ['main', performance.eventLoopUtilization().active / 1_000] as const,
      ...threads.activeSeconds(),
    ],
  }
  const metrics = new Metrics(sources, { namesEnvironments: config.metricsToken !== null })
  const mainCounters = ThreadCounters.create([], 0)
  const tracing = tracingOf(config, await loadOpenTracing(config), { log, counters: mainCounters })
  const managementRequests = new ManagementRequests(tracing)
  const keyUses = new KeyUses(runtime.now)
  const opened: { sessions: NodeSessions | null } = { sessions: null }
  const loopMeter = new LoopMeter(mainCounters)
  metrics.addThread('main', mainCounters.handle)
  const threads = new HttpThreads({
    entry: WORKER_URLS.http,
    count: config.httpThreads,
    streamBytesMax: config.changeStreamsBytesMax / 4 / config.httpThreads,
    execute: (request, body, waiting) => managementRequests.execute(request, body, waiting),
    describeNode: question => status.answer(question),
    onKeyUsed: keyId => keyUses.note(keyId),
    onSessionUsed: sessionId => {
      assert(opened.sessions, 'threads have sessions only if members can sign in')
      return opened.sessions.noteUse(sessionId)
    },
    onCounters: (thread, handle) => metrics.addThread(thread, handle),
    onFault: (error, { requestId, operation }) =>
      log.error({ err: error, requestId, operation }, 'a management operation failed'),
    onDeath: die,
  })
  const health = new NodeHealth(state => threads.setState(state))
  onThreads(withinMs => threads.abandon(withinMs))
  const indexes = createIndexes(log, { threads, environments, deadlines, staleness })
  const startedAt = new Date(runtime.now()).toISOString()
  const node = { id: randomUUID(), name: hostname(), version: VERSION, started_at: startedAt }
  const status = new NodeStatus(metrics, {
    heartbeats: store.nodeHeartbeats,
    self: () => ({
      ...node,
      ready: isReady(),
      fresh: health.state.isFresh,
      stale_ms: Math.round(store.stalenessMs()),
      http_threads: config.httpThreads,
    }),
    revisionIn: environmentId => {
      const revision = indexes.revision(environmentId)
      return revision && formatRevision(revision)
    },
    revisions: most => environments.revisions(indexes, most),
    now: runtime.now,
    elapsedMs: runtime.elapsedMs,
  })
  /** Background work, which a shutdown ends first. */
  const background = new Set<{ close(): void }>()
  return {
    config,
    log,
    store,
    largeWrites,
    runtime,
    environments,
    deadlines,
    staleness,
    managementRequests,
    keyUses,
    signInCounts,
    opened,
    counts,
    loopMeter,
    tracing,
    threads,
    health,
    status,
    indexes,
    background,
    die,
  }
}
