/**
 * How the process ends: always, and soon. `process.exit` may wait for ever, in code that no timer of ours interrupts, for threads
 * that wait for this one: lmdb's, while a write is open, here or in a thread that fills files. It waits as long for a thread that is in
 * the midst of a call that nothing interrupts, as the parsing of a large body, and takes away the thread that guards the end before. So
 * it is called only when there are none; else the process ends as if it had been killed, by a signal to itself, which loses nothing that
 * was acknowledged. A thread sees to that as well, should this one not come to it.
 */
import { Worker } from 'node:worker_threads'
import { openWrites } from '#store/lmdb/open-writes.ts'
import type { Logger } from '#telemetry/log.ts'
import { hasWritingThreads } from '#threads/writing-threads.ts'

/** How long an end waits for threads, and then for the writes that are open: some flushes of a slow disk. */
const PATIENCE_MS = 2_000
/** When the other thread ends the process; before that come threads that are let go, and the writes. */
const GUARD_MS = 6_000
const GUARD = `
  const { workerData } = require('node:worker_threads')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms)
  process.kill(process.pid, 'SIGKILL')
`

export interface EndOptions {
  readonly log: Logger
  /** Ends first what must not be running by then; whether it came to its end within that time. */
  readonly letGo: (withinMs: number) => Promise<boolean>
  /** How long threads, and then writes, may take. */
  readonly patienceMs?: number
}

/** Ends the process with that code, or by SIGKILL. */
export async function endProcess(
  code: 0 | 1,
  { log, letGo, patienceMs = PATIENCE_MS }: EndOptions,
): Promise<never> {
  if (!guard(log)) process.kill(process.pid, 'SIGKILL')
  const isLetGo = await letGo(patienceMs).catch((error: unknown) => {
    log.error({ err: error }, 'the end met a fault')
    return false
  })
  if (isLetGo && (await openWrites.allEnded(patienceMs)) && !hasWritingThreads()) process.exit(code)
  const what = isLetGo ? 'a write is still open' : 'a thread does not come to its end'
  log.fatal(`${what}: the process ends itself by SIGKILL`)
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
