/**
 * Manages the HTTP threads from the main thread: starts them, gives them indexes, executes their management
 * requests, and closes them. If a thread dies, the process must end: the owner of this object is notified
 * once.
 */
import type { Worker } from 'node:worker_threads'
import type { WaitingClient } from '#model/caller.ts'
import type { NodeQuestion } from '#decisions/questions/node-question.ts'
import type { NodeState } from '#decisions/questions/node-state.ts'
import { unmarked } from '#management/operations/answer-marks.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import type { SessionChanges, SessionUse } from '#management/sessions/session-directory.ts'
import type { ManagementAnswer, ManagementRequest } from '#management/management-service.ts'
import { InvariantError } from '#model/assert.ts'
import { type ErrorData, errorToData, isUnreportedFault } from '#model/errors.ts'
import { formatRevision } from '#model/revision.ts'
import type { ThreadCountersHandle } from '#telemetry/thread-counters.ts'
import type { ProgressHandle } from '#threads/indexes/index-progress.ts'
import type { AttachedIndex } from '#threads/indexes/shared-indexes.ts'
import { answerText } from './answer-text.ts'
import type {
  Credential,
  FromHttpThread,
  HttpThreadOptions,
  ManagementAnswerMessage,
  NamedRequest,
  ToHttpThread,
} from './messages.ts'
import { Outbox } from './outbox.ts'
import { SharedCount } from './shared-count.ts'
import { isAboutStreams, isSubscription, ThreadStreams } from './thread-streams.ts'
import { isAboutPieces, isPieceSource, ThreadPieces } from './thread-pieces.ts'
import { type WaitingThread, waitingThread } from './waiting-thread.ts'

/** Listening stops when no connection has arrived for this long. */
const QUIET_MS = 20
const HOLD_MS_MAX = 1_000
/** How long `close` lets the threads complete in-flight requests. */
const DRAIN_MS = 5_000
interface PendingAcknowledgement {
  readonly resolve: () => void
  readonly waitingFor: Set<Worker>
}

export interface HttpThreadsOptions {
  readonly entry: URL
  readonly count: number
  /** Limit of the bytes of changes that are in transit to one thread. */
  readonly streamBytesMax: number
  /** `waiting` states whether the caller is still connected. */
  execute(
    request: ManagementRequest,
    body: PieceSource | null,
    waiting: WaitingClient,
  ): Promise<ManagementAnswer>
  /** Returns the requested information about the node as text. */
  describeNode(question: NodeQuestion): Promise<string>
  /** A thread has authenticated a caller with that key. */
  onKeyUsed(keyId: string): void
  /** A request came in that session. Returns the use for the other threads. */
  onSessionUsed(sessionId: string): SessionUse
  /** A thread has sent the handle of its counters. */
  onCounters(thread: string, handle: ThreadCountersHandle): void
  /**
   * An operation hit a defect of the service. Its caller receives `INTERNAL`; only this hook receives the
   * reason.
   */
  onFault(error: unknown, request: NamedRequest): void
  /** A thread ended unexpectedly or reported an error, or an invariant is broken. */
  onDeath(error: Error): void
}

export class HttpThreads {
  readonly #options: HttpThreadsOptions
  readonly #threads = new Map<Worker, string>()
  readonly #outboxes = new Map<Worker, Outbox<ToHttpThread>>()
  /** Threads that load their code and serve nothing yet. */
  readonly #waiting = new Set<Worker>()
  readonly #pending = new Map<number, PendingAcknowledgement>()
  readonly #piecesOfThreads = new Map<Worker, ThreadPieces>()
  readonly #streamsOfThreads = new Map<Worker, ThreadStreams>()
  /** Calls of each thread without a response. */
  readonly #callsOfThreads = new Map<Worker, Map<number, { isGone: boolean }>>()
  #lastAcknowledge = 0
  /** Credentials that the threads were started with; null after the first call of `replaceCredentials`. */
  #begunWith: readonly Credential[] | null = null
  #isClosing = false
  /** Number of connections that the threads have accepted; null before there are threads. */
  #accepted: SharedCount | null = null

  constructor(options: HttpThreadsOptions) {
    this.#options = options
  }

  /**
   * Starts the threads, all on one port, and returns the port. They load their code at the same time and
   * start to listen one after the other. Port 0 is allowed for a single thread only. Throws if a thread
   * cannot listen.
   */
  async start(options: HttpThreadOptions<unknown>): Promise<number> {
    this.#accepted = new SharedCount(options.counts, 'accepted')
    this.#begunWith = options.credentials
    const started = Array.from({ length: this.#options.count }, (_, n) => {
      const waiting = waitingThread(this.#options.entry, n + 1)
      // From now on, the thread receives all orders. It executes them when it listens.
      this.#threads.set(waiting.worker, waiting.name)
      this.#waiting.add(waiting.worker)
      const listening = this.#watch(waiting)
      // The loop below handles the error.
      listening.catch(() => {})
      return { waiting, listening }
    })
    let { port } = options
    try {
      for (const { waiting, listening } of started) {
        this.#waiting.delete(waiting.worker)
        waiting.begin({ ...options, port })
        port = await listening
      }
    } catch (error) {
      // The other threads will not be started. Without these calls, callers would wait forever for the
      // acknowledgements of these threads.
      this.#isClosing = true
      this.#endWaiting()
      throw error
    }
    return port
  }

  #endWaiting(): void {
    for (const thread of this.#waiting) void thread.terminate()
    this.#waiting.clear()
  }

  /** Resolves with the port when the thread listens. */
  #watch({ worker: thread, name }: WaitingThread): Promise<number> {
    this.#outboxes.set(thread, new Outbox(thread))
    return new Promise((resolve, reject) => {
      thread.on('message', (messages: readonly FromHttpThread[]) => {
        for (const message of messages) {
          if (message.kind === 'listening') resolve(message.port)
          else if (message.kind === 'listen-failed') reject(new Error(message.message))
          else if (message.kind === 'counters') this.#options.onCounters(name, message.handle)
          else this.#receive(thread, message)
        }
      })
      thread.on('error', error => {
        reject(error)
        this.#options.onDeath(error)
      })
      thread.on('exit', code => {
        this.#forget(thread)
        if (!this.#isClosing)
          this.#options.onDeath(new Error(`an HTTP thread exited unexpectedly with code ${code}`))
      })
    })
  }

  /**
   * Resolves when all running threads use these credentials and no others. Threads that do not listen yet
   * will use them then.
   */
  replaceCredentials(credentials: readonly Credential[]): Promise<void> {
    const begunWith = this.#begunWith
    this.#begunWith = null
    // When the environments are opened for the first time, the credentials of the organization are still the
    // same.
    if (begunWith !== null && JSON.stringify(begunWith) === JSON.stringify(credentials))
      return Promise.resolve()
    return this.#sendAcknowledged(acknowledge => ({ kind: 'credentials', credentials, acknowledge }))
  }

  /** Resolves when all running threads use these changes. */
  applySessions(changes: SessionChanges): Promise<void> {
    const { places, ...differences } = changes
    const isEmpty = places === null && Object.values(differences).every(each => each.length === 0)
    if (isEmpty) return Promise.resolve()
    return this.#sendAcknowledged(acknowledge => ({ kind: 'sessions', changes, acknowledge }))
  }

  setState(state: NodeState): void {
    this.#send({ kind: 'state', state })
  }

  /** Gives an index to every thread; resolves when all running threads use it for decisions. */
  attach(environmentId: string, index: AttachedIndex): Promise<void> {
    return this.#sendAcknowledged(acknowledge => ({ kind: 'attach', environmentId, index, acknowledge }))
  }

  /**
   * Gives every thread the shared cell with the visible revision of the organization. They see later updates
   * in the cell.
   */
  followOrganization(progress: ProgressHandle): void {
    this.#send({ kind: 'organization', progress })
  }

  /**
   * Removes the index of an environment, with the given reason; resolves when no thread uses it for decisions
   * any more.
   */
  detach(environmentId: string, reason: string | null): Promise<void> {
    return this.#sendAcknowledged(acknowledge => ({ kind: 'detach', environmentId, reason, acknowledge }))
  }

  /** Continues to serve, and asks clients to send their next requests to another node. */
  drain(): void {
    this.#send({ kind: 'drain' })
  }

  /** Seconds that each thread has been busy since it started. */
  *activeSeconds(): Iterable<readonly [thread: string, seconds: number]> {
    for (const [thread, name] of this.#threads) {
      yield [name, thread.performance.eventLoopUtilization().active / 1_000]
    }
  }

  /**
   * Stops listening, completes in-flight requests, and ends the threads. Every established connection is
   * served, because the kernel resets connections that are still queued when a port is closed. Therefore new
   * requests are held until all threads have stopped listening. The threads stop when no more connections
   * arrive: a client that waits for a response does not open a new connection.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#holdUntilNobodyComes()
    await this.#sendAcknowledged(acknowledge => ({ kind: 'stop-listening', acknowledge }))
    await this.#end(DRAIN_MS)
  }

  /**
   * Ends the threads without completing their requests, before a faulty process exits: the HTTP library
   * aborts the process if a thread still listens. Returns whether all threads ended in time. A thread that
   * hangs, or whose pool thread hangs, does not end.
   */
  async abandon(withinMs: number): Promise<boolean> {
    const patience = new Promise<boolean>(resolve => setTimeout(resolve, withinMs, false))
    return Promise.race([this.#end(0).then(() => true), patience])
  }

  async #holdUntilNobodyComes(): Promise<void> {
    const until = performance.now() + HOLD_MS_MAX
    let accepted
    do {
      accepted = this.#accepted?.value
      // A thread acknowledges after it has handled the connections that the kernel had already reported to
      // it.
      await this.#sendAcknowledged(acknowledge => ({ kind: 'hold', acknowledge }))
      await new Promise(resolve => setTimeout(resolve, QUIET_MS))
      await this.#sendAcknowledged(acknowledge => ({ kind: 'hold', acknowledge }))
    } while (this.#accepted?.value !== accepted && performance.now() < until)
  }

  async #end(withinMs: number): Promise<void> {
    this.#isClosing = true
    const ended = [...this.#threads.keys()].map(
      thread => new Promise(resolve => thread.once('exit', resolve)),
    )
    this.#send({ kind: 'close', withinMs })
    // These threads do not accept orders.
    this.#endWaiting()
    await Promise.all(ended)
  }

  #receive(thread: Worker, message: FromHttpThread): void {
    if (message.kind === 'acknowledged') this.#acknowledge(thread, message.acknowledge)
    else if (message.kind === 'manage') void this.#manage(thread, message)
    else if (message.kind === 'key-used') this.#options.onKeyUsed(message.keyId)
    else if (message.kind === 'session-used') this.#extendSession(message.sessionId)
    else if (message.kind === 'ask-node') void this.#describeNode(thread, message)
    else if (message.kind === 'abandon') this.#abandon(thread, message.call)
    else if (isAboutStreams(message)) this.#streamsOfThreads.get(thread)?.receive(message)
    else if (isAboutPieces(message)) this.#pieces(thread).receive(message)
  }

  #extendSession(sessionId: string): void {
    const use = this.#options.onSessionUsed(sessionId)
    for (const outbox of this.#outboxes.values()) outbox.send({ kind: 'session-used', use })
  }

  async #manage(
    thread: Worker,
    { call, request, hasBody }: FromHttpThread & { readonly kind: 'manage' },
  ): Promise<void> {
    const pieces = this.#pieces(thread)
    const body = hasBody ? pieces.bodyOf(call) : null
    const calls = this.#calls(thread)
    const waiting = { isGone: false }
    calls.set(call, waiting)
    const work = async (): Promise<ManagementAnswerMessage> => {
      const { answer: given, revisions } = await this.#options.execute(request, body, waiting)
      const revision = revisions.map(formatRevision).join(', ')
      if (isSubscription(given)) {
        this.#keepStream(thread, call, { subscription: given, dataOf: error => this.#dataOf(error, request) })
        return { isStream: true, revision }
      }
      if (isPieceSource(given)) {
        pieces.keepAnswer(call, { source: given, dataOf: error => this.#dataOf(error, request) })
        return { inPieces: true, revision }
      }
      const { body: result, ...marks } = unmarked(given)
      return { json: result === undefined ? null : await answerText(result), ...marks, revision }
    }
    // A response that cannot be serialized also becomes an error.
    const answer = await work().catch((error: unknown): ManagementAnswerMessage => ({
      error: this.#dataOf(error, request),
    }))
    pieces.forgetBody(call)
    calls.delete(call)
    const isInBytes = 'json' in answer && answer.json instanceof Uint8Array
    const moved = isInBytes ? [(answer.json as Uint8Array<ArrayBuffer>).buffer] : []
    this.#outboxes.get(thread)?.send({ kind: 'answer', call, answer }, moved)
  }

  #keepStream(thread: Worker, call: number, stream: Parameters<ThreadStreams['keep']>[1]): void {
    // The thread ended while the stream was opened.
    if (!this.#threads.has(thread)) {
      stream.subscription.cancel()
      return
    }
    const known = this.#streamsOfThreads.get(thread)
    const send = (message: ToHttpThread): void => this.#outboxes.get(thread)?.send(message)
    const streams = known ?? new ThreadStreams(send, this.#options.streamBytesMax)
    this.#streamsOfThreads.set(thread, streams)
    streams.keep(call, stream)
  }

  /** Marks a call whose caller has disconnected. The response might already be in transit. */
  #abandon(thread: Worker, call: number): void {
    const waiting = this.#callsOfThreads.get(thread)?.get(call)
    if (waiting) waiting.isGone = true
  }

  #calls(thread: Worker): Map<number, { isGone: boolean }> {
    const known = this.#callsOfThreads.get(thread)
    if (known) return known
    const calls = new Map<number, { isGone: boolean }>()
    this.#callsOfThreads.set(thread, calls)
    return calls
  }

  /**
   * Returns the error as data for the thread, which sends the response. Reports a fault here, where its cause
   * is known.
   */
  #dataOf(error: unknown, request: NamedRequest): ErrorData {
    if (!isUnreportedFault(error)) return errorToData(error)
    this.#options.onFault(error, request)
    // A broken invariant can have damaged any other state. As in a thread, it ends the process after the
    // response.
    if (error instanceof InvariantError) setImmediate(() => this.#options.onDeath(error))
    return { ...errorToData(error), isReported: true }
  }

  async #describeNode(
    thread: Worker,
    { call, question, by }: FromHttpThread & { readonly kind: 'ask-node' },
  ): Promise<void> {
    const answer = await this.#options.describeNode(question).then(
      json => ({ json, isCreated: false, warning: null, revision: '' }),
      (error: unknown) => ({ error: this.#dataOf(error, by) }),
    )
    this.#outboxes.get(thread)?.send({ kind: 'answer', call, answer })
  }

  #pieces(thread: Worker): ThreadPieces {
    const known = this.#piecesOfThreads.get(thread)
    if (known) return known
    const pieces = new ThreadPieces(message => this.#outboxes.get(thread)?.send(message))
    this.#piecesOfThreads.set(thread, pieces)
    return pieces
  }

  #sendAcknowledged(messageWith: (acknowledge: number) => ToHttpThread): Promise<void> {
    this.#lastAcknowledge += 1
    const acknowledge = this.#lastAcknowledge
    if (this.#threads.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#pending.set(acknowledge, { resolve, waitingFor: new Set(this.#threads.keys()) })
      this.#send(messageWith(acknowledge))
    })
  }

  #send(message: ToHttpThread): void {
    for (const outbox of this.#outboxes.values()) outbox.sendNow(message)
  }

  #acknowledge(thread: Worker, acknowledge: number): void {
    const pending = this.#pending.get(acknowledge)
    if (!pending) return
    pending.waitingFor.delete(thread)
    if (pending.waitingFor.size > 0) return
    this.#pending.delete(acknowledge)
    pending.resolve()
  }

  /**
   * Removes a thread that has ended. It makes no more decisions, so only the other threads must acknowledge.
   */
  #forget(thread: Worker): void {
    this.#threads.delete(thread)
    this.#outboxes.delete(thread)
    this.#piecesOfThreads.get(thread)?.end()
    this.#piecesOfThreads.delete(thread)
    this.#streamsOfThreads.get(thread)?.end()
    this.#streamsOfThreads.delete(thread)
    for (const waiting of this.#callsOfThreads.get(thread)?.values() ?? []) waiting.isGone = true
    this.#callsOfThreads.delete(thread)
    for (const acknowledge of this.#pending.keys()) this.#acknowledge(thread, acknowledge)
  }
}
