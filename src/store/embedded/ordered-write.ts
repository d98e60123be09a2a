/**
 * Writes many entries in the order of their keys. If a tree is filled in order, each page is written once. If
 * it is filled in random order, pages are written repeatedly, at a tenth of the speed or less.
 */
import type { Tables } from '#store/tables.ts'

/**
 * Number of entries per write. A write takes about 20 ms, and other writers and this thread wait in this
 * time.
 */
const WRITE_ENTRIES = 10_000
/**
 * Maximum number of writes in transit to the disk while the next write is prepared. Waiting for a write to
 * complete would take longer than preparing the next one.
 */
const WRITES_UNDER_WAY_MAX = 4

/** Resolves when all entries are durable. Throws the reason of the signal if it is aborted. */
export async function writeInOrder<Item>(
  tables: Pick<Tables, 'write'>,
  items: Iterable<Item>,
  put: (item: Item) => void,
  signal: AbortSignal | null = null,
): Promise<void> {
  const source = items[Symbol.iterator]()
  const underWay: Promise<boolean>[] = []
  const writeSome = () =>
    tables.write(() => {
      for (let count = 0; count < WRITE_ENTRIES; count += 1) {
        const step = source.next()
        if (step.done) return true
        put(step.value)
      }
      return false
    })
  for (let isOver = false; !isOver;) {
    signal?.throwIfAborted()
    const next = writeSome()
    // The write is awaited below and might fail before that.
    next.catch(() => undefined)
    underWay.push(next)
    if (underWay.length > WRITES_UNDER_WAY_MAX) isOver = await underWay.shift()!
  }
  await Promise.all(underWay)
}
