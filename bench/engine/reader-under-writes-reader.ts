/**
 * The reader thread of `reader-under-writes.ts`. Depending on the command, it checks as fast as it can, or
 * waits until one result changes.
 */
import { workerData } from 'node:worker_threads'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import type { SharedIndexHandle } from '#engine/shared-index/memory/index-buffers.ts'
import { ask } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { Random } from '#testing/data/random.ts'
import { CELLS, COMMANDS } from './reader-under-writes-cells.ts'
import { TextQuestion } from '#model/question.ts'

const { handle, threadId, cells, clock, scale } = workerData as {
  handle: SharedIndexHandle
  threadId: number
  cells: Int32Array
  clock: BigInt64Array
  scale: number
}

const BATCH = 1_000
/** Number of reads from memory that is not cached. A check reads about as many cache lines. */
const ECHO_READS = 20
const memory = new Int32Array(2 ** 24).fill(1)
const random = new Random(7)
let strewn = 0
const drive = new Drive('W1', scale)
const questions = [...drive.candidates(50_000, 'allowed'), ...drive.candidates(50_000, 'denied')]
const batches = Array.from({ length: questions.length / BATCH }, (_, n) =>
  questions.slice(n * BATCH, (n + 1) * BATCH),
)
const reader = new SharedIndexReader(handle, { threadId })
for (const batch of batches) reader.evaluateAll(new TextQuestion(batch))
for (const question of questions) reader.evaluate(question)

const watched = ask('watcher', 'read', 'document', 'watched')
let turn = 0
Atomics.store(cells, CELLS.done, 1)
for (let isRunning = true; isRunning;) {
  switch (Atomics.load(cells, CELLS.command)) {
    case COMMANDS.watch:
      if (Atomics.load(cells, CELLS.seen) === 0) {
        const isSeen = reader.evaluate(watched) === (Atomics.load(cells, CELLS.expected) === 1)
        if (isSeen) {
          Atomics.store(clock, 0, process.hrtime.bigint())
          Atomics.store(cells, CELLS.seen, 1)
        }
      }
      break
    case COMMANDS.echo:
      if (Atomics.load(cells, CELLS.seen) === 0) {
        for (let n = 0; n < ECHO_READS; n++) strewn += memory[random.below(memory.length)]!
        Atomics.store(clock, 0, process.hrtime.bigint())
        Atomics.store(cells, CELLS.seen, 1)
      }
      break
    case COMMANDS.staged:
      reader.evaluateAll(new TextQuestion(batches[turn++ % batches.length]!))
      Atomics.add(cells, CELLS.done, BATCH)
      break
    case COMMANDS.single:
      for (const question of batches[turn++ % batches.length]!) reader.evaluate(question)
      Atomics.add(cells, CELLS.done, BATCH)
      break
    default:
      // Before the first command, the thread waits for it. Afterwards, any other value means that the thread
      // must stop.
      if (turn > 0) isRunning = false
      else Atomics.wait(cells, CELLS.command, 0, 10)
  }
}
