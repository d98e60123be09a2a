/**
 * How the process ends: always, and soon. `process.exit` may wait for ever, in code that no timer of ours interrupts, for threads
 * that wait for this one: lmdb's, while a write is open, here or in a thread that fills files. So it is called only when there are
 * none; else the process ends as if it had been killed, by a signal to itself, which loses nothing that was acknowledged. A thread
 * sees to that as well, should this one not come to it.
 */
import { Worker } from 'node:worker_threads'
import { openWrites } from './store/lmdb/open-writes.ts'
import { hasWritingThreads } from './threads/writing-threads.ts'
import type { Logger } from './telemetry/log.ts'

/** How long an end takes to wait for the writes that are open: some flushes of a slow disk. */
const WRITES_MS_MAX = 2_000
/** When the other thread ends the process; before that come threads that are let go, and the writes. */
const GUARD_MS = 6_000
const GUARD = `
  const { workerData } = require('node:worker_threads')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms)
  process.kill(process.pid, 'SIGKILL')
`

/** Ends the process with that code, or by SIGKILL; `letGo` ends first what must not be running by then, if it comes to an end. */
export async function endProcess(
  code: 0 | 1,
  { log, letGo }: { readonly log: Logger; readonly letGo: () => Promise<void> },
): Promise<never> {
  if (!guard(log)) process.kill(process.pid, 'SIGKILL')
  await letGo().catch((error: unknown) => log.error({ err: error }, 'the end met a fault'))
  if ((await openWrites.allEnded(WRITES_MS_MAX)) && !hasWritingThreads()) process.exit(code)
  log.fatal('a write is still open: the process ends itself by SIGKILL')
  process.kill(process.pid, 'SIGKILL')
  return new Promise<never>(() => {})
}

/** Without it, as where no thread can be started any more, nothing is waited for. */
function guard(log: Logger): boolean {
  let worker
  try {
    worker = new Worker(GUARD, { eval: true, workerData: { ms: GUARD_MS } })
  } catch (error) {
    // A thread that the system refuses is thrown at once.
    log.error({ err: error }, 'nobody guards the end of the process')
    return false
  }
  worker.unref()
  worker.once('error', error => log.error({ err: error }, 'nobody guards the end of the process'))
  return true
}
