/** Indexes that a pool thread holds. The test runs the jobs of the thread without starting a thread. */
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { PoolWork } from '#composition/wiring/pool-work.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedPause } from '#scheduling/shared-pause.ts'
import { createDeadline } from '#threads/indexes/staleness-deadline.ts'
import { EngineReaders } from '#threads/indexes/engine-readers.ts'
import { createProgress } from '#threads/indexes/index-progress.ts'
import type { PoolJob } from '#threads/pool/pool-jobs.ts'
import { resourceType } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const pool = new PoolWork({ pauseCell: new SharedPause().cell })
const readers = new EngineReaders(
  handle => new SharedIndexReader(handle, { threadId: 5, lockEveryRead: false }),
)

/** Attaches an index to which no other references exist, and runs a search on it. */
async function attachAndUse(environmentId: string): Promise<WeakRef<SharedArrayBuffer>> {
  const engine = SharedEngine.with([resourceType('document', 'read')])
  const { handle } = engine.writer
  readers.attach(environmentId, {
    index: handle,
    progress: createProgress({ epoch: 'epoch', sequence: 1 }),
    deadline: createDeadline(),
    expiryDeadline: createDeadline(),
  })
  const search: PoolJob = {
    kind: 'search',
    index: readers.shareable(environmentId).index,
    search: {
      kind: 'users',
      question: { action: 'read', type: 'document', key: 'd', tenant: null, requestAttributes: null },
      page: { after: null, limit: 10, triedMax: 100 },
    },
  }
  expect(await pool.work(search)).toHaveProperty('value')
  return new WeakRef(handle.header)
}

async function isHeld(index: WeakRef<SharedArrayBuffer>): Promise<boolean> {
  // Node.js holds a referenced object until the end of the event-loop iteration in which it was used.
  await setImmediate()
  collectGarbage()
  return index.deref() !== undefined
}

test('a pool thread releases replaced and detached indexes, and no other indexes', async () => {
  const replaced = await attachAndUse('replaced')
  const takenBack = await attachAndUse('taken back')
  const standing = await attachAndUse('standing')
  const replacing = await attachAndUse('replaced')
  readers.detach('taken back', null)
  expect(await isHeld(takenBack)).toBe(true)
  expect(await pool.work({ kind: 'let-go' })).toEqual({ value: null })
  expect(await isHeld(replaced)).toBe(false)
  expect(await isHeld(takenBack)).toBe(false)
  expect(await isHeld(standing)).toBe(true)
  expect(await isHeld(replacing)).toBe(true)
})
