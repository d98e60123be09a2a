/** A thread that evaluates checks and builds closures until it is terminated. */
import { workerData } from 'node:worker_threads'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import type { SharedIndexHandle } from '#engine/shared-index/memory/index-buffers.ts'

const { handle, threadId, cells } = workerData as {
  handle: SharedIndexHandle
  threadId: number
  /** Number of decisions, and number of wrong decisions. */
  cells: Int32Array
}
const reader = new SharedIndexReader(handle, { threadId })
for (let n = 0; ; n++) {
  const question = { action: 'open', type: 'folder', key: `f${n % 60}`, tenant: null }
  if (
    !reader.evaluate({ ...question, user: 'insider' }) ||
    reader.evaluate({ ...question, user: 'outsider' })
  ) {
    Atomics.add(cells, 1, 1)
  }
  Atomics.add(cells, 0, 2)
  Atomics.notify(cells, 0)
}
