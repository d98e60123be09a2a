/**
 * Handles large request bodies in a thread next to an HTTP thread: it parses and validates the body, makes
 * the decisions and serializes the response, with the same routes. The HTTP thread passes the body in shared
 * memory. The other thread copies it, because its time is less critical.
 *
 *     body ─► queue, round-robin over environments, limited in number and bytes
 *          ─► one body per environment at a time ─► response
 *
 * It is separate from the threads that run parts of bulk requests, because the parsing of a body cannot be
 * interrupted. It takes a second, or several if the body has a million member names. Only other large bodies
 * have to wait for it.
 */
import type { Worker } from 'node:worker_threads'
import type { BodyOutcome, BodyReader, BodyWork } from '#decisions/body-reading.ts'
import { type DecisionObserver, unread } from '#decisions/decision-observer.ts'
import type { AskingClient } from '#model/caller.ts'
import type { Query } from '#model/decision.ts'
import { abandoned, Admission, halfPerShare, tooManyReads } from '#scheduling/admission.ts'
import { AuthzError, errorFromData, errorToData } from '#model/errors.ts'
import { FairQueue } from '#scheduling/fair-queue.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import { shareOf } from '#model/principal.ts'
import type { BodyAnswer, BodyJob, BodyRequest, BodyThreadData, PackedData } from './body-jobs.ts'
import { type JobIndex, markOver, newOver } from './pool-jobs.ts'
import type { PoolThreadEvents } from './pool-options.ts'
import { type PoolFigures, PoolThreads, shuttingDown } from './pool-threads.ts'

/**
 * Bodies that the thread has at the same time, each of another environment. Explained decisions run in
 * slices, between which other bodies are parsed.
 */
const BODIES_AHEAD = 4
/**
 * Heap limit of the thread in bytes per byte of the longest body. The live objects of the worst valid JSON
 * take 30 times its bytes. Without a limit, garbage would grow to several gigabytes in addition, for example
 * from member names alone.
 */
const HEAP_BYTES_A_BODY_BYTE = 48
const HEAP_MEBIBYTES_MIN = 512
/** Fraction of the bytes of queued bodies that one environment can use. */
const SHARE = 1 / 2

export interface BodyPoolOptions extends PoolThreadEvents {
  /** The module that runs the jobs, see `body-jobs.ts`. */
  readonly entry: URL
  readonly data: BodyThreadData<unknown>
  /** Limit of one body, in bytes. */
  readonly bodyBytesMax: number
  /**
   * Limits of bodies that are queued or in progress: their number, and their total bytes. One environment can
   * use half of each.
   */
  readonly jobsMax: number
  readonly bytesMax: number
  /**
   * Returns the data that another thread needs to make decisions for the environment. Throws the same errors
   * as a decision.
   */
  index(environmentId: string): JobIndex
  /** Receives the decisions as if they had been made in this thread; null if they are not recorded. */
  readonly observer: DecisionObserver | null
}

interface QueuedBody {
  readonly work: BodyWork
  readonly resolve: (outcome: BodyOutcome | null) => void
  readonly reject: (error: unknown) => void
}

export class BodyPool implements BodyReader {
  readonly #options: BodyPoolOptions
  readonly #threads: PoolThreads<BodyJob>
  readonly #queue = new FairQueue<QueuedBody>()
  /** Environments of which the thread has a body. */
  readonly #underWay = new Set<string>()
  /** Bodies that are queued or in progress, and their bytes. */
  readonly #bodies: Admission
  readonly #bytes: Admission

  constructor(options: BodyPoolOptions) {
    this.#options = options
    this.#bodies = halfPerShare(options.jobsMax)
    this.#bytes = new Admission({ max: options.bytesMax, shareMax: SHARE * options.bytesMax })
    this.#threads = new PoolThreads({
      entry: options.entry,
      threads: 1,
      jobsAhead: BODIES_AHEAD,
      workerData: options.data,
      heapMebibytesMax: Math.max(
        HEAP_MEBIBYTES_MIN,
        Math.ceil((options.bodyBytesMax * HEAP_BYTES_A_BODY_BYTE) / 1_048_576),
      ),
      onIndexFault: fault => options.onIndexFault(fault),
      onThreadEnd: (id, error) => options.onThreadEnd(id, error),
      onStartFailure: error => {
        options.onStartFailure(error)
        this.#leaveAll()
      },
      onFree: () => this.#giveOut(),
      onCold: () => this.#giveOut(),
    })
  }

  /** Threads that have not ended. */
  get threads(): readonly Worker[] {
    return this.#threads.list
  }

  /** See `PoolThreads`. */
  takeLongestPauseMs(): number {
    return this.#threads.takeLongestPauseMs()
  }

  /** Figures of queued and completed work. */
  figures(): PoolFigures {
    const { list } = this.#threads
    return { jobs: this.#bodies.total, threads: list.length, busySeconds: this.#threads.busyMs() / 1_000 }
  }

  async read(work: BodyWork): Promise<BodyOutcome | null> {
    const share = shareOf(work.principal)
    const { bytes } = work.body
    const leave = this.#admit(share, bytes)
    try {
      return await new Promise<BodyOutcome | null>((resolve, reject) => {
        this.#queue.push(share, { work, resolve, reject })
        this.#giveOut()
      })
    } finally {
      leave()
    }
  }

  letGo(): void {
    this.#threads.letGo()
  }

  /** Ends the thread. Rejects queued bodies. */
  async close(): Promise<void> {
    const closed = this.#threads.close()
    for (const { reject } of this.#queue.takeAll(() => true)) reject(shuttingDown())
    await closed
  }

  /** Counts a body. Returns the function that ends it. */
  #admit(share: string, bytes: number): () => void {
    if (this.#threads.isClosed) throw shuttingDown()
    if (!this.#bodies.hasRoom(share) || !this.#bytes.hasRoom(share, bytes)) {
      // The dropped jobs release their slots in a microtask: the current caller is still rejected, the next
      // one is not.
      this.#dropAbandoned()
      throw tooManyReads()
    }
    const leaves = [this.#bodies.acquire(share), this.#bytes.acquire(share, bytes)]
    return () => {
      for (const leave of leaves) leave()
    }
  }

  #dropAbandoned(): void {
    for (const { reject } of this.#queue.takeAll(({ work }) => work.waiting.isGone)) reject(abandoned())
  }

  #giveOut(): void {
    this.#dropAbandoned()
    if (this.#queue.isEmpty) return
    if (!this.#threads.isWarm) {
      if (!this.#threads.warmUp()) this.#leaveAll()
      return
    }
    while (this.#threads.running < BODIES_AHEAD) {
      const next = this.#queue.take(share => !this.#underWay.has(share))
      if (next === null) return
      void this.#run(next)
    }
  }

  /** Gives up all queued bodies, so that the HTTP thread handles them itself. */
  #leaveAll(): void {
    for (const { resolve } of this.#queue.takeAll(() => true)) resolve(null)
  }

  async #run({ work, resolve, reject }: QueuedBody): Promise<void> {
    const share = shareOf(work.principal)
    this.#underWay.add(share)
    try {
      resolve(await this.#done(work))
    } catch (error) {
      reject(error)
    } finally {
      this.#underWay.delete(share)
      this.#giveOut()
    }
  }

  async #done(work: BodyWork): Promise<BodyOutcome> {
    const { operationId, contentEncoding, client, body, waiting } = work
    // The key is checked again, because it might have been revoked or changed while the body waited.
    const principal = work.identify()
    const over = newOver()
    waiting.whenOver(() => markOver(over))
    const environmentId = shareOf(principal)
    const on = work.isOnlyChecked ? null : this.#indexNow(environmentId)
    const { bytes, segments } = body
    const job: BodyRequest = {
      kind: 'body',
      operationId,
      principal,
      contentEncoding,
      segments,
      bytes,
      on,
      over,
    }
    const answer = (await this.#threads.run(job)) as BodyAnswer
    const { outcome } = answer
    work.identify()
    if (outcome.kind === 'refused') throw errorFromData(outcome.error)
    // The process might have been paused in the meantime: the state of the decision might now be too old for
    // a response.
    if (on !== null && !('refusal' in on)) this.#options.index(environmentId)
    this.#report(environmentId, client, answer)
    return outcome
  }

  /**
   * Returns the index, or the error if decisions are not possible. The error is passed with the job, because
   * it is returned only if the body is valid.
   */
  #indexNow(environmentId: string): BodyRequest['on'] {
    try {
      return this.#options.index(environmentId)
    } catch (error) {
      if (!(error instanceof AuthzError)) throw error
      return { refusal: errorToData(error) }
    }
  }

  #report(environmentId: string, client: AskingClient, { decided }: BodyAnswer): void {
    for (const { verdicts, isSingle, nonUserCount, checks } of decided) {
      const query = checks === null ? unread : queryIn(checks)
      const asked = { isSingle, nonUserCount, query }
      this.#options.observer?.decided(verdicts, asked, environmentId, client)
    }
  }
}

function queryIn(checks: PackedData | readonly Query[]): (index: number) => Query {
  if (!('termsTable' in checks)) return index => checks[index]!
  const { count, bytes, keyRanges, termsTable, termsIndex } = checks
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const packed = new PackedQueries(count, view, keyRanges, termsTable, termsIndex)
  return index => packed.query(index)
}
