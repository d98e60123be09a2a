/**
 * Main-thread side of an import: starts a thread that writes directly to the files of an environment that is
 * not open yet.
 */
import { Worker } from 'node:worker_threads'
import type { ContentCounts } from '#management/content/import-rows.ts'
import type { ContentLoader } from '#management/content/ledger-import.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { AuthzError, errorFromData, type ErrorData } from '#model/errors.ts'
import { noteWritingThread } from './writing-threads.ts'

export type ToImportThread =
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'stop' }

export type FromImportThread =
  | { readonly kind: 'taken' }
  | { readonly kind: 'done'; readonly counts: ContentCounts }
  | { readonly kind: 'failed'; readonly error: ErrorData }

/** Data that the thread starts with. */
export interface ImportThreadData {
  readonly directory: string
  readonly now: number
  readonly attributesBytesMax: number
  readonly heldBytesMax: number
}

export interface ImportThreadOptions {
  readonly entry: URL
  readonly directoryOf: (environmentId: string) => string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** See `ContentImportOptions`. */
  readonly attributesBytesMax: number
  readonly heldBytesMax: number
  /** Receives the reason of a failure whose caller receives `INTERNAL`. */
  readonly onFault: (error: unknown) => void
}

export class ImportThread implements ContentLoader {
  readonly #options: ImportThreadOptions

  constructor(options: ImportThreadOptions) {
    this.#options = options
  }

  async load(environmentId: string, source: PieceSource): Promise<ContentCounts> {
    const { entry, directoryOf, now, attributesBytesMax, heldBytesMax } = this.#options
    const workerData: ImportThreadData = {
      directory: directoryOf(environmentId),
      now: now(),
      attributesBytesMax,
      heldBytesMax,
    }
    const thread = new Worker(entry, { workerData })
    noteWritingThread(thread)
    const ended = new Promise<void>(resolve => thread.once('exit', () => resolve()))
    const life = new ThreadLife(thread, this.#options.onFault)
    try {
      for (;;) {
        const piece = await life.during(source.next())
        if (piece === null) break
        await life.during(answerOf(thread, { kind: 'piece', bytes: piece }))
      }
      const answer = await life.during(answerOf(thread, { kind: 'end' }))
      if (answer.kind === 'done') return answer.counts
      throw new AuthzError('INTERNAL', 'an import ended without a result')
    } finally {
      source.cancel()
      thread.postMessage({ kind: 'stop' } satisfies ToImportThread)
      // The thread holds the files open until it has ended.
      await ended
    }
  }
}

/** Rejects pending waits for a thread if the thread ends by itself. */
class ThreadLife {
  #reason: AuthzError | null = null
  #onEnd: (reason: AuthzError) => void = () => {}

  /** Must be created immediately after the thread: an `error` event without a listener ends the process. */
  constructor(thread: Worker, onFault: (error: unknown) => void) {
    const end = (cause: unknown): void => {
      this.#reason ??= new AuthzError('INTERNAL', 'the import thread failed', { cause })
      this.#onEnd(this.#reason)
    }
    thread.once('error', error => {
      onFault(error)
      end(error)
    })
    // A pending `during` must be rejected only after the events `error` and `message` were handled. A busy
    // main thread can receive `message`, `error` and `exit` in one event-loop iteration. Therefore `exit` is
    // handled in a microtask, after the promises that these events settled.
    thread.once('exit', () => {
      queueMicrotask(() => end(new Error('the import thread exited unexpectedly')))
    })
  }

  /**
   * Awaits `wait`, or rejects if the thread ends before. Only one wait at a time is allowed. `Promise.race`
   * would keep every chunk in memory until the end.
   */
  during<Value>(wait: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject
      wait.then(resolve, reject)
      if (this.#reason) reject(this.#reason)
    })
  }
}

/** Sends a message and resolves to the reply of the thread. Throws the error that the thread failed with. */
function answerOf(thread: Worker, message: ToImportThread): Promise<FromImportThread> {
  return new Promise((resolve, reject) => {
    thread.once('message', (answer: FromImportThread) => {
      if (answer.kind === 'failed') reject(errorFromData(answer.error))
      else resolve(answer)
    })
    thread.postMessage(message)
  })
}
