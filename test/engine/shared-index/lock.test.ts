/** The lock between threads: whoever waits for it gets it, whatever the others do. */
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import * as L from '#engine/shared-index/layout.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import { lock, tryLock, unlock } from '#engine/shared-index/sequence.ts'
import { tenant } from '../changes.ts'
import { SharedEngine, standAgain } from '../shared-engine.ts'

const ASKED = 200
const US = 1
const DEAD = 99

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

test('an index that was kept while somebody held its lock and somebody waited is restored with neither', () => {
  const { writer } = new SharedEngine()
  writer.apply([tenant('default')])
  const header = new Int32Array(writer.handle.header)
  header[L.H_LOCK] = DEAD
  header[L.H_LOCK_NEXT] = DEAD + 1
  const restored = new Int32Array(standAgain(writer.save()!).handle.header)
  expect([restored[L.H_LOCK], restored[L.H_LOCK_NEXT]]).toEqual([0, 0])
})

test('a thread that died while it was next keeps nobody waiting', () => {
  const header = new Int32Array(new SharedArrayBuffer(L.HEADER_WORDS * L.WORD_BYTES))
  header[L.H_LOCK_NEXT] = DEAD
  lock(header, US)
  expect(header[L.H_LOCK]).toBe(US)
  unlock(header, US)
  expect(tryLock(header, US), 'it is free').toBe(true)
  expect(header[L.H_LOCK_NEXT], 'and nobody is next').toBe(0)
})

test('a thread that was next when its end was seen is no longer next', () => {
  const { handle } = new SharedEngine().writer
  const header = new Int32Array(handle.header)
  header[L.H_LOCK_NEXT] = DEAD
  expect(takeOverLock(handle, DEAD), 'it did not hold the lock').toBe(false)
  expect(header[L.H_LOCK_NEXT]).toBe(0)
  header[L.H_LOCK_NEXT] = US
  takeOverLock(handle, DEAD)
  expect(header[L.H_LOCK_NEXT], 'another thread is next still').toBe(US)
})
