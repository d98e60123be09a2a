/**
 * Tracks the threads of this process that write files of a store. While one of them runs, the process must
 * not call `process.exit` (`shutdown.ts`).
 */
import type { Worker } from 'node:worker_threads'

const running = new Set<Worker>()

/** Must be called with each thread that writes files, when it is started. */
export function noteWritingThread(thread: Worker): void {
  running.add(thread)
  thread.once('exit', () => running.delete(thread))
}

export function hasWritingThreads(): boolean {
  return running.size > 0
}
