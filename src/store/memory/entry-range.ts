/**
 * Reads entries in the order of their keys, in batches, so that concurrent writes do not disturb the
 * iteration.
 */
import type { EntryReader } from './ordered-entries.ts'

/**
 * Numbers of entries that are read at a time. The first read is small, because most readers need one entry.
 */
const SOME_MIN = 2
const SOME_MAX = 256

/**
 * Yields the entries from `start` to `end` (exclusive). The iterator might or might not see writes to keys
 * after its current position.
 */
export function* entryRange<Value>(
  entries: EntryReader<Value>,
  start: string,
  end: string | null,
): Generator<[key: string, value: Value], void> {
  let countMax = SOME_MIN
  for (let from = start; ;) {
    const some = entries.some(from, end, countMax)
    yield* some
    if (some.length < countMax) return
    // The next possible key: no key can be between the last read key and this one.
    from = `${some.at(-1)![0]}\0`
    countMax = Math.min(SOME_MAX, countMax * 4)
  }
}
