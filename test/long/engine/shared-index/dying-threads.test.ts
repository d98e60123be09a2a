/** Threads that are terminated while they build closures block no other thread. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import {
  viewerBelow,
  assign,
  instance,
  link,
  relation,
  removed,
  resourceType,
  tenant,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { World } from '../../../engine/world.ts'

const ROUNDS = 30
const FOLDERS = 60
const ANSWERS_BETWEEN = 200

test('the writer and the other readers keep deciding correctly while 30 readers are terminated', async () => {
  const engine = new SharedEngine()
  const toggled = link('folder:spare', 'parent', 'folder:f0')
  const world = new World(
    engine,
    tenant('default'),
    resourceType('folder', 'open'),
    relation('folder', 'parent', 'folder'),
    viewerBelow('folder', 'open'),
    ...['insider', 'outsider'].map(user),
    ...['folder:root', 'folder:spare', 'folder:elsewhere'].map(name => instance(name)),
    ...Array.from({ length: FOLDERS }, (_, n) => instance(`folder:f${n}`)),
    link('folder:root', 'parent', 'folder:f0'),
    ...Array.from({ length: FOLDERS - 1 }, (_, n) => link(`folder:f${n}`, 'parent', `folder:f${n + 1}`)),
    assign('insider', 'viewer', 'folder:root'),
    assign('outsider', 'viewer', 'folder:elsewhere'),
  )
  const { handle } = engine.writer
  const header = new Int32Array(handle.header)
  const cells = new Int32Array(new SharedArrayBuffer(8))
  const start = (threadId: number): Worker =>
    new Worker(new URL('dying-reader.ts', import.meta.url), { workerData: { handle, threadId, cells } })
  let nextThread = 10
  const threads = new Map(Array.from({ length: 2 }, () => [nextThread, start(nextThread++)] as const))
  let held = 0
  for (let round = 0; round < ROUNDS; round++) {
    // This change invalidates all closures, so that both threads build closures while one thread is
    // terminated.
    const wanted = Atomics.load(cells, 0) + ANSWERS_BETWEEN
    for (let n = 0; Atomics.load(cells, 0) < wanted; n++) {
      world.apply(n % 2 === 0 ? toggled : removed(toggled))
      if (n % 50 === 49) await new Promise(resolve => setImmediate(resolve))
    }
    const [threadId, worker] = [...threads][0]!
    threads.delete(threadId)
    const ended = once(worker, 'exit')
    void worker.terminate()
    await ended
    if (takeOverLock(handle, threadId)) held += 1
    expect(Atomics.load(header, L.H_LOCK)).not.toBe(threadId)
    threads.set(nextThread, start(nextThread++))
    expect(world.can('insider', 'open', `folder:f${FOLDERS - 1}`)).toBe(true)
    expect(world.can('outsider', 'open', `folder:f${FOLDERS - 1}`)).toBe(false)
  }
  await Promise.all([...threads.values()].map(worker => worker.terminate()))
  for (const threadId of threads.keys()) takeOverLock(handle, threadId)
  expect(world.can('insider', 'open', 'folder:f30')).toBe(true)
  expect(Atomics.load(cells, 1)).toBe(0)
  process.stdout.write(`${held} of ${ROUNDS} terminated threads held the lock\n`)
})
