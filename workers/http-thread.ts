/** A thread that serves HTTP, ended by what it cannot go on from, and with it the process. */
import { parentPort, workerData } from 'node:worker_threads'
import { collectGarbage } from '#composition/collect-garbage.ts'
import { HttpThread } from '#composition/http-thread.ts'
import { assert } from '#model/assert.ts'

assert(parentPort, 'an HTTP thread is started by the main thread')
const thread = await HttpThread.create(parentPort, workerData, endAfterFault)
// A message that could not be handled, too: what an engine missed it will never hear of again.
process.on('uncaughtException', endAfterFault)
// Half of what loading modules leaves is garbage, and would stay: hardly anything joins the old objects from now on, so that they
// are not collected again, and each collection of new ones looks at all their pages.
collectGarbage('last-resort')
await thread.listen()

/** The app must be closed before the thread ends: the process would be aborted otherwise. */
async function endAfterFault(error: unknown): Promise<void> {
  // What is thrown below is to end the thread.
  process.off('uncaughtException', endAfterFault)
  await thread.abandon(error)
  setImmediate(() => {
    throw error
  })
}
