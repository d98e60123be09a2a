/**
 * The composition root: settings in, a running service out. Opens the store, starts the HTTP threads, loads the engines,
 * wires management between them, and takes it all down again in the reverse order.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Config, STORE_URL_DEFAULT, withoutSecrets } from '#config/config.ts'
import type { Freshness } from '#decisions/freshness.ts'
import { type NodeState, STARTING } from '#decisions/node-state.ts'
import { rehearsal } from '#engine/shared-index/rehearsal.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { reservePort } from '#http/edge/reserve-port.ts'
import { ContentShapes } from '#http/routing/content-shapes.ts'
import { ReadLanes } from '#management/commands/read-lanes.ts'
import type { Surroundings } from '#management/commands/surroundings.ts'
import { FairTurns } from '#management/commands/turns.ts'
import { AuditRetention } from '#management/content/audit-retention.ts'
import { type ContentLoader, LedgerLoader } from '#management/content/content-loader.ts'
import { LiveEnvironment } from '#management/environment/live-environment.ts'
import { loadSampleWorkspace } from '#management/environment/sample-workspace.ts'
import { ManagementService } from '#management/management-service.ts'
import { EnvironmentCopies } from '#management/organization/environment-copies.ts'
import { EnvironmentImports } from '#management/organization/environment-imports.ts'
import { OpenEnvironments } from '#management/organization/open-environments.ts'
import { OrganizationService } from '#management/organization/organization-service.ts'
import {
  type KnownEnvironment,
  Organization,
  ORGANIZATION_STORE_ID,
} from '#management/organization/organization.ts'
import { InvariantError } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { Replica } from '#replica/replica.ts'
import { ApiKeySecrets } from '#secrets/api-key-secrets.ts'
import { isKeyedLater, listRule } from '#store/keyspace/keyspace.ts'
import { isReadable } from '#store/keyspace/record-codec.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import { openStore } from '#store/open-store.ts'
import type { Store } from '#store/store.ts'
import type { Logger } from '#telemetry/log.ts'
import { LoopMeter } from '#telemetry/loop-meter.ts'
import {
  type CommitOutcome,
  type EnvironmentFigures,
  type EnvironmentState,
  Metrics,
} from '#telemetry/metrics.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'
import { Tracing } from '#telemetry/tracing.ts'
import { ContentThread } from '#threads/content-thread.ts'
import { DecisionDeadlines } from '#threads/indexes/decision-deadlines.ts'
import { HttpThreads } from '#threads/channel/http-threads.ts'
import { createKeyRates } from '#threads/channel/key-rates.ts'
import { OrganizationProgress } from '#threads/indexes/organization-progress.ts'
import { createSharedCounts, SharedCount } from '#threads/channel/shared-count.ts'
import { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { noteWritingThread } from '#threads/writing-threads.ts'
import { watchFreshness } from './freshness-watch.ts'
import { IndexFiles } from './index-files.ts'
import { credentialsOf } from './thread-credentials.ts'
import { TimeOrderedIds } from './time-ordered-ids.ts'
import { WORKER_URLS } from './worker-urls.ts'

const TRIM_AUDIT_EVERY_MS = 3_600_000
/** A stop gives up a store that has been silent for so long: less than threads take for what is in flight. */
const STORE_PATIENCE_MS = 3_000
const STORE_LOOK_MS = 250
/** In an index's lock word; HTTP threads have theirs plus one. */
const MAIN_THREAD_ID = 1

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

export interface StartEvents {
  /** The one fault after which the process must end, when it can. */
  onDeath(error: Error): void
  /**
   * From here on the process must not exit before HTTP threads are ended by `abandon`, as they are: while one listens, the HTTP
   * library would abort it. Called before there are any; whoever awaits `close` need not.
   */
  onThreads(abandon: (withinMs: number) => Promise<boolean>): void
}

/**
 * Opens the store, replays what it holds into the index, starts the threads, and resolves when requests are served.
 * Throws what keeps it from that (`STORE_UNAVAILABLE`, a port in use, a setting that does not fit what is stored),
 * everything it had opened closed again.
 */
export async function startService(
  config: Config,
  log: Logger,
  { onDeath, onThreads }: StartEvents,
): Promise<RunningService> {
  const ids = new TimeOrderedIds(Date.now)
  const surroundings: Surroundings = {
    now: Date.now,
    elapsedMs: () => performance.now(),
    newId: () => ids.next(),
    newCommitId: () => randomBytes(16),
    newSecret: () => randomBytes(32).toString('hex'),
    attributesBytesMax: config.attributesBytesMax,
    onCommit: (outcome, tookMs, error) => {
      metrics.observeCommit(outcome, tookMs)
      noteWritten(outcome, error)
      if (outcome === 'failed') log.error({ err: error, tookMs: Math.round(tookMs) }, 'a commit failed')
    },
    onBackgroundFault: error => {
      log.error({ err: error }, 'background work failed')
      if (error instanceof InvariantError) die(error)
    },
  }
  if (config.decisionLog !== null && config.decisionLog !== 'stdout') requireWritable(config.decisionLog)
  const largeWrites = new WriteThread(WORKER_URLS.largeWrites)
  const store = await openStore(config.storeUrl ?? STORE_URL_DEFAULT, listRule, {
    ...config,
    isKeyedLater,
    isReadable,
    buildLists,
    largeWrites,
    log,
    // The organization is everybody's; what is wrong with one environment ends nothing else.
    onFault: (environmentId, error) => {
      if (environmentId === ORGANIZATION_STORE_ID) die(error)
      else log.error({ environment: environmentId, err: error }, 'an environment does not follow its store')
    },
    // Without the organization nobody is ready at all.
    onDamage: (environmentId, damage) => environments?.fail(environmentId, damage),
  })
  const turns = new FairTurns()
  const longReads = new ReadLanes()
  let management: ManagementService | null = null
  let environments: OpenEnvironments | null = null
  let freshness: Freshness | null = null
  let state = STARTING
  const deadlines = new DecisionDeadlines()
  let trimming: NodeJS.Timeout | undefined
  const auditRetentionMs = config.auditRetentionDays * 86_400_000
  const tracing = config.hasTracing ? new Tracing() : null
  const counts = createSharedCounts()
  const managementInFlight = new SharedCount(counts, 'management')
  const metrics = new Metrics({
    environments: () => figuresOf(environments, indexes, store),
    environmentStates: () => statesOf(environments),
    isReady: () => state.isServing && !deadlines.node.isOver,
    isFresh: () => state.isFresh,
    managementInFlight: () => managementInFlight.value,
    replacedHistories: () => store.replacedHistories(),
    activeSeconds: () => [
      ['main', performance.eventLoopUtilization().active / 1_000] as const,
      ...threads.activeSeconds(),
    ],
  })
  const mainCounters = ThreadCounters.create([], 0)
  const loopMeter = new LoopMeter(mainCounters)
  metrics.addThread('main', mainCounters.handle)
  const noteWritten = (outcome: CommitOutcome, error: unknown): void => {
    const isRefused = error instanceof AuthzError && error.code === 'STORE_REFUSED' && error.told !== null
    const writeRefusal = isRefused ? error.told : outcome === 'done' ? null : state.writeRefusal
    if (writeRefusal !== state.writeRefusal) become({ writeRefusal })
  }
  const become = (change: Partial<NodeState>): void => {
    state = { ...state, ...change }
    threads.setState(state)
  }
  const die = (error: Error): void => {
    // The reason first, whatever happens on the way out.
    onDeath(error)
    void threads.abandon(0)
  }
  const threads = new HttpThreads({
    entry: WORKER_URLS.http,
    count: config.httpThreads,
    // Requests reach a thread before its environments are loaded only to be told so.
    execute: (request, body, waiting) => {
      const work = async () => {
        if (!management) throw new AuthzError('NOT_READY', 'the service is starting; try again shortly')
        return management.execute(request, body, waiting)
      }
      return tracing ? tracing.within(request.operation, request.traceparent, work) : work()
    },
    scrape: () => metrics.text(),
    onCounters: (thread, handle) => metrics.addThread(thread, handle),
    onFault: (error, { requestId, operation }) =>
      log.error({ err: error, requestId, operation }, 'a management operation failed'),
    onDeath: die,
  })
  onThreads(withinMs => threads.abandon(withinMs))
  const indexes = new SharedIndexes({
    createWriter: () =>
      new SharedIndexWriter({
        threadId: MAIN_THREAD_ID,
        secrets: { start: randomInt(2 ** 31), multiplier: randomInt(2 ** 31) | 1 },
      }),
    kept: new IndexFiles(MAIN_THREAD_ID, log),
    rehearsal,
    deadlineOf: environmentId => {
      const handle = deadlines.handleOf(environmentId)
      freshness?.lookAt(environmentId)
      return handle
    },
    attach: (environmentId, handle) => threads.attach(environmentId, handle),
    detach: (environmentId, reason) => {
      deadlines.forget(environmentId)
      freshness?.forget(environmentId)
      return threads.detach(environmentId, reason)
    },
    onFault: (environmentId, error) => environments?.fail(environmentId, error),
  })
  const close = async (delayMs = 0): Promise<void> => {
    clearInterval(trimming)
    become({ isServing: false })
    if (delayMs > 0) {
      threads.drain()
      await sleep(delayMs)
    }
    const from = performance.now()
    // A store that is silent keeps nobody from an answer, nor the process from its end. Of several servers one may be: what is under
    // way with the others is over before it is given up with them.
    const looking = setInterval(() => {
      const looksAt = performance.now() - from < STORE_PATIENCE_MS ? ORGANIZATION_STORE_ID : undefined
      if (store.stalenessMs(looksAt) >= STORE_PATIENCE_MS) store.giveUp()
    }, STORE_LOOK_MS)
    try {
      await threads.close()
      // Until then decisions are made, and need their deadlines moved on.
      freshness?.close()
      await environments?.close()
      await store.close()
      await largeWrites.close()
    } finally {
      clearInterval(looking)
      loopMeter.close()
    }
  }

  try {
    requireKeyForAll(store, config)
    const secrets = new ApiKeySecrets(config.adminApiKey)
    const organizationStore = await store.environment(ORGANIZATION_STORE_ID, { begin: 'before-others' })
    const organization = new Organization(organizationStore, surroundings, secrets)
    await organization.bootstrap(config, store)
    const adminHash = config.adminApiKey === null ? null : secrets.hash(config.adminApiKey)
    const credentialsFor = credentialsOf(organization, adminHash)
    if (config.opaPort !== null) await reservePort({ host: config.host, port: config.opaPort }, 'OPA_PORT')
    const port = await threads.start({
      host: config.host,
      port: await portFor(config),
      tokenSecret: organization.tokenSecret(),
      credentials: credentialsFor(organization.secrets()),
      counts,
      keyRates: config.requestsPerSecondMax === null ? null : createKeyRates(),
      deadline: deadlines.node.handle,
      settings: withoutSecrets(config),
    })
    // Before the first environment decides: the others may be long in coming.
    if (store.isShared) {
      const onFresh = (isFresh: boolean): void => become({ isFresh })
      freshness = watchFreshness(store, organizationStore, { config, onFresh, deadlines, log })
    }
    environments = new OpenEnvironments({
      organization,
      open: known =>
        openEnvironment(known, {
          store,
          organization,
          indexes,
          surroundings,
          turns,
          longReads,
          auditRetentionMs,
          log,
        }),
      drop: environmentId => store.drop(environmentId),
      discardCopies: ({ except }) =>
        store.discardCopies({ except: new Set([ORGANIZATION_STORE_ID, ...except]) }),
      mayNote: () => !store.isAlone,
      replaceSecrets: known => threads.replaceCredentials(credentialsFor(known)),
      onFault: error => log.error({ err: error }, 'an environment could not be opened or removed'),
    })
    const progress = new OrganizationProgress(environments, handle => threads.followOrganization(handle))
    const follower = new Replica(ORGANIZATION_STORE_ID, organizationStore, progress)
    await follower.start(error => die(new Error('the organization is no longer followed', { cause: error })))
    const service = new OrganizationService({
      organization,
      surroundings,
      secrets,
      keyOverlapSeconds: config.keyOverlapSeconds,
      closureOf: environmentId => environments?.closureOf(environmentId) ?? null,
      turns: turns.share(),
      whenInForce: revision => follower.whenVisible(revision),
    })
    const retention = new AuditRetention(organizationStore, surroundings, auditRetentionMs)
    const trim = async (): Promise<void> => {
      await retention.trim()
      for (const { service: each } of environments?.all() ?? []) await each?.trimAudit()
    }
    const trimInBackground = (): void => void trim().catch(surroundings.onBackgroundFault)
    trimming = setInterval(trimInBackground, TRIM_AUDIT_EVERY_MS)
    const { onBackgroundFault: onFault } = surroundings
    const copies = new EnvironmentCopies(service, environments, onFault)
    const imports = new EnvironmentImports({
      organization: service,
      environments,
      loader: contentLoader(store, surroundings, config.importBytesMax),
      drop: id => store.drop(id),
      onFault,
    })
    management = new ManagementService({ environments, organization: service, copies, imports })

    const generated = await ensureKey({ organization, config, environments })
    await follower.whenVisible(await organizationStore.ledger.head())
    become({ isServing: true })
    trimInBackground()
    const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
    log.info({ address, opaPort: config.opaPort, threads: config.httpThreads, pid: process.pid }, 'ready')
    return {
      address,
      generatedApiKey: generated?.apiKey ?? null,
      hasSampleWorkspace: generated?.hasSampleWorkspace ?? false,
      stalenessMs: () => store.stalenessMs(),
      replacedHistories: () => store.replacedHistories(),
      close,
    }
  } catch (error) {
    // A process that ends with a thread still listening is aborted by the HTTP library.
    await close().catch((closeError: unknown) => {
      log.error({ err: closeError }, 'what had started could not be closed')
    })
    throw error
  }
}

/** Imports straight into the files of a store, where there are any. */
function contentLoader(store: Store, surroundings: Surroundings, heldBytesMax: number): ContentLoader {
  const { now, newId, newCommitId, attributesBytesMax, onBackgroundFault: onFault } = surroundings
  const isInFiles = store.directoryOf(ORGANIZATION_STORE_ID) !== null
  if (!isInFiles) {
    const shapes = new ContentShapes()
    return new LedgerLoader(store, newCommitId, () => ({
      ...shapes,
      now: now(),
      newId,
      attributesBytesMax,
      heldBytesMax,
    }))
  }
  const directoryOf = (id: string) => store.directoryOf(id)!
  return new ContentThread({
    entry: WORKER_URLS.contentImport,
    directoryOf,
    now,
    attributesBytesMax,
    heldBytesMax,
    onFault,
  })
}

/** Threads open it for themselves; what is wrong with it is said before anything starts. */
function requireWritable(decisionLog: string): void {
  try {
    closeSync(openSync(decisionLog, 'a'))
  } catch (error) {
    throw new AuthzError('INVALID_INPUT', `setting DECISION_LOG: ${(error as Error).message}`)
  }
}

/** Builds the lists of a fresh local copy in a thread of its own: minutes of work, beside decisions and commits. */
async function buildLists(directory: string, signal: AbortSignal): Promise<void> {
  const thread = new Worker(WORKER_URLS.listBuild, { workerData: { directory } })
  noteWritingThread(thread)
  const stop = () => thread.postMessage('stop')
  signal.addEventListener('abort', stop)
  const [code] = (await once(thread, 'exit')) as [number]
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (code !== 0) throw new Error(`the thread that builds lists ended with code ${code}`)
}

/**
 * Of several nodes that start together each would make another key, and a start without the operator's would take it from
 * the nodes that have it. Looked at before anything is written.
 */
function requireKeyForAll({ isShared }: Store, { apiKey }: Config): void {
  if (!isShared || apiKey !== null) return
  const message = 'expected a key, since the store is shared: give every node the same one'
  throw new AuthzError('INVALID_INPUT', `setting API_KEY: ${message}`)
}

/** The environments that are open, as they are now. */
function* figuresOf(
  environments: OpenEnvironments | null,
  indexes: SharedIndexes,
  store: Store,
): Iterable<EnvironmentFigures> {
  for (const { scope, projectKey, environmentKey } of environments?.all() ?? []) {
    const look = indexes.look(scope.environmentId)
    if (!look) continue
    const { assignments, tuples, records, bytes, ...figures } = look
    yield {
      ...figures,
      project: projectKey,
      environment: environmentKey,
      stalenessMs: store.stalenessMs(scope.environmentId),
      bytes: { header: bytes.header, graph: bytes.graph, closures: bytes.closures, schema: bytes.schema },
      facts: { assignments, tuples, records },
    }
  }
}

function statesOf(environments: OpenEnvironments | null): EnvironmentState[] {
  return (environments?.all() ?? []).map(({ projectKey, environmentKey, closure }) => ({
    project: projectKey,
    environment: environmentKey,
    isClosed: closure !== null,
  }))
}

/** The port the threads share. Only a single thread can be left to find a free one for itself. */
function portFor({ host, port, httpThreads }: Config): Promise<number> | number {
  return port === 0 && httpThreads === 1 ? 0 : reservePort({ host, port })
}

interface EnvironmentParts {
  readonly store: Store
  readonly organization: Organization
  readonly indexes: SharedIndexes
  readonly surroundings: Surroundings
  readonly turns: FairTurns
  readonly longReads: ReadLanes
  readonly auditRetentionMs: number
  readonly log: Logger
}

/** Opens an environment, or has it closed for a reason; of its own background work nothing is the end of the process. */
function openEnvironment(known: KnownEnvironment, parts: EnvironmentParts): Promise<LiveEnvironment> {
  const { store, organization, indexes, auditRetentionMs, log } = parts
  const { scope, projectKey, environmentKey } = known
  const { environmentId } = scope
  const names = { environment: environmentId, project: projectKey, key: environmentKey }
  return LiveEnvironment.open({
    scope,
    auditRetentionMs,
    turns: parts.turns.share(),
    longReads: parts.longReads.lane(),
    indexes,
    surroundings: {
      ...parts.surroundings,
      onBackgroundFault: error => log.error({ ...names, err: error }, 'background work failed'),
    },
    openStore: onUnreachable =>
      store.environment(environmentId, {
        begin: organization.isBegun(environmentId) ? 'never' : 'always',
        onUnreachable,
      }),
    dropStore: () => store.drop(environmentId),
    onClosed: ({ reason }, error) =>
      log.error(
        { ...names, reason, err: error },
        'an environment is closed: its decisions are refused, the others go on; trying again',
      ),
    onOpened: ({ reason }) => log.warn({ ...names, reason }, 'an environment that was closed is open again'),
  })
}

/**
 * Makes a key when there is none yet, or none any more that anybody could use. The first start, if nothing is configured,
 * fills the default environment with the sample workspace, too.
 */
async function ensureKey(parts: {
  readonly organization: Organization
  readonly config: Config
  readonly environments: OpenEnvironments
}): Promise<{ readonly apiKey: string; readonly hasSampleWorkspace: boolean } | null> {
  const { organization, config, environments } = parts
  const isFirstStart = organization.isNew()
  if (!isFirstStart && (organization.hasKeys() || config.adminApiKey !== null)) return null
  const hasSampleWorkspace = isFirstStart && config.storeUrl === null
  // The sample first: a crash before the key is kept makes the next start a first one again.
  if (hasSampleWorkspace) {
    for (const { service } of environments.all()) if (service) await loadSampleWorkspace(service)
  }
  return { apiKey: await organization.addGeneratedKey(), hasSampleWorkspace }
}
