/** The threads of this process that write to files of a store, for whoever wants to end the process. */
import type { Worker } from 'node:worker_threads'

const running = new Set<Worker>()

/** To be told of each when it is started. */
export function noteWritingThread(thread: Worker): void {
  running.add(thread)
  thread.once('exit', () => running.delete(thread))
}

export function hasWritingThreads(): boolean {
  return running.size > 0
}
