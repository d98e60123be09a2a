/** Imports in a thread of their own, straight into the files of an environment that nobody has open. */
import { Worker } from 'node:worker_threads'
import { AuthzError, errorFromData, type ErrorData } from '#model/errors.ts'
import type { ContentLoader } from '#services/content-loader.ts'
import type { PieceSource } from '#services/content-stream.ts'
import type { ContentCounts } from '#services/management/content-import.ts'

export type ToContentThread =
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'stop' }

export type FromContentThread =
  | { readonly kind: 'taken' }
  | { readonly kind: 'done'; readonly counts: ContentCounts }
  | { readonly kind: 'failed'; readonly error: ErrorData }

export interface ContentThreadOptions {
  readonly entry: URL
  readonly directoryOf: (environmentId: string) => string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The reason of a failure that is told as `INTERNAL`. */
  readonly onFault: (error: unknown) => void
}

export class ContentThread implements ContentLoader {
  readonly #options: ContentThreadOptions

  constructor(options: ContentThreadOptions) {
    this.#options = options
  }

  async load(environmentId: string, source: PieceSource): Promise<ContentCounts> {
    const { entry, directoryOf, now } = this.#options
    const thread = new Worker(entry, { workerData: { directory: directoryOf(environmentId), now: now() } })
    const ended = new Promise<void>(resolve => thread.once('exit', () => resolve()))
    try {
      for (let piece = await source.next(); piece !== null; piece = await source.next()) {
        await this.#answer(thread, { kind: 'piece', bytes: piece })
      }
      const answer = await this.#answer(thread, { kind: 'end' })
      if (answer.kind === 'done') return answer.counts
      throw new AuthzError('INTERNAL', 'an import ended without an answer')
    } finally {
      source.cancel()
      thread.postMessage({ kind: 'stop' } satisfies ToContentThread)
      // It holds the files open until then.
      await ended
    }
  }

  /** Sends a message and waits for what the thread says to it. Throws what it failed with. */
  #answer(thread: Worker, message: ToContentThread): Promise<FromContentThread> {
    return new Promise((resolve, reject) => {
      const onMessage = (answer: FromContentThread) => {
        settle()
        if (answer.kind === 'failed') reject(errorFromData(answer.error))
        else resolve(answer)
      }
      const onError = (error: Error) => {
        settle()
        this.#options.onFault(error)
        reject(new AuthzError('INTERNAL', 'the thread that imports died', { cause: error }))
      }
      const onExit = () => onError(new Error('the thread that imports ended by itself'))
      const settle = () => {
        thread.off('message', onMessage)
        thread.off('error', onError)
        thread.off('exit', onExit)
      }
      thread.on('message', onMessage)
      thread.on('error', onError)
      thread.on('exit', onExit)
      thread.postMessage(message)
    })
  }
}
