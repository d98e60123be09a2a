/**
 * The main thread's side of an import: it starts a thread that writes straight into the files of an environment that nobody
 * has open yet.
 */
import { Worker } from 'node:worker_threads'
import type { ContentCounts } from '#management/content/content-import.ts'
import type { ContentLoader } from '#management/content/content-loader.ts'
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

/** The data that the thread starts with. */
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
  /** Told the reason of a failure whose caller is told `INTERNAL`. */
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
      throw new AuthzError('INTERNAL', 'an import ended without an answer')
    } finally {
      source.cancel()
      thread.postMessage({ kind: 'stop' } satisfies ToImportThread)
      // The thread holds the files open until it has ended.
      await ended
    }
  }
}

/** Rejects what waits for a thread when the thread ends by itself. */
class ThreadLife {
  #reason: AuthzError | null = null
  #onEnd: (reason: AuthzError) => void = () => {}

  /** Made right after the thread: an `error` event that nobody listens to ends the process. */
  constructor(thread: Worker, onFault: (error: unknown) => void) {
    const end = (cause: unknown): void => {
      this.#reason ??= new AuthzError('INTERNAL', 'the thread that imports died', { cause })
      this.#onEnd(this.#reason)
    }
    thread.once('error', error => {
      onFault(error)
      end(error)
    })
    // Comes after the thread's error and after its last message. A busy main thread may receive all of them in one turn.
    thread.once('exit', () => {
      queueMicrotask(() => end(new Error('the thread that imports ended by itself')))
    })
  }

  /**
   * Awaits `wait` unless the thread ends before. One wait at a time. `Promise.race` would keep every piece in memory to the
   * end.
   */
  during<Value>(wait: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject
      wait.then(resolve, reject)
      if (this.#reason) reject(this.#reason)
    })
  }
}

/** Sends a message and resolves to the thread's answer. Throws the error that the thread failed with. */
function answerOf(thread: Worker, message: ToImportThread): Promise<FromImportThread> {
  return new Promise((resolve, reject) => {
    thread.once('message', (answer: FromImportThread) => {
      if (answer.kind === 'failed') reject(errorFromData(answer.error))
      else resolve(answer)
    })
    thread.postMessage(message)
  })
}
