/**
 * Implements the sequence lock between the single writer and all readers, and the lock that excludes writers
 * and builders from each other.
 *
 *   writer    lock · sequence odd · change · sequence even · unlock
 *   reader    read sequence (even) · read data · read sequence: unchanged → all data is of one state
 *   builder   lock · (sequence cannot change now) · append a closure, publish its head · unlock
 *
 * Readers use plain loads while other threads write. Two orders are needed: the data after the first sequence
 * load, and the second sequence load after the data. V8 does not move plain accesses across an atomic one,
 * and x86 does not reorder loads. ARM does, so reading without the lock is not permitted there:
 * `lockEveryRead` (`consistent-reads.ts`).
 *
 * If a thread dies while it holds the lock, the lock still contains the id of this thread. `takeOverLock` in
 * `recovery.ts` then releases the lock.
 */
import { assert } from '#model/assert.ts'
import * as L from './layout.ts'

const SPINS = 2_000
const WAIT_MS = 1

/** Returns the current sequence, which is even. Waits while a critical section is open. */
export function beginRead(header: Int32Array): number {
  // Acquire: data that is read after this load is at least as new.
  let sequence = Atomics.load(header, L.H_SEQUENCE)
  for (let spins = 0; (sequence & 1) !== 0; spins++) {
    if (spins > SPINS) Atomics.wait(header, L.H_SEQUENCE, sequence, WAIT_MS)
    sequence = Atomics.load(header, L.H_SEQUENCE)
  }
  return sequence
}

/** Returns whether all reads since `beginRead` belong to the same state. */
export function isUnchanged(header: Int32Array, sequence: number): boolean {
  // Acquire does not keep earlier plain loads before this load. On x86, the hardware does; on other
  // processors, this code does not run.
  return Atomics.load(header, L.H_SEQUENCE) === sequence
}

/** Opens a critical section: readers that are reading now fail their validation. Requires the lock. */
export function beginSection(header: Int32Array): void {
  assert((Atomics.load(header, L.H_SEQUENCE) & 1) === 0, 'critical sections do not nest')
  // This is a full barrier: no change becomes visible before the odd sequence.
  Atomics.add(header, L.H_SEQUENCE, 1)
}

export function endSection(header: Int32Array): void {
  // Release: every change is visible before the even sequence.
  Atomics.add(header, L.H_SEQUENCE, 1)
  Atomics.notify(header, L.H_SEQUENCE)
}

/**
 * Retires the index. The next read notices the new epoch and then checks the flag. The function can be called
 * repeatedly.
 */
export function retire(header: Int32Array): void {
  Atomics.store(header, L.H_RETIRED, 1)
  // Release: a reader that sees the new epoch also sees the flag.
  Atomics.add(header, L.H_LAYOUT_EPOCH, 1)
  Atomics.notify(header, L.H_RETIRED)
}

/**
 * Call it after an exception, with the lock held. If the exception interrupted a critical section, the index
 * contains half of a commit. The index is therefore retired before the sequence becomes even and admits
 * readers. No thread then waits for the end of the critical section.
 */
export function retireIfCutShort(header: Int32Array): void {
  if ((Atomics.load(header, L.H_SEQUENCE) & 1) === 0) return
  retire(header)
  endSection(header)
}

export function isRetired(header: Int32Array): boolean {
  return Atomics.load(header, L.H_RETIRED) !== 0
}

export function tryLock(header: Int32Array, threadId: number): boolean {
  // Acquire, if it succeeds: this thread sees the writes of the previous owner.
  return Atomics.compareExchange(header, L.H_LOCK, 0, threadId) === 0
}

/**
 * Waits for the lock. A waiting thread registers itself as the next owner, and no other thread takes the lock
 * before it. Otherwise, a thread that releases the lock and immediately takes it again could keep it forever.
 * If the next owner does not take a free lock during a whole wait, it might be dead, and another thread takes
 * its place. The order among several waiting threads is undefined.
 */
export function lock(header: Int32Array, threadId: number): void {
  if (Atomics.load(header, L.H_LOCK_NEXT) === 0 && tryLock(header, threadId)) return
  for (let spins = 0; ; spins++) {
    let next = Atomics.load(header, L.H_LOCK_NEXT)
    if (next === 0) next = Atomics.compareExchange(header, L.H_LOCK_NEXT, 0, threadId)
    const isNext = next === 0 || next === threadId
    if (isNext && tryLock(header, threadId)) break
    if (spins <= SPINS) continue
    const owner = Atomics.load(header, L.H_LOCK)
    assert(owner !== threadId, 'a thread does not wait for a lock it holds')
    // The lock is free, but it is not this thread's turn. Checks again first, because the next owner might
    // already have used and released the lock.
    if (owner === 0 && (isNext || Atomics.load(header, L.H_LOCK_NEXT) !== next)) continue
    const outcome = Atomics.wait(header, L.H_LOCK, owner, WAIT_MS)
    const isLeftFree = owner === 0 && outcome === 'timed-out'
    if (isLeftFree) Atomics.compareExchange(header, L.H_LOCK_NEXT, next, threadId)
  }
  Atomics.compareExchange(header, L.H_LOCK_NEXT, threadId, 0)
}

export function unlock(header: Int32Array, threadId: number): void {
  // Release: the next owner sees the writes of this thread.
  const owner = Atomics.compareExchange(header, L.H_LOCK, threadId, 0)
  assert(owner === threadId, 'only the owner releases the lock')
  Atomics.notify(header, L.H_LOCK)
}
