/**
 * Creates engines that compute effective access changes for each commit. The engine belongs to one thread,
 * which both writes and reads its index.
 */
import { randomInt } from 'node:crypto'
import { AccessChanges } from '#engine/access-changes.ts'
import { Reach } from '#engine/shared-index/reach.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { AccessEngine } from '#replica/access-index.ts'

/** Ids of the writer and the two readers in the lock word of the index. */
const [WRITER_ID, READER_ID, REACH_ID] = [1, 2, 3]
/** Steps of garbage collection after each commit. Each step takes a fraction of a millisecond. */
const COLLECTED = 4

export function createAccessEngine(): AccessEngine {
  const secrets = { start: randomInt(2 ** 31), multiplier: randomInt(2 ** 31) | 1 }
  const writer = new SharedIndexWriter({ threadId: WRITER_ID, secrets })
  const access = new AccessChanges({
    sink: writer,
    open: () => {
      const { handle } = writer
      return {
        engine: new SharedIndexReader(handle, { threadId: READER_ID }),
        reach: new Reach(handle, { threadId: REACH_ID }),
      }
    },
  })
  return {
    load: changes => access.load(changes),
    apply: (changes, permissions) => access.apply(changes, permissions),
    scopesOf: (changes, permissions) => access.scopesOf(changes, permissions),
    tidyUp: () => void writer.collect(COLLECTED),
  }
}
