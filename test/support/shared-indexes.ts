/**
 * Indexes that threads share, without snapshots and warm-ups, and readers of them in the thread of the test.
 */
import { expect } from 'vitest'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { EngineReaders } from '#threads/indexes/engine-readers.ts'
import { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'

export type SharedIndexesOptions = ConstructorParameters<typeof SharedIndexes>[0]

/** `options` replace the default options. A fault of a thread fails the test. */
export function sharedIndexes(options: Partial<SharedIndexesOptions> = {}) {
  const readers = new EngineReaders(
    handle => new SharedIndexReader(handle, { threadId: 2, lockEveryRead: false }),
  )
  const indexes = new SharedIndexes({
    createWriter: () => new SharedIndexWriter({ threadId: 1, secrets: SECRETS }),
    kept: null,
    warmUpWriter: null,
    attach: async (id, index) => readers.attach(id, index),
    detach: async (id, reason) => readers.detach(id, reason),
    onFault: (id, error) => expect.unreachable(`${id}: ${String(error)}`),
    ...options,
  })
  return { indexes, readers }
}
