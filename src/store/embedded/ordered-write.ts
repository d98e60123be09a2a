/**
 * Many entries written in the order of their keys. A tree that is filled in order is written once; one that is filled
 * at random is written over and over, at a tenth of the speed and falling.
 */
import type { Tables } from '#store/tables.ts'

/** Entries put in one write, some 20 ms: other writers, and the thread, wait for so long. */
const WRITE_ENTRIES = 10_000
/** Writes on their way to the disk while the next is being made: waiting for each costs more time than making it. */
const WRITES_UNDER_WAY_MAX = 4

/** Resolves when all is durable. Throws the signal's reason when that is given on the way. */
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
    // It is waited for below; it may fail before.
    next.catch(() => undefined)
    underWay.push(next)
    if (underWay.length > WRITES_UNDER_WAY_MAX) isOver = await underWay.shift()!
  }
  await Promise.all(underWay)
}
