/**
 * An HTTP thread between its creation and the order to listen. In that time it loads its code and needs no
 * data from the main thread. Therefore it is created early, and both threads load at the same time.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { HttpThreadOptions, WaitingThreadData } from './messages.ts'

/**
 * Megabytes of the new generation. A third of it is in use at a time: one megabyte, the minimum that V8
 * allows. By default it would grow to 48 MB, and V8 would then collect 16 MB at a time, most of them buffers
 * of bodies, which pauses the thread for 0.9 ms. One megabyte is collected 13 times as often, each time in an
 * eighth of that time, and in even smaller steps (`composition/process/v8-tuning.ts`). That halves the p99
 * latency of single decisions near the peak. The disadvantage: for bulk requests of 10,000 checks that need
 * full JSON parsing, throughput is 20 % lower, because their objects survive. An operator's
 * `--max-semi-space-size` takes precedence.
 */
const NEW_OBJECTS_MB = 3

export class WaitingThread {
  readonly worker: Worker
  readonly name: string
  readonly #begin: MessagePort
  /** Whether it ended before it received the order to start. */
  hasEnded = false

  /** `index` is the number of the thread among the HTTP threads, starting at 1. */
  constructor(entry: URL, index: number) {
    this.name = `http-${index}`
    const { port1, port2 } = new MessageChannel()
    const workerData: WaitingThreadData = { begin: port2 }
    const resourceLimits = { maxYoungGenerationSizeMb: NEW_OBJECTS_MB }
    this.worker = new Worker(entry, { workerData, transferList: [port2], name: this.name, resourceLimits })
    this.#begin = port1
    // No other handler is attached yet, and an unhandled error would end the process without its reason.
    this.worker.once('error', () => (this.hasEnded = true)).once('exit', () => (this.hasEnded = true))
  }

  begin(options: HttpThreadOptions<unknown>): void {
    this.#begin.postMessage(options)
  }
}

let ahead: { readonly entry: URL; readonly thread: WaitingThread } | null = null

/** Creates the first thread of this process before it is needed. */
export function startAhead(entry: URL): void {
  ahead = { entry, thread: new WaitingThread(entry, 1) }
}

/**
 * Returns a waiting thread. For index 1, reuses the thread that was created early if it runs the same code
 * and is alive.
 */
export function waitingThread(entry: URL, index: number): WaitingThread {
  const started = ahead
  if (index === 1 && started !== null && started.entry.href === entry.href) {
    ahead = null
    // A thread that has failed is replaced: it failed before any component could report the error.
    if (!started.thread.hasEnded) return started.thread
  }
  return new WaitingThread(entry, index)
}
