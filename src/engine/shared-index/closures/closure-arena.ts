/**
 * Allocates closures that do not fit inline in their containers, in a separate region. New closures are
 * appended. The space of an invalid closure is not reused individually. The region starts over when it is
 * full, or when it would have to grow although most of its words are dead. To start over, the closure era is
 * increased, which invalidates every closure.
 *
 * Requires the lock, but usually no critical section: readers can continue while a closure is appended,
 * because no head refers to it yet.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { beginSection, endSection } from '#engine/shared-index/memory/sequence.ts'
import { assert } from '#model/assert.ts'

/**
 * Returns the limit of the length of a closure: each closure must be shorter, so that two of them always fit
 * into the region.
 */
export function closureWordsEnd(regions: Regions): number {
  return regions.closureWordsMax() / 2
}

/**
 * Returns the position of `words` new words, or null if the region started over instead. In the latter case,
 * all closures are invalid, and the caller must also rebuild the closures that it has just built.
 */
export function appendClosure(regions: Regions, words: number): number | null {
  const { header } = regions
  const top = header[L.H_CLOSURE_TOP]!
  if (top + words > regions.closures.length) {
    const isMostlyDead = header[L.H_CLOSURE_DEAD]! * 2 > top
    const isFull = top + words > regions.closureWordsMax()
    assert(words < closureWordsEnd(regions), 'a closure fits into the closure region')
    // Needs a critical section: a reader that began before the region grew would access new blocks beyond the
    // end of its view.
    beginSection(header)
    if (isMostlyDead || isFull) startOver(header)
    else regions.growClosures(top + words)
    endSection(header)
    if (isMostlyDead || isFull) return null
  }
  header[L.H_CLOSURE_TOP] = top + words
  return top
}

/** Requires a critical section. Invalidates every closure. */
export function startOver(header: Int32Array): void {
  header[L.H_CLOSURE_ERA] = (header[L.H_CLOSURE_ERA]! + 1) | 0
  header[L.H_CLOSURE_TOP] = L.LINE_WORDS
  header[L.H_CLOSURE_DEAD] = 0
}
