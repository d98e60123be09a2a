/** HTTP thread. An error from which it cannot recover ends the thread and the process. */
import { parentPort, workerData } from 'node:worker_threads'
import { collectGarbage } from '#composition/process/collect-garbage.ts'
import { writeCompiled } from '#composition/process/compiled-code.ts'
import { HttpThread } from '#composition/wiring/http-thread.ts'
import { loadOpenTracing } from '#composition/process/open-tracing.ts'
import type { ThreadSettings } from '#config/settings.ts'
import { assert } from '#model/assert.ts'
import type { HttpThreadOptions, WaitingThreadData } from '#threads/channel/messages.ts'

assert(parentPort, 'an HTTP thread is started by the main thread')
const { begin } = workerData as WaitingThreadData
// Messages on the port of orders are queued until the thread listens to it.
const options = await new Promise<HttpThreadOptions<ThreadSettings>>(resolve =>
  begin.once('message', resolve),
)
begin.close()
const openTracing = await loadOpenTracing(options.settings)
const thread = new HttpThread(parentPort, options, { openTracing, onFault: endAfterFault, onServing: tidy })
// The port is closed after all work. Without the exit, retries of rejected spans would keep the thread alive
// for seconds.
if (openTracing !== null) parentPort.once('close', () => process.exit())
// Failed messages also end the thread, because an engine that misses a change never receives it again.
process.on('uncaughtException', endAfterFault)
await thread.listen()

/**
 * Collects garbage and stores compiled code. After the modules are loaded, half of the old generation is
 * garbage. It would remain, because the old generation hardly grows afterwards, and each collection of new
 * objects would scan all its pages. This happens after the thread has started to serve, so that the start
 * does not wait for it. Processes without `--expose-gc`, such as tests, skip the collection.
 */
function tidy(): void {
  if (globalThis.gc !== undefined) collectGarbage('last-resort')
  writeCompiled()
}

/** Closes the app before the thread ends. Otherwise the process would be aborted. */
async function endAfterFault(error: unknown): Promise<void> {
  // The error that is thrown below must end the thread.
  process.off('uncaughtException', endAfterFault)
  await thread.abandon(error)
  setImmediate(() => {
    throw error
  })
}
