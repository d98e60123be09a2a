/**
 * Repairs the shared index after a thread has died: releases the lock if the thread held it. Called by the
 * thread that observed the exit.
 */
import type { IndexHandle } from '#engine/index-handle.ts'
import { startOver } from '#engine/shared-index/closures/closure-arena.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { opened } from '#engine/shared-index/memory/index-buffers.ts'
import { endSection } from '#engine/shared-index/memory/sequence.ts'

/**
 * If the dead reader held the lock, releases the lock and returns true. A reader holds the lock only to build
 * closures, so a dead reader usually leaves only words that no head refers to. If the reader died in one of
 * its short critical sections, all closures are invalidated, and other readers continue.
 */
export function takeOverLock(handle: IndexHandle, deadThreadId: number): boolean {
  const header = new Int32Array(opened(handle).header)
  // Removes the dead thread as the next owner, because it might have been waiting for the lock.
  Atomics.compareExchange(header, L.H_LOCK_NEXT, deadThreadId, 0)
  if (Atomics.load(header, L.H_LOCK) !== deadThreadId) return false
  if ((Atomics.load(header, L.H_SEQUENCE) & 1) !== 0) {
    startOver(header)
    endSection(header)
  }
  // Release: the next owner of the lock sees the repair.
  Atomics.store(header, L.H_LOCK, 0)
  Atomics.notify(header, L.H_LOCK)
  return true
}
