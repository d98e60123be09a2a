/**
 * The HTTP threads as the main thread holds them: starts them, hands them indexes, runs their management requests, and
 * closes them. The death of one is the death of the process: whoever owns this hears of it once.
 */
import { Worker } from 'node:worker_threads'
import type { Waiting } from '#decisions/decision-pool.ts'
import type { NodeState } from '#decisions/node-state.ts'
import { Created } from '#management/commands/created.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
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
  ManagementAnswer as ManagementAnswerMessage,
  ToHttpThread,
} from './messages.ts'
import { SharedCount } from './shared-count.ts'
import { isAboutPieces, isPieceSource, ThreadPieces } from './thread-pieces.ts'

/**
 * Megabytes for new objects, a third of which is in use: a megabyte, the least V8 has. It would let this grow to 48,
 * and then collect 16 at once, most of them buffers of bodies, which stops the thread for 0.9 ms; a megabyte is
 * collected thirteen times as often in an eighth of that, and in smaller steps still (`composition/v8-tuning.ts`). The p99 of
 * single decisions near the peak is half of what it was. What it costs: bulks of 10,000 that are parsed (not read from
 * their bytes) are a fifth fewer a second, since their objects survive. An operator's `--max-semi-space-size` goes
 * before it.
 */
const NEW_OBJECTS_MB = 3
/** For how long nobody must have come when the port is closed, and how long that is waited for. */
const QUIET_MS = 20
const HOLD_MS_MAX = 1_000
/** How long `close` lets the threads work off what is in flight. */
const DRAIN_MS = 5_000
interface Pending {
  readonly resolve: () => void
  readonly waitingFor: Set<Worker>
}

/** What failed: the name that its caller knows it by, and what was to be done. */
export interface FailedRequest {
  readonly requestId: string
  readonly operation: string
}

export interface HttpThreadsOptions {
  readonly entry: URL
  readonly count: number
  /** `waiting`: whether somebody still does. */
  execute(request: ManagementRequest, body: PieceSource | null, waiting: Waiting): Promise<ManagementAnswer>
  /** The metrics of the process, as text. */
  scrape(): Promise<string>
  /** A thread says where it counts. */
  onCounters(thread: string, handle: ThreadCountersHandle): void
  /** An operation met a defect of ours; its caller is told `INTERNAL`, and nobody else hears of the reason. */
  onFault(error: unknown, request: FailedRequest): void
  /** A thread ended that was not asked to, or answered with an error of its own; or an invariant is broken. */
  onDeath(error: Error): void
}

export class HttpThreads {
  readonly #options: HttpThreadsOptions
  readonly #threads = new Map<Worker, string>()
  readonly #pending = new Map<number, Pending>()
  readonly #piecesOfThreads = new Map<Worker, ThreadPieces>()
  /** Calls that were not answered yet, of each thread. */
  readonly #callsOfThreads = new Map<Worker, Map<number, { isGone: boolean }>>()
  #lastAcknowledge = 0
  #isClosing = false
  /** Connections that have come to the threads; null before there are threads. */
  #accepted: SharedCount | null = null

  constructor(options: HttpThreadsOptions) {
    this.#options = options
  }

  /** Starts the threads, all on one port, and returns it; 0 is for one thread only. Throws when one cannot listen. */
  async start(options: HttpThreadOptions<unknown>): Promise<number> {
    this.#accepted = new SharedCount(options.counts, 'accepted')
    let { port } = options
    for (let index = 0; index < this.#options.count; index += 1) {
      port = await this.#startThread(`http-${index + 1}`, { ...options, port })
    }
    return port
  }

  #startThread(name: string, workerData: HttpThreadOptions<unknown>): Promise<number> {
    const resourceLimits = { maxYoungGenerationSizeMb: NEW_OBJECTS_MB }
    const thread = new Worker(this.#options.entry, { workerData, name, resourceLimits })
    this.#threads.set(thread, name)
    return new Promise((resolve, reject) => {
      thread.on('message', (message: FromHttpThread) => {
        if (message.kind === 'listening') resolve(message.port)
        else if (message.kind === 'listen-failed') reject(new Error(message.message))
        else if (message.kind === 'counters') this.#options.onCounters(name, message.handle)
        else this.#receive(thread, message)
      })
      thread.on('error', error => {
        reject(error)
        this.#options.onDeath(error)
      })
      thread.on('exit', code => {
        this.#forget(thread)
        if (!this.#isClosing) this.#options.onDeath(new Error(`an HTTP thread ended by itself, code ${code}`))
      })
    })
  }

  /** Resolves when all threads that live go by these credentials and no others. */
  replaceCredentials(credentials: readonly Credential[]): Promise<void> {
    return this.#sendAcknowledged(acknowledge => ({ kind: 'credentials', credentials, acknowledge }))
  }

  setState(state: NodeState): void {
    this.#send({ kind: 'state', state })
  }

  /** Hands an index to every thread; resolves when all that live decide on it. */
  attach(environmentId: string, index: AttachedIndex): Promise<void> {
    return this.#sendAcknowledged(acknowledge => ({ kind: 'attach', environmentId, index, acknowledge }))
  }

  /** Tells every thread how far the organization is followed; what moves in it afterwards they see by themselves. */
  followOrganization(progress: ProgressHandle): void {
    this.#send({ kind: 'organization', progress })
  }

  /** Takes an environment's index back, for that reason; resolves when no thread decides on it any more. */
  detach(environmentId: string, reason: string | null): Promise<void> {
    return this.#sendAcknowledged(acknowledge => ({ kind: 'detach', environmentId, reason, acknowledge }))
  }

  /** Goes on serving, and asks callers to take their next requests elsewhere. */
  drain(): void {
    this.#send({ kind: 'drain' })
  }

  /** Seconds each thread has been at work since it started. */
  *activeSeconds(): Iterable<readonly [thread: string, seconds: number]> {
    for (const [thread, name] of this.#threads) {
      yield [name, thread.performance.eventLoopUtilization().active / 1_000]
    }
  }

  /**
   * Stops listening, lets what is in flight finish, and ends the threads. Every connection that was made is served: no new
   * ones are answered until all threads have stopped listening, and they do when no more come, since who waits for an
   * answer makes no other; what the kernel has when a port is closed it would reset.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#holdUntilNobodyComes()
    await this.#sendAcknowledged(acknowledge => ({ kind: 'stop-listening', acknowledge }))
    await this.#end(DRAIN_MS)
  }

  /**
   * Ends the threads without their requests, before a process in trouble exits: it is aborted if one still listens. Whether all have
   * come to their ends within that time; one that is stuck, or has a thread that is, has not.
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
      // Behind what the threads have been told of by the kernel.
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
    await Promise.all(ended)
  }

  #receive(thread: Worker, message: FromHttpThread): void {
    if (message.kind === 'acknowledged') this.#acknowledge(thread, message.acknowledge)
    else if (message.kind === 'manage') void this.#manage(thread, message)
    else if (message.kind === 'scrape') void this.#scrape(thread, message)
    else if (message.kind === 'abandon') this.#abandon(thread, message.call)
    else if (isAboutPieces(message)) this.#pieces(thread).receive(message)
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
      if (isPieceSource(given)) {
        pieces.keepAnswer(call, { source: given, dataOf: error => this.#dataOf(error, request) })
        return { inPieces: true, revision }
      }
      const isCreated = given instanceof Created
      const told = isCreated ? given.body : given
      return { json: told === undefined ? null : await answerText(told), isCreated, revision }
    }
    // Of what cannot be told as well.
    const answer = await work().catch((error: unknown): ManagementAnswerMessage => ({
      error: this.#dataOf(error, request),
    }))
    pieces.forgetBody(call)
    calls.delete(call)
    const isInBytes = 'json' in answer && answer.json instanceof Uint8Array
    const moved = isInBytes ? [(answer.json as Uint8Array<ArrayBuffer>).buffer] : []
    thread.postMessage({ kind: 'answer', call, answer } satisfies ToHttpThread, moved)
  }

  /** Nobody waits for the answer any more. It may have crossed this on its way. */
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

  /** What a thread is told of an error that is answered in this turn. A fault is reported here, where its reason is known. */
  #dataOf(error: unknown, request: FailedRequest): ErrorData {
    if (!isUnreportedFault(error)) return errorToData(error)
    this.#options.onFault(error, request)
    // What else is wrong nobody knows: as in a thread, it is the end, behind the answer.
    if (error instanceof InvariantError) setImmediate(() => this.#options.onDeath(error))
    return { ...errorToData(error), isReported: true }
  }

  async #scrape(
    thread: Worker,
    { call, requestId }: FromHttpThread & { readonly kind: 'scrape' },
  ): Promise<void> {
    const answer = await this.#options.scrape().then(
      json => ({ json, isCreated: false, revision: '' }),
      (error: unknown) => ({ error: this.#dataOf(error, { requestId, operation: 'getMetrics' }) }),
    )
    thread.postMessage({ kind: 'answer', call, answer } satisfies ToHttpThread)
  }

  #pieces(thread: Worker): ThreadPieces {
    const known = this.#piecesOfThreads.get(thread)
    if (known) return known
    const pieces = new ThreadPieces(message => thread.postMessage(message))
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
    for (const thread of this.#threads.keys()) thread.postMessage(message)
  }

  #acknowledge(thread: Worker, acknowledge: number): void {
    const pending = this.#pending.get(acknowledge)
    if (!pending) return
    pending.waitingFor.delete(thread)
    if (pending.waitingFor.size > 0) return
    this.#pending.delete(acknowledge)
    pending.resolve()
  }

  /** A thread that ended decides nothing any more: what waits for it, waits for the others. */
  #forget(thread: Worker): void {
    this.#threads.delete(thread)
    this.#piecesOfThreads.get(thread)?.end()
    this.#piecesOfThreads.delete(thread)
    for (const waiting of this.#callsOfThreads.get(thread)?.values() ?? []) waiting.isGone = true
    this.#callsOfThreads.delete(thread)
    for (const acknowledge of this.#pending.keys()) this.#acknowledge(thread, acknowledge)
  }
}
