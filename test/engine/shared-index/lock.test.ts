/**
 * The lock between threads, and what remains of it when they die. `bench/claims` shows that a waiting thread
 * gets it soon.
 */
import { expect, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import { lock, tryLock, unlock } from '#engine/shared-index/memory/sequence.ts'
import { tenant } from '#testing/engines/changes.ts'
import { SharedEngine, restoredWriter } from '#testing/engines/shared-engine.ts'

const US = 1
const DEAD = 99

test('an index that was kept while somebody held its lock and somebody waited is restored with neither', () => {
  const { writer } = new SharedEngine()
  writer.apply([tenant('default')])
  const header = new Int32Array(writer.handle.header)
  header[L.H_LOCK] = DEAD
  header[L.H_LOCK_NEXT] = DEAD + 1
  const restored = new Int32Array(restoredWriter(writer.save()!).handle.header)
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
