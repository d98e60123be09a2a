/** Thread that builds the secondary indexes of a new local replica. Any message aborts it. */
import { parentPort, workerData } from 'node:worker_threads'
import { buildLists } from '#composition/node/replica-list-build.ts'
import { assert } from '#model/assert.ts'

assert(parentPort, 'this thread is started by the main thread')
const main = parentPort
const stop = new AbortController()
main.once('message', () => stop.abort())
await buildLists((workerData as { readonly directory: string }).directory, stop.signal).finally(() => {
  main.close()
})
