/**
 * The reader thread of `reader-stalls.ts`. It checks without pause, and records the longest time between two
 * results in each window.
 */
import { workerData } from 'node:worker_threads'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { runDelayMs } from './run-delay.ts'
import { CELLS, STOP, type StopsReaderData } from './reader-stalls-cells.ts'

const { handle, questions, cells, longest } = workerData as StopsReaderData
const reader = new SharedIndexReader(handle, { threadId: 2 })
for (let pass = 0; pass < 2; pass++) for (const question of questions) reader.evaluate(question)

/** Minimum length of a recorded pause in milliseconds. */
const STOP_MIN_MS = 0.1
let window = 0
let delayed = runDelayMs()
let last = performance.now()
for (let n = 0; window !== STOP; n++) {
  reader.evaluate(questions[n % questions.length]!)
  const now = performance.now()
  const stop = now - last
  last = now
  if (stop > STOP_MIN_MS) {
    const delayedNow = runDelayMs()
    longest[window * 2] = Math.max(longest[window * 2]!, stop)
    longest[window * 2 + 1] = Math.max(longest[window * 2 + 1]!, stop - (delayedNow - delayed))
    delayed = delayedNow
    last = performance.now()
  }
  if ((n & 15) !== 0) continue
  Atomics.add(cells, CELLS.checks, 16)
  window = Atomics.load(cells, CELLS.window)
}
