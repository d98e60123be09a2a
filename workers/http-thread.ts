/** A thread that serves HTTP, ended by what it cannot go on from, and with it the process. */
import { parentPort, workerData } from 'node:worker_threads'
import { collectGarbage } from '#composition/collect-garbage.ts'
import { writeCompiled } from '#composition/compiled-code.ts'
import { HttpThread } from '#composition/http-thread.ts'
import { loadOpenTracing } from '#composition/open-tracing.ts'
import type { ThreadSettings } from '#config/config.ts'
import { assert } from '#model/assert.ts'
import type { HttpThreadOptions, WaitingThreadData } from '#threads/channel/messages.ts'

assert(parentPort, 'an HTTP thread is started by the main thread')
const { begin } = workerData as WaitingThreadData
// What comes on the port of orders meanwhile waits there until the thread listens to it.
const options = await new Promise<HttpThreadOptions<ThreadSettings>>(resolve =>
  begin.once('message', resolve),
)
begin.close()
const openTracing = await loadOpenTracing(options.settings)
const thread = new HttpThread(parentPort, options, { openTracing, onFault: endAfterFault, onServing: tidy })
// Closed when all is done. Spans that the collector did not take are tried again, for which the thread would go on for seconds.
if (openTracing !== null) parentPort.once('close', () => process.exit())
// A message that could not be handled, too: what an engine missed it will never hear of again.
process.on('uncaughtException', endAfterFault)
await thread.listen()

/**
 * Half of what loading modules leaves is garbage, and would stay: hardly anything joins the old objects from now on, so that they are not
 * collected again, and each collection of new ones looks at all their pages. It is done when the thread has begun to serve, for nobody has
 * to wait for it until then. A process that is not tuned, as that of a test, has no use for it.
 */
function tidy(): void {
  if (globalThis.gc !== undefined) collectGarbage('last-resort')
  writeCompiled()
}

/** The app must be closed before the thread ends: the process would be aborted otherwise. */
async function endAfterFault(error: unknown): Promise<void> {
  // What is thrown below is to end the thread.
  process.off('uncaughtException', endAfterFault)
  await thread.abandon(error)
  setImmediate(() => {
    throw error
  })
}
