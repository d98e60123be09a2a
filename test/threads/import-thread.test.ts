/**
 * A thread that imports and ends: before its time, the import fails and the process goes on; after its last word, that
 * counts.
 */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ImportThread } from '#threads/import-thread.ts'
import { HANG_MS } from '../support/hang.ts'

/** Its sender says nothing for as long as the thread lives. */
function silentSource() {
  const end = Promise.withResolvers<null>()
  return { next: () => end.promise, cancel: () => end.resolve(null) }
}

test.each([
  ['with an error', 'throw new Error("no memory")', ['no memory']],
  ['silently', 'process.exit(0)', []],
])('a thread that ends %s while nobody asks it anything fails the import', async (_, code, faults) => {
  const heard: string[] = []
  const thread = new ImportThread({
    entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    directoryOf: () => '',
    now: Date.now,
    attributesBytesMax: 65_536,
    heldBytesMax: 1e9,
    onFault: error => heard.push((error as Error).message),
  })
  await expect(thread.load('any', silentSource())).rejects.toMatchObject({
    code: 'INTERNAL',
    message: 'the thread that imports died',
  })
  expect(heard).toEqual(faults)
})

test('what a thread said last is heard, even by a main thread that was busy until the thread was gone', async () => {
  const code = `
    import { parentPort } from 'node:worker_threads'
    parentPort.once('message', () => {
      parentPort.postMessage({ kind: 'done', counts: { users: 7 } })
      parentPort.close()
    })`
  const thread = new ImportThread({
    entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    directoryOf: () => '',
    now: Date.now,
    attributesBytesMax: 65_536,
    heldBytesMax: 1e9,
    onFault: error => expect.fail(String(error)),
  })
  // As Linux lists them; nothing is heard until the thread has come, been asked, answered and gone.
  const threads = () => readdirSync('/proc/self/task')
  const before = new Set(threads())
  let own: readonly string[] = []
  const untilItIsGone = (): void => {
    const from = performance.now()
    own = threads().filter(id => !before.has(id))
    while (threads().some(id => own.includes(id))) {
      if (performance.now() - from > HANG_MS) throw new Error('the thread has not ended')
    }
  }
  const next = async () => {
    setImmediate(untilItIsGone)
    return null
  }
  await expect(thread.load('any', { next, cancel: () => {} })).resolves.toEqual({ users: 7 })
  expect(own.length, 'threads that came and went meanwhile').toBeGreaterThan(0)
})
