/** After a thread has died: gives free what it may have held. To be called by the thread that saw it end. */
import type { IndexHandle } from '#engine/index-handle.ts'
import { startOver } from '#engine/shared-index/closures/closure-arena.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { opened } from '#engine/shared-index/memory/regions.ts'
import { endSection } from '#engine/shared-index/memory/sequence.ts'

/**
 * Takes the lock from a dead reader; true if it held it. A reader holds it to build closures: at worst it leaves
 * words that nobody uses. If it died in one of its short sections, all closures are voided and readers go on.
 *
 * Not for the writer: a commit cut short cannot be told from a whole one. If the writer dies, load a new index.
 */
export function takeOverLock(handle: IndexHandle, deadThreadId: number): boolean {
  const header = new Int32Array(opened(handle).header)
  // It may only have waited for it.
  Atomics.compareExchange(header, L.H_LOCK_NEXT, deadThreadId, 0)
  if (Atomics.load(header, L.H_LOCK) !== deadThreadId) return false
  if ((Atomics.load(header, L.H_SEQUENCE) & 1) !== 0) {
    startOver(header)
    endSection(header)
  }
  // Release: the next owner sees what was put right.
  Atomics.store(header, L.H_LOCK, 0)
  Atomics.notify(header, L.H_LOCK)
  return true
}
