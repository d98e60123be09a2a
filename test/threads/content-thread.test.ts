/** A thread that imports and ends before its time: the import fails, and the process goes on. */
import { expect, test } from 'vitest'
import { ContentThread } from '#threads/content-thread.ts'

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
  const thread = new ContentThread({
    entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    directoryOf: () => '',
    now: Date.now,
    onFault: error => heard.push((error as Error).message),
  })
  await expect(thread.load('any', silentSource())).rejects.toMatchObject({
    code: 'INTERNAL',
    message: 'the thread that imports died',
  })
  expect(heard).toEqual(faults)
})
