/**
 * Ends the process in bounded time, in every case.
 *
 * `process.exit` can block forever in code that no timer can interrupt. It waits for the threads of lmdb
 * while a write is open, in this thread or in a thread that writes files. It waits for a thread that is
 * inside an uninterruptible call, such as the parsing of a large body. Furthermore, it first terminates the
 * thread that guards the shutdown.
 *
 * Therefore `process.exit` is called only if no such threads remain. Otherwise the process sends itself
 * SIGKILL, which loses nothing that was acknowledged. A guard thread sends SIGKILL if this thread does not
 * end the process in time.
 */
import { Worker } from 'node:worker_threads'
import { openWrites } from '#store/lmdb/open-writes.ts'
import type { Logger } from '#telemetry/log.ts'
import { hasWritingThreads } from '#threads/writing-threads.ts'

/**
 * How long the shutdown waits for threads, and then again for open writes: enough for several flushes of a
 * slow disk.
 */
const PATIENCE_MS = 2_000
/** When the guard thread ends the process. Longer than the waits for threads and for writes together. */
const GUARD_MS = 6_000
const GUARD = `
  const { workerData } = require('node:worker_threads')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms)
  process.kill(process.pid, 'SIGKILL')
`

export interface EndOptions {
  readonly log: Logger
  /**
   * Stops everything that must not be running when the process exits. Resolves to true if that completed in
   * time.
   */
  readonly letGo: (withinMs: number) => Promise<boolean>
  /** Time limit for threads, and then again for writes. */
  readonly patienceMs?: number
}

/** Ends the process with that exit code, or by SIGKILL. */
export async function endProcess(
  code: 0 | 1,
  { log, letGo, patienceMs = PATIENCE_MS }: EndOptions,
): Promise<never> {
  if (!guard(log)) process.kill(process.pid, 'SIGKILL')
  const isLetGo = await letGo(patienceMs).catch((error: unknown) => {
    log.error({ err: error }, 'the shutdown failed')
    return false
  })
  if (isLetGo && (await openWrites.allEnded(patienceMs)) && !hasWritingThreads()) process.exit(code)
  const what = isLetGo ? 'a write is still in progress' : 'a thread does not exit'
  log.fatal(`${what}: the process terminates itself with SIGKILL`)
  process.kill(process.pid, 'SIGKILL')
  return new Promise<never>(() => {})
}

/**
 * Starts the guard thread. Returns false if no thread can be started; the process must then end without
 * waiting.
 */
function guard(log: Logger): boolean {
  let worker
  try {
    worker = new Worker(GUARD, { eval: true, workerData: { ms: GUARD_MS } })
  } catch (error) {
    // If the system refuses to create a thread, `new Worker` throws immediately.
    log.error({ err: error }, 'the shutdown of the process is not supervised')
    return false
  }
  worker.unref()
  worker.once('error', error => log.error({ err: error }, 'the shutdown of the process is not supervised'))
  return true
}
