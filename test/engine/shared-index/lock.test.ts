/** The lock between threads, and its state after threads die. `bench/claims` shows the waiting time. */
import { expect, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import { lock, tryLock, unlock } from '#engine/shared-index/memory/sequence.ts'
import { tenant } from '#testing/engines/changes.ts'
import { SharedEngine, restoredWriter } from '#testing/engines/shared-engine.ts'

const US = 1
const DEAD = 99

test('an index that was saved while a thread held its lock and another waited is restored with a free lock', () => {
  const { writer } = new SharedEngine()
  writer.apply([tenant('default')])
  const header = new Int32Array(writer.handle.header)
  header[L.H_LOCK] = DEAD
  header[L.H_LOCK_NEXT] = DEAD + 1
  const restored = new Int32Array(restoredWriter(writer.save()!).handle.header)
  expect([restored[L.H_LOCK], restored[L.H_LOCK_NEXT]]).toEqual([0, 0])
})

test('a thread that died while it was next for the lock does not block other threads', () => {
  const header = new Int32Array(new SharedArrayBuffer(L.HEADER_WORDS * L.WORD_BYTES))
  header[L.H_LOCK_NEXT] = DEAD
  lock(header, US)
  expect(header[L.H_LOCK]).toBe(US)
  unlock(header, US)
  expect(tryLock(header, US), 'it is free').toBe(true)
  expect(header[L.H_LOCK_NEXT], 'and no thread is next').toBe(0)
})

test('a dead thread is removed as the next for the lock when its death is detected', () => {
  const { handle } = new SharedEngine().writer
  const header = new Int32Array(handle.header)
  header[L.H_LOCK_NEXT] = DEAD
  expect(takeOverLock(handle, DEAD), 'it did not hold the lock').toBe(false)
  expect(header[L.H_LOCK_NEXT]).toBe(0)
  header[L.H_LOCK_NEXT] = US
  takeOverLock(handle, DEAD)
  expect(header[L.H_LOCK_NEXT], 'another thread is next still').toBe(US)
})
