/**
 * Manages the thread that makes large writes, one after the other, round-robin over environments. The thread
 * starts with the first write. It has tables open only during a write. It does not keep the process alive. If
 * it dies, the caller of the lost write makes the write itself.
 */
import { Worker } from 'node:worker_threads'
import { AuthzError, ConflictError, errorFromData, type ErrorData } from '#model/errors.ts'
import { FairQueue } from '#scheduling/fair-queue.ts'
import { runInSlices } from '#scheduling/resumable.ts'
import { buffersOf, packCommit, type PackedCommit } from '#store/embedded/packed-commit.ts'
import { type LargeWrites, type SegmentEnd, ThreadLostError } from '#store/large-writes.ts'
import type { Commit, LogEntry } from '#store/ledger.ts'
import { openWrites } from '#store/lmdb/open-writes.ts'

/**
 * Size from which a commit is large: the number of rows that it puts and deletes, or the number of bytes of
 * their values. Writing a commit of this size takes about 10 ms.
 */
export const LARGE_ROWS = 256
const LARGE_BYTES = 262_144

/** A request to the thread. */
export interface ToWriteThread {
  readonly kind: 'commit' | 'apply' | 'checkpoint'
  readonly directory: string
  readonly logEntriesMax: number
  /** The packed commit or entry. Null for a checkpoint. */
  readonly packed: PackedCommit | null
  /** Sequence of an entry, or generation of a segment. */
  readonly sequence: number
  /** Length of a segment, in bytes. */
  readonly endBytes: number
}

/** Reply of the thread. */
export type FromWriteThread =
  | { readonly kind: 'done'; readonly sequence: number }
  | { readonly kind: 'conflict'; readonly key: Uint8Array }
  | { readonly kind: 'refused'; readonly error: ErrorData }
  /** The write failed for a reason that would also affect another attempt. */
  | { readonly kind: 'failed'; readonly reason: string }

/** A queued write. */
interface QueuedWrite {
  readonly job: Omit<ToWriteThread, 'packed'>
  readonly content: Parameters<typeof packCommit>[0] | null
  readonly resolve: (sequence: number) => void
  readonly reject: (error: unknown) => void
}

/** The write in progress. */
interface UnderWay {
  readonly thread: Worker
  readonly resolve: (sequence: number) => void
  readonly reject: (error: Error) => void
}

export class WriteThread implements LargeWrites {
  readonly #entry: URL
  readonly #largeRows: number
  /**
   * Queued writes by directory. An environment waits for the write in progress and at most one write of each
   * other environment.
   */
  readonly #waiting = new FairQueue<QueuedWrite>()
  #isServing = false
  #thread: Worker | null = null
  #underWay: UnderWay | null = null

  /** `entry` is the module that runs in the thread. `largeRows` is for tests. */
  constructor(entry: URL, largeRows = LARGE_ROWS) {
    this.#entry = entry
    this.#largeRows = largeRows
  }

  isLarge({ put, delete: removed }: Pick<Commit, 'put' | 'delete'>): boolean {
    if (put.length + removed.length >= this.#largeRows) return true
    let bytes = 0
    for (const { value } of put) bytes += value.length
    return bytes >= LARGE_BYTES
  }

  commit(directory: string, commit: Commit, logEntriesMax: number): Promise<number> {
    return this.#write({ kind: 'commit', directory, logEntriesMax, sequence: 0, endBytes: 0 }, commit)
  }

  async apply(directory: string, entry: LogEntry, logEntriesMax: number): Promise<void> {
    const { sequence } = entry.revision
    const job = { kind: 'apply', directory, logEntriesMax, sequence, endBytes: 0 } as const
    await this.#write(job, { ...entry, require: [] })
  }

  async checkpoint(directory: string, { generation, endBytes }: SegmentEnd): Promise<void> {
    const job = { kind: 'checkpoint', directory, logEntriesMax: 0, sequence: generation, endBytes } as const
    await this.#write(job, null)
  }

  #write(job: QueuedWrite['job'], content: QueuedWrite['content']): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#waiting.push(job.directory, { job, content, resolve, reject })
    if (!this.#isServing) void this.#serve()
    return promise
  }

  /** Makes one write after the other while there are any. */
  async #serve(): Promise<void> {
    this.#isServing = true
    for (let next = this.#next(); next !== null; next = this.#next()) {
      await this.#make(next).then(next.resolve, next.reject)
    }
    this.#isServing = false
  }

  #next(): QueuedWrite | null {
    return this.#waiting.take(() => true)
  }

  async #make({ job, content }: QueuedWrite): Promise<number> {
    openWrites.begin()
    try {
      // The content is packed only when the write starts, so that queued writes have no second copy.
      const packed = content && (await runInSlices(packCommit(content)))
      return await this.#ask({ ...job, packed })
    } finally {
      openWrites.end()
    }
  }

  #ask(message: ToWriteThread): Promise<number> {
    return new Promise((resolve, reject) => {
      try {
        const thread = (this.#thread ??= this.#start())
        thread.postMessage(message, message.packed ? buffersOf(message.packed) : [])
        // Keeps the process alive while a caller waits for a write.
        thread.ref()
        this.#underWay = { thread, resolve, reject }
      } catch (cause) {
        // If the system refuses to create a thread, the constructor throws immediately.
        this.#thread?.unref()
        reject(new ThreadLostError('no thread is available for a large write', { cause }))
      }
    })
  }

  #start(): Worker {
    const thread = new Worker(this.#entry)
    thread.on('message', (answer: FromWriteThread) => this.#receive(thread, answer))
    let reason: unknown = 'it exited unexpectedly'
    thread.once('error', error => (reason = error))
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = null
      const lost = new ThreadLostError('the thread for large writes has exited', { cause: reason })
      this.#takeUnderWay(thread)?.reject(lost)
    })
    return thread
  }

  #receive(thread: Worker, answer: FromWriteThread): void {
    const call = this.#takeUnderWay(thread)
    thread.unref()
    if (!call) return
    if (answer.kind === 'done') call.resolve(answer.sequence)
    else if (answer.kind === 'conflict') call.reject(new ConflictError(answer.key))
    else if (answer.kind === 'refused') call.reject(errorFromData(answer.error))
    else call.reject(new ThreadLostError(answer.reason))
  }

  #takeUnderWay(thread: Worker): UnderWay | null {
    const call = this.#underWay
    if (call?.thread !== thread) return null
    this.#underWay = null
    return call
  }

  /** Ends the thread after the write in progress. No caller waits for a write at that time. */
  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = null
    await thread?.terminate()
  }
}

/** Whether another attempt would fail with the same error. */
export function isRefusal(error: unknown): error is AuthzError {
  return error instanceof AuthzError && error.code !== 'INTERNAL'
}
