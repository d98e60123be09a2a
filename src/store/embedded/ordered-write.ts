/**
 * Writes many entries in the order of their keys. A tree that is filled in order is written once. A tree that is filled at
 * random is written over and over, at a tenth of the speed and falling.
 */
import type { Tables } from '#store/tables.ts'

/** Entries in one write, some 20 ms. Other writers, and this thread, wait that long. */
const WRITE_ENTRIES = 10_000
/**
 * Writes that may be on their way to the disk while the next one is made: waiting for each would take longer than making
 * it.
 */
const WRITES_UNDER_WAY_MAX = 4

/** Resolves when all entries are durable. Throws the signal's reason when the signal is given. */
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
    // The write is awaited below and may fail before.
    next.catch(() => undefined)
    underWay.push(next)
    if (underWay.length > WRITES_UNDER_WAY_MAX) isOver = await underWay.shift()!
  }
  await Promise.all(underWay)
}
