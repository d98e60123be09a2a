/** Tracks the threads of this process that write files of a store. The end of the process waits for them. */
import type { Worker } from 'node:worker_threads'

const running = new Set<Worker>()

/** Must be called with each such thread when it is started. */
export function noteWritingThread(thread: Worker): void {
  running.add(thread)
  thread.once('exit', () => running.delete(thread))
}

export function hasWritingThreads(): boolean {
  return running.size > 0
}
