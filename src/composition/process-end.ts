/**
 * How the process ends: always, and soon.
 *
 * `process.exit` can wait for ever, in code that no timer of ours interrupts. It waits for lmdb's threads while a write is
 * open, here or in a thread that writes files. It waits for a thread that is inside a call that nothing interrupts, such as
 * the parsing of a large body. And it first takes away the thread that guards the end.
 *
 * So `process.exit` is called only when no such threads are left. Otherwise the process sends itself SIGKILL, which loses
 * nothing that was acknowledged. A guard thread does that as well, in case this thread never comes to it.
 */
import { Worker } from 'node:worker_threads'
import { openWrites } from '#store/lmdb/open-writes.ts'
import type { Logger } from '#telemetry/log.ts'
import { hasWritingThreads } from '#threads/writing-threads.ts'

/** How long an end waits for threads, and then for open writes: some flushes of a slow disk. */
const PATIENCE_MS = 2_000
/** When the guard thread ends the process: later than the waits for threads and for writes can take. */
const GUARD_MS = 6_000
const GUARD = `
  const { workerData } = require('node:worker_threads')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms)
  process.kill(process.pid, 'SIGKILL')
`

export interface EndOptions {
  readonly log: Logger
  /** Ends what must not be running at the exit. Resolves to whether that was done in time. */
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

/** Starts the guard thread. Returns false where no thread can be started: then the end waits for nothing. */
function guard(log: Logger): boolean {
  let worker
  try {
    worker = new Worker(GUARD, { eval: true, workerData: { ms: GUARD_MS } })
  } catch (error) {
    // The system can refuse a thread: `new Worker` then throws at once.
    log.error({ err: error }, 'nobody guards the end of the process')
    return false
  }
  worker.unref()
  worker.once('error', error => log.error({ err: error }, 'nobody guards the end of the process'))
  return true
}
