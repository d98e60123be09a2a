/**
 * An HTTP thread from its start to the moment when it is told where to listen. Until then it loads its code, and needs nothing that the
 * main thread has to find out first. So it is started before that, and both load at the same time.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { HttpThreadOptions, WaitingThreadData } from './messages.ts'

/**
 * Megabytes for new objects. A third of it is in use at a time: a megabyte, the least that V8 allows. V8 would let it grow
 * to 48 and then collect 16 at once, most of them buffers of bodies, which stops the thread for 0.9 ms. A megabyte is
 * collected thirteen times as often, each time in an eighth of that, and in smaller steps still
 * (`composition/v8-tuning.ts`). It halves the p99 of single decisions near the peak. The cost: bulks of 10,000 that are
 * parsed, not read from their bytes, are a fifth fewer a second, since their objects survive. An operator's
 * `--max-semi-space-size` takes precedence.
 */
const NEW_OBJECTS_MB = 3

export class WaitingThread {
  readonly worker: Worker
  readonly name: string
  readonly #begin: MessagePort
  /** Whether it ended before it was told to begin. */
  hasEnded = false

  /** `index` is its number among its kind, from 1. */
  constructor(entry: URL, index: number) {
    this.name = `http-${index}`
    const { port1, port2 } = new MessageChannel()
    const workerData: WaitingThreadData = { begin: port2 }
    const resourceLimits = { maxYoungGenerationSizeMb: NEW_OBJECTS_MB }
    this.worker = new Worker(entry, { workerData, transferList: [port2], name: this.name, resourceLimits })
    this.#begin = port1
    // Nobody else listens yet, and an error that nobody hears of would end the process without its reason.
    this.worker.once('error', () => (this.hasEnded = true)).once('exit', () => (this.hasEnded = true))
  }

  begin(options: HttpThreadOptions<unknown>): void {
    this.#begin.postMessage(options)
  }
}

let ahead: { readonly entry: URL; readonly thread: WaitingThread } | null = null

/** Starts the first thread of this process before anybody has use for it. */
export function startAhead(entry: URL): void {
  ahead = { entry, thread: new WaitingThread(entry, 1) }
}

/** A thread that waits: for the first one that which was started ahead, if there is one of that code and it lives. */
export function waitingThread(entry: URL, index: number): WaitingThread {
  const started = ahead
  if (index === 1 && started !== null && started.entry.href === entry.href) {
    ahead = null
    // One that has failed is started again: it fails before those who can say so.
    if (!started.thread.hasEnded) return started.thread
  }
  return new WaitingThread(entry, index)
}
