/** The lock between threads: who waits for it gets it soon, however often another takes it. */
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import { lock, unlock } from '#engine/shared-index/memory/sequence.ts'

const ASKED = 200
const US = 1

test('who waits has nearly always the next turn but one at the latest, where another thread takes the lock again and again', async () => {
  const header = new Int32Array(new SharedArrayBuffer(L.HEADER_WORDS * L.WORD_BYTES))
  const turns = new Int32Array(new SharedArrayBuffer(4))
  const greedy = new Worker(new URL('greedy-owner.ts', import.meta.url), {
    workerData: { header, turns, threadId: US + 1, turnsMax: ASKED * 10 },
  })
  onTestFinished(async () => void (await greedy.terminate()))
  const waited: number[] = []
  while (waited.length < ASKED) {
    // Until its next turn begins; it has had all of them when none does.
    if (Atomics.wait(turns, 0, Atomics.load(turns, 0), 2_000) === 'timed-out') break
    const asked = Atomics.load(turns, 0)
    lock(header, US)
    waited.push(Atomics.load(turns, 0) - asked)
    unlock(header, US)
  }
  expect(waited).toHaveLength(ASKED)
  // Not the longest: this thread may lose its core after it has looked and before it asks.
  const most = waited.toSorted((a, b) => a - b)[Math.floor(waited.length * 0.9)]
  expect(most).toBeLessThanOrEqual(2)
})
