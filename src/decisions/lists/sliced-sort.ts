/** Sorts in slices, because sorting a hundred thousand texts in one step would block other requests. */
import type { Resumable } from '#scheduling/resumable.ts'

/** Number of items that are sorted in one step, and of comparisons between two pauses. */
const RUN = 512

/** Returns a new sorted array. The sort is stable. O(n log n). */
export function* sortedInSlices<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
): Resumable<Item[]> {
  let from: Item[] = []
  for (let start = 0; start < items.length; start += RUN) {
    if (start > 0) yield
    from.push(...items.slice(start, start + RUN).toSorted(compare))
  }
  let to: Item[] = Array.from({ length: from.length })
  for (let width = RUN; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length)
      const end = Math.min(start + 2 * width, from.length)
      let left = start
      let right = middle
      for (let at = start; at < end; at++) {
        if ((at + 1) % RUN === 0) yield
        const isLeft = right === end || (left < middle && compare(from[left]!, from[right]!) <= 0)
        to[at] = isLeft ? from[left++]! : from[right++]!
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}
