/**
 * Runs an HTTP thread: its servers, one engine per environment, and everything else that decisions need. The
 * main thread sends orders over a port. Reports a broken invariant to the creator of this object, which ends
 * the thread.
 */
import { type MessagePort, threadId } from 'node:worker_threads'
import type { ThreadSettings } from '#config/settings.ts'
import { MinRevision } from '#decisions/questions/min-revision.ts'
import { type NodeState, STARTING } from '#decisions/questions/node-state.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { longBodiesBytesMax, SegmentStock } from '#http/edge/body-segments.ts'
import { CrossOrigin } from '#http/edge/cross-origin.ts'
import { HttpServer } from '#http/edge/server.ts'
import { LargeAnswers } from '#http/routing/large-answers.ts'
import { LargeBodies } from '#http/routing/large-bodies.ts'
import { SessionAccess } from '#http/routing/session-access.ts'
import { InvariantError } from '#model/assert.ts'
import { KEY_USE_GRAIN_MS } from '#model/limits.ts'
import type { Principal } from '#model/principal.ts'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { ApiKeyAuthentication } from '#threads/channel/api-key-authentication.ts'
import { KeyRates } from '#threads/channel/key-rates.ts'
import { ChangeStreamReaders } from '#threads/channel/change-stream-readers.ts'
import { ManagementClient } from '#threads/channel/management-client.ts'
import { Outbox } from '#threads/channel/outbox.ts'
import type {
  Credential,
  FromHttpThread,
  HttpThreadOptions,
  ToHttpThread,
} from '#threads/channel/messages.ts'
import { ThreadSessions } from '#threads/channel/session-authentication.ts'
import { SharedCount } from '#threads/channel/shared-count.ts'
import { StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { EngineReaders } from '#threads/indexes/engine-readers.ts'
import type { OpenTracing } from '#composition/process/open-tracing.ts'
import { ThreadPools } from './thread-pools.ts'
import { kongThreadRoutes, opaThreadRoutes, threadRoutes } from './thread-routes.ts'
import { ThreadTelemetry } from '#composition/node/thread-telemetry.ts'

const TIMER_EARLY_MS = 50

type Options = HttpThreadOptions<ThreadSettings>

export interface HttpThreadParts {
  readonly openTracing: OpenTracing
  readonly onFault: (error: InvariantError) => void
  /** Called once, when the thread starts to make decisions. */
  readonly onServing?: () => void
}

export class HttpThread {
  readonly #main: MessagePort
  readonly #outbox: Outbox<FromHttpThread>
  readonly #options: Options
  readonly #telemetry: ThreadTelemetry
  readonly #credentials: ApiKeyAuthentication
  /** Null if uses of keys are not counted. */
  readonly #keyRates: KeyRates | null
  /** Null if sign-in is not configured. */
  readonly #sessions: ThreadSessions | null
  readonly #sessionAccess: SessionAccess | null
  readonly #deadline: StalenessDeadline
  readonly #engines: EngineReaders
  readonly #minRevision: MinRevision
  readonly #sliced = new ThreadScheduler(new TimeBudget('http'))
  /** Null if there are no pools. This thread then does all work itself. */
  readonly #pools: ThreadPools | null
  readonly #management: ManagementClient
  readonly #streams: ChangeStreamReaders
  readonly #server: HttpServer
  /** Servers on additional ports, if they are configured. */
  readonly #others: readonly { readonly server: HttpServer; readonly port: number }[]
  /**
   * Null if no environment accepts Kong requests without credentials, or if that environment is not known
   * yet.
   */
  #kongCaller: Principal | null = null
  #state: NodeState = STARTING
  #onServing: () => void
  #forgettingUses: NodeJS.Timeout | undefined

  /**
   * Accepts orders from now on. The order `listen` starts listening. `onFault` is called if a request hits a
   * broken invariant: the creator of this object must then call `abandon`.
   */
  constructor(
    main: MessagePort,
    options: Options,
    { openTracing, onFault, onServing = () => {} }: HttpThreadParts,
  ) {
    const { counts, settings, tokenSecret } = options
    this.#main = main
    this.#onServing = onServing
    this.#outbox = new Outbox(main)
    this.#options = options
    const telemetry = new ThreadTelemetry(settings, openTracing)
    this.#telemetry = telemetry
    this.#deadline = new StalenessDeadline(options.deadline)
    this.#engines = new EngineReaders(
      handle =>
        new SharedIndexReader(handle, {
          // Thread ids start at 1, because 0 in the lock word of an index means that no thread holds the
          // lock.
          threadId: threadId + 1,
          lockEveryRead: process.arch !== 'x64',
        }),
      this.#deadline,
    )
    this.#streams = new ChangeStreamReaders(message => this.#outbox.send(message), {
      bytesMax: settings.changeStreamBytesMax,
      // All threads together hold at most a quarter of the limit. Another quarter is in transit to them, and
      // readers that catch up use half.
      heldMax: settings.changeStreamsBytesMax / 4 / settings.httpThreads,
      counters: telemetry.counters,
    })
    const queue = {
      inFlight: new SharedCount(counts, 'management'),
      max: settings.managementQueueMax,
      threads: settings.httpThreads,
    }
    this.#management = new ManagementClient(this.#outbox, queue, this.#streams)
    const clocks = { now: Date.now, elapsedMs: () => performance.now() }
    this.#credentials = new ApiKeyAuthentication(clocks, keyId =>
      this.#outbox.send({ kind: 'key-used', keyId }),
    )
    this.#sessions =
      options.sessions &&
      new ThreadSessions(options.sessions, {
        clocks,
        idleMs: settings.sessionIdleSeconds * 1_000,
        onUse: sessionId => this.#outbox.send({ kind: 'session-used', sessionId }),
      })
    this.#minRevision = new MinRevision(this.#engines, settings.minRevisionWaitMs)
    this.#sessionAccess =
      this.#sessions &&
      new SessionAccess(this.#sessions, settings.publicUrl!, revision => this.#minRevision.isPast(revision))
    this.#forgetUsesInTime()
    this.#keyRates =
      options.keyRates &&
      new KeyRates(options.keyRates, settings.requestsPerSecondMax!, Date.now, this.#sessions?.slotOf)
    this.#replaceCredentials(options.credentials)
    const pools =
      settings.poolThreads === 0
        ? null
        : new ThreadPools(this.#engines, telemetry, { settings, tokenSecret, sliced: this.#sliced })
    this.#pools = pools
    telemetry.measure((counters, pauses) => {
      if (!pools) return
      pauses.note('pool', pools.jobs.takeLongestPauseMs())
      pauses.note('body', pools.bodies.takeLongestPauseMs())
      const { jobs, threads, busySeconds } = pools.figures()
      counters.set('poolJobs', jobs)
      counters.set('poolThreads', threads)
      counters.set('poolBusySeconds', busySeconds)
    })
    const edge = this.#edge(onFault)
    const answers = new LargeAnswers(settings.listedBytesMax)
    this.#server = new HttpServer({
      ...edge,
      routes: this.#routes(answers),
      crossOrigin: options.settings.corsOrigins && new CrossOrigin(options.settings.corsOrigins),
      largeBodies: pools && new LargeBodies(pools.bodies, answers),
      sessions: this.#sessionAccess,
    })
    const parts = this.#routeParts(answers)
    const { opaPort, kongPort } = settings
    this.#others = [
      ...(opaPort === null
        ? []
        : [
            {
              port: opaPort,
              server: new HttpServer({ ...edge, routes: opaThreadRoutes(parts), familyOf: () => 'opa' }),
            },
          ]),
      ...(kongPort === null
        ? []
        : [
            {
              port: kongPort,
              server: new HttpServer({ ...edge, routes: kongThreadRoutes(parts, () => this.#kongCaller) }),
            },
          ]),
    ]
    main.on('message', (messages: readonly ToHttpThread[]) => {
      for (const message of messages) this.#receive(message)
    })
  }

  get #servers(): HttpServer[] {
    return [this.#server, ...this.#others.map(({ server }) => server)]
  }

  /** Options that all servers share. */
  #edge(onFault: (error: InvariantError) => void) {
    const { counts, settings } = this.#options
    const { counters, log, slow, tracing } = this.#telemetry
    const connections = new SharedCount(counts, 'connections')
    const accepted = new SharedCount(counts, 'accepted')
    const countConnection = (change: 1 | -1): number => {
      if (change === 1) accepted.add(1)
      return connections.add(change)
    }
    return {
      authenticate: this.#credentials.authenticate,
      limits: {
        bodyBytesMax: settings.bodyBytesMax,
        receiveMsMax: settings.receiveMsMax,
        connections: { max: settings.connectionsMax, add: countConnection },
      },
      budget: this.#sliced.budget,
      segments: new SegmentStock(longBodiesBytesMax(settings.bodyBytesMax)),
      observer: counters,
      tracing,
      slow,
      takeRate: this.#keyRates && this.#keyRates.take,
      minRevision: this.#minRevision,
      hasStrictHeaders: settings.hasStrictHeaders,
      logsDecisions: settings.decisionLog !== null,
      onFault: (error: unknown, requestId: string) => {
        log.error({ err: error, requestId }, 'a request failed')
        if (error instanceof InvariantError) onFault(error)
      },
    }
  }

  #routes(answers: LargeAnswers) {
    return threadRoutes({
      ...this.#routeParts(answers),
      hasBodyThread: this.#pools !== null,
      management: this.#management,
      health: {
        isReady: () => this.#state.isServing && !this.#deadline.isOver,
        isFresh: () => this.#state.isFresh,
        writeRefusal: () => this.#state.writeRefusal,
      },
      node: this.#management,
      authenticate: this.#credentials.authenticate,
      sessions: this.#sessionAccess,
    })
  }

  /** Dependencies of the routes of all servers. */
  #routeParts(answers: LargeAnswers) {
    const { settings, tokenSecret } = this.#options
    const { observer } = this.#telemetry
    return {
      answers,
      engines: this.#engines,
      observer,
      tokenSecret,
      settings,
      sliced: this.#sliced,
      pool: this.#pools && this.#pools.jobs,
    }
  }

  /**
   * Reports the port to the main thread, or the error if listening fails. In that case everything is closed.
   */
  async listen(): Promise<void> {
    const { host, port } = this.#options
    const { counters } = this.#telemetry
    if (counters) this.#send({ kind: 'counters', handle: counters.handle })
    try {
      for (const { server, port: own } of this.#others) await server.listen({ host, port: own })
      this.#send({ kind: 'listening', port: await this.#server.listen({ host, port }) })
    } catch (error) {
      await this.#close({ withinMs: 0 })
      this.#send({ kind: 'listen-failed', message: error instanceof Error ? error.message : String(error) })
    }
  }

  /** Closes everything immediately, after a fault that ends the thread. */
  async abandon(error: unknown): Promise<void> {
    this.#telemetry.log.fatal({ err: error }, 'this HTTP thread exits because of a defect')
    await this.#close({ withinMs: 0 })
  }

  async #close(patience: { readonly withinMs: number }): Promise<void> {
    clearTimeout(this.#forgettingUses)
    this.#streams.sendAway({ isForGood: true })
    await Promise.all(this.#servers.map(server => server.close(patience)))
    await this.#pools?.close()
    await this.#telemetry.close()
  }

  #receive(message: ToHttpThread): void {
    switch (message.kind) {
      case 'credentials':
        this.#replaceCredentials(message.credentials)
        this.#acknowledge(message)
        break
      case 'sessions':
        this.#sessions?.apply(message.changes)
        this.#streams.lookAtKeys()
        this.#acknowledge(message)
        break
      case 'session-used':
        this.#sessions?.extend(message.use)
        break
      case 'organization':
        this.#engines.followOrganization(message.progress)
        break
      case 'state':
        this.#become(message.state)
        break
      case 'answer':
        this.#management.receive(message.call, message.answer)
        break
      case 'pull-body':
        void this.#management.pullBody(message.call)
        break
      case 'cancel-body':
        this.#management.cancelBody(message.call)
        break
      case 'answer-piece':
        this.#management.receivePiece(message.call, message.piece)
        break
      case 'stream-piece':
        this.#streams.receivePiece(message.call, message.piece)
        break
      case 'stream-batch':
        this.#streams.receiveBatch(message)
        break
      case 'drain':
        this.#streams.sendAway({ isForGood: false })
        for (const server of this.#servers) server.drain()
        break
      case 'hold':
        this.#streams.sendAway({ isForGood: true })
        for (const server of this.#servers) server.hold()
        this.#acknowledge(message)
        break
      case 'stop-listening':
        void Promise.all(this.#servers.map(server => server.stopListening())).then(() =>
          this.#acknowledge(message),
        )
        break
      case 'close':
        void this.#close(message).then(() => this.#main.close())
        break
      case 'attach':
        this.#engines.attach(message.environmentId, message.index)
        this.#pools?.letGo()
        this.#acknowledge(message)
        break
      case 'detach':
        this.#engines.detach(message.environmentId, message.reason)
        this.#pools?.letGo()
        this.#acknowledge(message)
    }
  }

  #become(state: NodeState): void {
    this.#state = state
    if (!state.isServing) return
    // Requests that have already arrived are handled before the callback runs.
    setImmediate(this.#onServing)
    this.#onServing = () => {}
  }

  #replaceCredentials(replacing: readonly Credential[]): void {
    this.#credentials.replaceAll(replacing)
    this.#streams.lookAtKeys()
    this.#keyRates?.replaceAll(replacing)
    const asked = this.#options.settings.kongEnvironment
    this.#kongCaller = asked && this.#credentials.callerOf(asked.project, asked.environment)
  }

  /** Forgets uses of keys at the start of each interval of ten minutes. */
  #forgetUsesInTime(): void {
    const leftMs = KEY_USE_GRAIN_MS - (Date.now() % KEY_USE_GRAIN_MS)
    // A timer can fire slightly early.
    this.#forgettingUses = setTimeout(() => {
      this.#credentials.forgetUses()
      this.#forgetUsesInTime()
    }, leftMs + TIMER_EARLY_MS)
    this.#forgettingUses.unref()
  }

  #acknowledge({ acknowledge }: { readonly acknowledge: number }): void {
    this.#send({ kind: 'acknowledged', acknowledge })
  }

  #send(message: FromHttpThread): void {
    this.#outbox.sendNow(message)
  }
}
