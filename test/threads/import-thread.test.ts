/** Import threads that exit. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ImportThread } from '#threads/import-thread.ts'
import { HANG_MS } from '../support/hang.ts'

function threadWith(code: string, onFault: (error: unknown) => void): ImportThread {
  return new ImportThread({
    entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    directoryOf: () => '',
    now: Date.now,
    attributesBytesMax: 65_536,
    heldBytesMax: 1e9,
    onFault,
  })
}

/** A source that sends nothing before the thread exits. */
function silentSource() {
  const end = Promise.withResolvers<null>()
  return { next: () => end.promise, cancel: () => end.resolve(null) }
}

test.each([
  ['with an error', 'throw new Error("no memory")', ['no memory']],
  ['silently', 'process.exit(0)', []],
])('an import thread that exits %s fails the import', async (_, code, faults) => {
  const reported: string[] = []
  const thread = threadWith(code, error => reported.push((error as Error).message))
  await expect(thread.load('any', silentSource())).rejects.toMatchObject({
    code: 'INTERNAL',
    message: 'the import thread failed',
  })
  expect(reported).toEqual(faults)
})

test('the last message of an import thread is received even if the main thread is busy until the thread exits', async () => {
  const code = `
    import { parentPort } from 'node:worker_threads'
    parentPort.once('message', () => {
      parentPort.postMessage({ kind: 'done', counts: { users: 7 } })
      parentPort.close()
    })`
  const thread = threadWith(code, error => expect.fail(String(error)))
  // Blocks the main thread until Linux no longer lists the new thread.
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
  expect(own.length, 'threads that started and exited').toBeGreaterThan(0)
})
