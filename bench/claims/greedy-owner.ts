/**
 * A thread that holds the lock repeatedly. It holds the lock for longer than other threads spin, and acquires
 * it again immediately after each release.
 */
import { workerData } from 'node:worker_threads'
import { lock, unlock } from '#engine/shared-index/memory/sequence.ts'

const HOLD_MS = 0.5

const { header, turns, threadId, turnsMax } = workerData as {
  header: Int32Array
  turns: Int32Array
  threadId: number
  turnsMax: number
}
for (let turn = 0; turn < turnsMax; turn++) {
  lock(header, threadId)
  Atomics.add(turns, 0, 1)
  Atomics.notify(turns, 0)
  const until = performance.now() + HOLD_MS
  while (performance.now() < until) {
    // While this thread holds the lock, another thread requests it.
  }
  unlock(header, threadId)
}
