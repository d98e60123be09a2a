/**
 * Recovery after a thread has died: frees what it may have held. To be called by the thread that saw it end.
 */
import type { IndexHandle } from '#engine/index-handle.ts'
import { startOver } from '#engine/shared-index/closures/closure-arena.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { opened } from '#engine/shared-index/memory/regions.ts'
import { endSection } from '#engine/shared-index/memory/sequence.ts'

/**
 * Takes the lock from a dead reader; true if it held it. A reader holds it to build closures, so at worst it
 * leaves words that nothing refers to. If it died in one of its short sections, all closures are voided, and
 * readers go on.
 */
export function takeOverLock(handle: IndexHandle, deadThreadId: number): boolean {
  const header = new Int32Array(opened(handle).header)
  // The dead thread may have been waiting for the lock.
  Atomics.compareExchange(header, L.H_LOCK_NEXT, deadThreadId, 0)
  if (Atomics.load(header, L.H_LOCK) !== deadThreadId) return false
  if ((Atomics.load(header, L.H_SEQUENCE) & 1) !== 0) {
    startOver(header)
    endSection(header)
  }
  // Release: the next owner sees the repair.
  Atomics.store(header, L.H_LOCK, 0)
  Atomics.notify(header, L.H_LOCK)
  return true
}
