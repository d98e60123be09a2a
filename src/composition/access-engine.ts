/** Engines that say whose access each commit changes: nobody else has them, so writer and readers are of one thread. */
import { randomInt } from 'node:crypto'
import { AccessChanges } from '#engine/access-changes.ts'
import { Reach } from '#engine/shared-index/reach.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { AccessEngine } from '#replica/access-index.ts'

/** Of writer and readers in the lock word of the index. */
const [WRITER_ID, READER_ID, REACH_ID] = [1, 2, 3]
/** Steps of collection behind a commit: a fraction of a millisecond each. */
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
