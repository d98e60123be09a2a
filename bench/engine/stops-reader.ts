/** The reader thread of `stops.ts`: checks without pause and notes the longest time between two answers, by window. */
import { workerData } from 'node:worker_threads'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { CELLS, STOP } from './stops-cells.ts'
import type { StopsReaderData } from './stops-cells.ts'

const { handle, questions, cells, longest } = workerData as StopsReaderData
const reader = new SharedIndexReader(handle, { threadId: 2 })
for (let pass = 0; pass < 2; pass++) for (const question of questions) reader.evaluate(question)

let window = 0
let last = performance.now()
for (let n = 0; window !== STOP; n++) {
  reader.evaluate(questions[n % questions.length]!)
  const now = performance.now()
  if (now - last > longest[window]!) longest[window] = now - last
  last = now
  if ((n & 15) !== 0) continue
  Atomics.add(cells, CELLS.checks, 16)
  window = Atomics.load(cells, CELLS.window)
}
