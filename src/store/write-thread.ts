/**
 * The thread that makes large writes, one after the other. It is started with the first of them, has tables open while it writes
 * into them and no longer, and keeps nobody from ending. What is lost with it is made anew by who asked.
 */
import { Worker } from 'node:worker_threads'
import { AuthzError, ConflictError, errorFromData, type ErrorData } from '#model/errors.ts'
import { runInSlices } from '#model/resumable.ts'
import { type LargeWrites, ThreadLostError } from './large-writes.ts'
import type { Commit, Entry } from './ledger.ts'
import { openWrites } from './lmdb/open-writes.ts'
import { buffersOf, packCommit, type PackedCommit } from './packed-commit.ts'

/** From here on a commit is large: rows put and deleted, or bytes of their values. Some 10 ms of writing. */
export const LARGE_ROWS = 256
const LARGE_BYTES = 262_144

/** What is asked of the thread. */
export interface ToWriteThread {
  readonly call: number
  readonly kind: 'commit' | 'apply'
  readonly directory: string
  readonly logEntriesMax: number
  readonly packed: PackedCommit
  /** Of an entry: where it stands. */
  readonly sequence: number
}

/** Its answer. */
export type FromWriteThread =
  | { readonly call: number; readonly kind: 'done'; readonly sequence: number }
  | { readonly call: number; readonly kind: 'conflict'; readonly key: Uint8Array }
  | { readonly call: number; readonly kind: 'refused'; readonly error: ErrorData }
  /** By a fault, which whoever tries again meets, too. */
  | { readonly call: number; readonly kind: 'failed'; readonly reason: string }

interface Call {
  readonly resolve: (sequence: number) => void
  readonly reject: (error: Error) => void
}

export class WriteThread implements LargeWrites {
  readonly #entry: URL
  readonly #largeRows: number
  readonly #calls = new Map<number, Call>()
  #thread: Worker | null = null
  #lastCall = 0

  /** `entry`: the module that serves in the thread. `largeRows`: for tests. */
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
    return this.#write({ kind: 'commit', directory, logEntriesMax, sequence: 0 }, commit)
  }

  async apply(directory: string, entry: Entry, logEntriesMax: number): Promise<void> {
    const { sequence } = entry.revision
    await this.#write({ kind: 'apply', directory, logEntriesMax, sequence }, { ...entry, require: [] })
  }

  async #write(
    job: Omit<ToWriteThread, 'call' | 'packed'>,
    content: Parameters<typeof packCommit>[0],
  ): Promise<number> {
    openWrites.begin()
    try {
      const packed = await runInSlices(packCommit(content))
      this.#lastCall += 1
      const message: ToWriteThread = { ...job, call: this.#lastCall, packed }
      return await this.#ask(message)
    } finally {
      openWrites.end()
    }
  }

  #ask(message: ToWriteThread): Promise<number> {
    const thread = (this.#thread ??= this.#start())
    return new Promise((resolve, reject) => {
      this.#calls.set(message.call, { resolve, reject })
      // Who waits for a write must not see the process end before.
      thread.ref()
      thread.postMessage(message, buffersOf(message.packed))
    })
  }

  #start(): Worker {
    const thread = new Worker(this.#entry)
    thread.on('message', (answer: FromWriteThread) => this.#receive(thread, answer))
    let reason: unknown = 'it ended by itself'
    thread.once('error', error => (reason = error))
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = null
      const lost = new ThreadLostError('the thread that makes large writes has ended', { cause: reason })
      for (const { reject } of this.#calls.values()) reject(lost)
      this.#calls.clear()
    })
    return thread
  }

  #receive(thread: Worker, answer: FromWriteThread): void {
    const call = this.#calls.get(answer.call)
    this.#calls.delete(answer.call)
    if (this.#calls.size === 0) thread.unref()
    if (!call) return
    if (answer.kind === 'done') call.resolve(answer.sequence)
    else if (answer.kind === 'conflict') call.reject(new ConflictError(answer.key))
    else if (answer.kind === 'refused') call.reject(errorFromData(answer.error))
    else call.reject(new ThreadLostError(answer.reason))
  }

  /** Ends the thread, behind what it is at. */
  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = null
    await thread?.terminate()
  }
}

/** Whether somebody who tries again would hear the same. */
export function isRefusal(error: unknown): error is AuthzError {
  return error instanceof AuthzError && error.code !== 'INTERNAL'
}
