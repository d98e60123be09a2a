/** Reads entries in the order of their keys, some at a time, so that whoever writes in between disturbs nothing. */
import type { EntryReader } from './ordered-entries.ts'

/** Entries read at once: few at first, since most readers want one. */
const SOME_MIN = 2
const SOME_MAX = 256

/** The entries from `start` to before `end`. What is written behind the place that is read may or may not be seen. */
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
    // The text that follows: no key lies between.
    from = `${some.at(-1)![0]}\0`
    countMax = Math.min(SOME_MAX, countMax * 4)
  }
}
