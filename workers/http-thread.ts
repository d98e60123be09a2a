/**
 * An HTTP thread: its servers, one engine an environment, everything a decision needs. It takes its orders from the main
 * thread. A fault that is a broken invariant closes the server and ends the thread, and with it the process.
 */
import { performance } from 'node:perf_hooks'
import { parentPort, threadId, workerData } from 'node:worker_threads'
import { WORKER_URLS } from '#composition/worker-urls.ts'
import { MinRevision } from '#decisions/min-revision.ts'
import { STARTING } from '#decisions/node-state.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import { longBodiesBytesMax, SegmentStock } from '#http/edge/body-segments.ts'
import { LargeAnswers } from '#http/routing/large-answers.ts'
import { LargeBodies } from '#http/routing/large-bodies.ts'
import type { SlowRequest } from '#http/edge/request-watch.ts'
import { HttpServer } from '#http/edge/server.ts'
import { assert, InvariantError } from '#model/assert.ts'
import { LIMIT_NAMES } from '#model/errors.ts'
import { DecisionLog } from '#telemetry/decision-log.ts'
import { createLog } from '#telemetry/log.ts'
import { LoopMeter } from '#telemetry/loop-meter.ts'
import { SlowRequestLog } from '#telemetry/slow-request-log.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'
import { BodyPool } from '#threads/pool/body-pool.ts'
import { CredentialCheck } from '#threads/channel/credential-check.ts'
import { DecisionDeadline } from '#threads/indexes/decision-deadline.ts'
import { EngineReaders } from '#threads/indexes/engine-readers.ts'
import { JobPool } from '#threads/pool/job-pool.ts'
import { KeyRates } from '#threads/channel/key-rates.ts'
import { ManagementClient } from '#threads/channel/management-client.ts'
import type {
  Credential,
  FromHttpThread,
  HttpThreadOptions,
  ToHttpThread,
} from '#threads/channel/messages.ts'
import type { PoolThreadEvents } from '#threads/pool/pool-options.ts'
import { sumOf } from '#threads/pool/pool-threads.ts'
import { SharedCount } from '#threads/channel/shared-count.ts'
import { collectGarbage } from '../src/composition/collect-garbage.ts'
import { observeBoth } from '../src/composition/decision-observers.ts'
import { opaThreadRoutes, threadRoutes } from '../src/composition/thread-routes.ts'
import type { ThreadSettings } from '../src/config/config.ts'

assert(parentPort, 'an HTTP thread is started by the main thread')
const main = parentPort
const options = workerData as HttpThreadOptions<ThreadSettings>
const { host, port, tokenSecret, counts, settings } = options
// OpenTelemetry is a megabyte of objects in each thread, which most do without. Awaited before anything is at work.
const tracing = settings.hasTracing ? new (await import('#telemetry/tracing.ts')).Tracing() : null
const log = createLog(settings.logLevel)
const deadline = new DecisionDeadline(options.deadline)
// Thread ids begin with 1 here: in the lock word of an index 0 means that nobody holds it.
const engines = new EngineReaders(
  handle =>
    new SharedIndexReader(handle, {
      threadId: threadId + 1,
      lockEveryRead: process.arch !== 'x64',
    }),
  deadline,
)
const management = new ManagementClient(main, {
  inFlight: new SharedCount(counts, 'management'),
  max: settings.managementQueueMax,
  threads: settings.httpThreads,
})
const credentials = new CredentialCheck({ now: Date.now, elapsedMs: () => performance.now() })
const keyRates = options.keyRates && new KeyRates(options.keyRates, settings.requestsPerSecondMax!, Date.now)
replaceCredentials(options.credentials)
let state = STARTING
/** There are some 150. */
const ENDPOINTS_MAX = 255

const counters = settings.metrics === 'on' ? ThreadCounters.create(LIMIT_NAMES, ENDPOINTS_MAX) : null
const loopMeter =
  counters &&
  new LoopMeter(counters, () => {
    if (pool !== null && bodyPool !== null) counters.pool(sumOf(pool.figures(), bodyPool.figures()))
  })
const decisionLog =
  settings.decisionLog === null
    ? null
    : new DecisionLog({
        destination: settings.decisionLog,
        share: settings.decisionLogShare,
        random: Math.random,
        now: Date.now,
        counters,
        onFault: error => log.error({ err: error }, 'the decision log cannot be written'),
      })
const slowRequests = new SlowRequestLog(log, () => performance.now())
const connections = new SharedCount(counts, 'connections')
const accepted = new SharedCount(counts, 'accepted')

const edge = {
  authenticate: credentials.authenticate,
  limits: {
    bodyBytesMax: settings.bodyBytesMax,
    receiveMsMax: settings.receiveMsMax,
    connections: { max: settings.connectionsMax, add: countConnection },
  },
  segments: new SegmentStock(longBodiesBytesMax(settings.bodyBytesMax)),
  observer: counters,
  tracing,
  slow:
    settings.slowRequestMs > 0
      ? { ms: settings.slowRequestMs, onSlow: (request: SlowRequest) => slowRequests.write(request) }
      : null,
  onCall: decisionLog && decisionLog.begin,
  takeRate: keyRates && keyRates.take,
  minRevision: new MinRevision(engines, settings.minRevisionWaitMs),
  hasStrictHeaders: settings.hasStrictHeaders,
  onFault: (error: unknown, requestId: string) => {
    log.error({ err: error, requestId }, 'a request failed')
    if (error instanceof InvariantError) void endAfterFault(error)
  },
}
const observer = decisionLog === null ? counters : observeBoth(counters, decisionLog)
const pool = settings.poolThreads === 0 ? null : createPool()
const bodyPool = pool === null ? null : createBodyPool()
const answers = new LargeAnswers(settings.listedBytesMax)
const routes = threadRoutes({
  answers,
  hasBodyThread: bodyPool !== null,
  engines,
  management,
  health: {
    isReady: () => state.isServing && !deadline.isOver,
    isFresh: () => state.isFresh,
    writeRefusal: () => state.writeRefusal,
  },
  metrics: management,
  observer,
  tokenSecret,
  settings,
  pool,
})
const largeBodies = bodyPool === null ? null : new LargeBodies(bodyPool, answers)
const server = new HttpServer({ ...edge, routes, largeBodies })
const opaServer = new HttpServer({
  ...edge,
  routes: opaThreadRoutes(engines, settings, observer),
  familyOf: () => 'opa',
})

function countConnection(change: 1 | -1): number {
  if (change === 1) accepted.add(1)
  return connections.add(change)
}

function replaceCredentials(replacing: readonly Credential[]): void {
  credentials.replaceAll(replacing)
  keyRates?.replaceAll(replacing)
}

function createPool(): JobPool {
  return new JobPool({
    ...poolEvents(),
    entry: WORKER_URLS.pool,
    threads: settings.poolThreads,
    jobsMax: settings.poolJobsMax,
    engine: environmentId => engines.shareable(environmentId),
  })
}

function createBodyPool(): BodyPool {
  const heard = decisionLog === null ? 'decisions' : 'questions'
  return new BodyPool({
    ...poolEvents(),
    entry: WORKER_URLS.bodies,
    data: { settings, tokenSecret, observes: observer === null ? 'nothing' : heard },
    bodyBytesMax: settings.bodyBytesMax,
    jobsMax: settings.poolJobsMax,
    bytesMax: longBodiesBytesMax(settings.bodyBytesMax),
    index: environmentId => engines.shareable(environmentId).index,
    observer,
    onCall: decisionLog && decisionLog.begin,
  })
}

function poolEvents(): PoolThreadEvents {
  return {
    onIndexFault: fault => log.error({ fault }, 'a job of the pool failed'),
    onThreadEnd: (id, error) => {
      log.error({ err: error }, 'a thread of the pool ended; its jobs were answered with an error')
      // What it held while it built a closure would be waited for forever.
      for (const handle of engines.handles()) takeOverLock(handle, id + 1)
    },
    onStartFailure: error => {
      log.error(
        { err: error },
        'threads of the pool could not be started; the HTTP thread does their work and tries again',
      )
    },
  }
}

function send(message: FromHttpThread): void {
  main.postMessage(message)
}

async function close(patience: { readonly withinMs: number }): Promise<void> {
  await Promise.all([server.close(patience), opaServer.close(patience)])
  await Promise.all([pool?.close(), bodyPool?.close()])
  loopMeter?.close()
  await decisionLog?.close()
}

/** The app must be closed before the thread ends: the process would be aborted otherwise. */
async function endAfterFault(error: unknown): Promise<void> {
  // What is thrown below is to end the thread.
  process.off('uncaughtException', endAfterFault)
  log.fatal({ err: error }, 'this HTTP thread ends')
  await close({ withinMs: 0 })
  setImmediate(() => {
    throw error
  })
}

// A message that could not be handled, too: what an engine missed it will never hear of again.
process.on('uncaughtException', endAfterFault)
main.on('message', receive)

function receive(message: ToHttpThread): void {
  switch (message.kind) {
    case 'credentials':
      replaceCredentials(message.credentials)
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
      break
    case 'organization':
      engines.followOrganization(message.progress)
      break
    case 'state':
      state = message.state
      break
    case 'answer':
      management.receive(message.call, message.answer)
      break
    case 'pull-body':
      void management.pullBody(message.call)
      break
    case 'cancel-body':
      management.cancelBody(message.call)
      break
    case 'answer-piece':
      management.receivePiece(message.call, message.piece)
      break
    case 'drain':
      server.drain()
      opaServer.drain()
      break
    case 'hold':
      server.hold()
      opaServer.hold()
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
      break
    case 'stop-listening':
      void Promise.all([server.stopListening(), opaServer.stopListening()]).then(() =>
        send({ kind: 'acknowledged', acknowledge: message.acknowledge }),
      )
      break
    case 'close':
      void close(message).then(() => main.close())
      break
    case 'attach':
      engines.attach(message.environmentId, message.index)
      pool?.letGo()
      bodyPool?.letGo()
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
      break
    case 'detach':
      engines.detach(message.environmentId, message.reason)
      pool?.letGo()
      bodyPool?.letGo()
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
  }
}

// Half of what loading modules leaves is garbage, and would stay: hardly anything joins the old objects from now on, so that they
// are not collected again, and each collection of new ones looks at all their pages.
collectGarbage('last-resort')
if (counters) send({ kind: 'counters', handle: counters.handle })
try {
  if (settings.opaPort !== null) await opaServer.listen({ host, port: settings.opaPort })
  send({ kind: 'listening', port: await server.listen({ host, port }) })
} catch (error) {
  await close({ withinMs: 0 })
  send({ kind: 'listen-failed', message: error instanceof Error ? error.message : String(error) })
}
