/** Starts a service that throws an uncaught error while writes are open. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { running, source } from '../../support/processes/started-process.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

/** Settings with which a process throws during a write as soon as the file `fail-now` exists. */
function writingAndFailing(isStuckThen: boolean) {
  return running(`import { isMainThread } from 'node:worker_threads'
    import { existsSync } from 'node:fs'
    import { LmdbTables } from '${source('store/lmdb/lmdb-tables.ts')}'
    const fail = () => {
      // Runs after the handler of the service, which has begun the shutdown and waits for other threads.
      if (${isStuckThen}) process.on('uncaughtException', () => { for (;;); })
      throw new Error('on purpose')
    }
    const keepWriting = async directory => {
      const tables = new LmdbTables(directory)
      const table = tables.table('busy')
      for (let n = 0; ; n += 1) {
        await tables.write(() => {
          table.put(Buffer.from('key' + (n % 100)), Buffer.alloc(2_000, n))
          if (n % 10 === 0 && existsSync('fail-now')) setImmediate(fail)
        })
      }
    }
    // Delays the exit, as on a busy machine, so that the threads of lmdb get as far as they can.
    if (isMainThread) process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50))
    if (isMainThread) for (const name of ['one', 'two', 'three']) void keepWriting('busy-' + name).catch(() => {})`)
}

/** Settings with which a thread next to each HTTP thread is in a blocking call when the process fails. */
function stuckBesideAndFailing() {
  const stuck = `require('node:fs').writeFileSync('stuck', ''); require('node:child_process').spawnSync('sleep', ['30'])`
  return running(`import { isMainThread, Worker } from 'node:worker_threads'
    import { existsSync } from 'node:fs'
    if (!isMainThread) new Worker(${JSON.stringify(stuck)}, { eval: true, execArgv: [], env: {} })
    const look = () => {
      if (existsSync('fail-now') && existsSync('stuck')) throw new Error('on purpose')
      setTimeout(look, 10)
    }
    if (isMainThread) look()`)
}

/** Settings with which the process fails while another thread makes a large write. */
function writingLargeAndFailing() {
  const at = (path: string): string => new URL(path, import.meta.url).href
  return running(`import { isMainThread } from 'node:worker_threads'
    import { existsSync } from 'node:fs'
    import { randomBytes } from 'node:crypto'
    import { EmbeddedLedger } from '${source('store/embedded/embedded-ledger.ts')}'
    import { LmdbTables } from '${source('store/lmdb/lmdb-tables.ts')}'
    import { TableView } from '${source('store/embedded/table-view.ts')}'
    import { WriteThread } from '${source('store/large-writes/write-thread.ts')}'
    import { toyRule } from '${at('../../store/toy-rows.ts')}'
    const put = Array.from({ length: 2_000 }, (_, n) => ({ key: Buffer.from('row' + n), value: Buffer.from('ar') }))
    const keepWriting = async () => {
      const tables = new LmdbTables('busy')
      const view = new TableView(tables, toyRule)
      const largeWrites = new WriteThread(new URL('${at('../../store/toy-large-writes.ts')}'))
      const ledger = await EmbeddedLedger.open({ tables, view, largeWrites })
      for (;;) {
        const commit = ledger.commit({ id: randomBytes(16), require: [], delete: [], put, changes: [] })
        // After some milliseconds, the other thread is writing.
        if (existsSync('fail-now')) setTimeout(() => { throw new Error('on purpose') }, 5)
        await commit
      }
    }
    if (isMainThread) void keepWriting().catch(() => {})`)
}

/**
 * Runs the service until it fails. If `isStuckThen`, the main thread blocks after the error. If `isLarge`,
 * another thread writes. If `isStuckBeside`, another thread is in a blocking call, and no thread writes.
 */
export async function fatalWhileWriting({
  isStuckThen = false,
  isLarge = false,
  isStuckBeside = false,
} = {}): Promise<{
  readonly code: number | null
  /** Time from the log line with the reason to the exit. */
  readonly endedAfterMs: number
  readonly log: string
}> {
  const cwd = mkdtempSync(join(tmpdir(), 'verdict-fatal-'))
  const writing = isLarge ? writingLargeAndFailing() : writingAndFailing(isStuckThen)
  const options = isStuckBeside ? stuckBesideAndFailing() : writing
  const service = new ServiceProcess({
    cwd,
    env: { API_KEY: 'a-configured-key-for-tests', HTTP_THREADS: '1', ...options },
  })
  try {
    await service.address()
    writeFileSync(join(cwd, 'fail-now'), '')
    await service.logMatch(/on purpose/)
    const loggedAt = performance.now()
    const code = await service.exited
    return { code, endedAfterMs: performance.now() - loggedAt, log: service.stderr }
  } finally {
    await service.end('SIGKILL')
    rmSync(cwd, { recursive: true, force: true })
  }
}
