/** The readers of an HTTP thread, with an index in which alice may read document:d. */
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { createDeadline, StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { EngineReaders } from '#threads/indexes/engine-readers.ts'
import { createProgress } from '#threads/indexes/index-progress.ts'
import { assign, instance, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

/** Returns readers of environments that share one index and one time limit. */
export function documentReaders(...environmentIds: readonly string[]): EngineReaders {
  const engine = SharedEngine.with([
    tenant('default'),
    resourceType('document', 'read'),
    role('document', 'viewer', { can: ['read'] }),
    user('alice'),
    instance('document:d'),
    assign('alice', 'viewer', 'document:d'),
  ])
  const { handle } = engine.writer
  const deadline = new StalenessDeadline()
  const readers = new EngineReaders(() => new SharedIndexReader(handle, { threadId: 5 }))
  const progress = createProgress({ epoch: 'epoch', sequence: 1 })
  for (const environmentId of environmentIds) {
    readers.attach(environmentId, {
      index: handle,
      progress,
      deadline: deadline.handle,
      expiryDeadline: createDeadline(),
    })
  }
  return readers
}
