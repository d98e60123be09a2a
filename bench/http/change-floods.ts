/**
 * Measures the effect of one environment with large commits and 200 streams, each with its own filter.
 * Figures are the duration of the writes of another environment, the longest pause of the main thread, and
 * the memory of the process. In a first run, the readers of the streams read everything. In a second run,
 * they read nothing.
 *
 *     npm run bench -- changes floods
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import type { Watched } from '../management/main-thread-watch.ts'
import { percentile } from '../lib/measure.ts'

const STREAMS = 200
const API_KEY = 'a-key-of-the-bench'
const FACTS = '/v2/facts/default/default'
const OTHER_FACTS = '/v2/facts/default/other'
const WATCH = new URL('../management/main-thread-watch.ts', import.meta.url).href
const USERS = 1_000
/**
 * Attribute bytes per user. With the first value, a bulk has 1.4 MB. With the second value, it is ten times
 * as long.
 */
const [FEW_BYTES, MANY_BYTES] = [1_300, 9_500]
/** Number of commits that paused readers must catch up with. */
const MISSED = 24
const MEASURED_MS = 20_000

export async function measureFloods(say: (text: string) => void): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-floods-'))
  const service = new ServiceProcess({
    cwd: directory,
    env: {
      STORE_URL: 'lmdb:./data',
      API_KEY,
      ADMIN_API_KEY: `${API_KEY}-admin`,
      HTTP_THREADS: '1',
      LOG_LEVEL: 'error',
      MAX_BODY_BYTES: '33554432',
      VERDICT_FORM: 'sources',
      NODE_OPTIONS: `--import=${WATCH}`,
    },
  })
  try {
    const port = new URL(await service.address()).port
    await call(port, 'POST', '/v2/projects/default/envs', { key: 'other', name: 'Other' })
    const since = await call(port, 'GET', `${FACTS}/users?per_page=1`)
    await watched(service)
    await measureDuring(service, port, say, 'a commit of 1.4 MB, no readers', () =>
      call(port, 'POST', `${FACTS}/bulk/users`, bulk(-1, FEW_BYTES)),
    )
    say(`${STREAMS} streams with a filter each; ${residentMb(service)} MB resident`)
    const reading = await readers(port, 'read', '')
    await measureDuring(service, port, say, 'a commit of 1.4 MB, readers that read', () =>
      call(port, 'POST', `${FACTS}/bulk/users`, bulk(0, FEW_BYTES)),
    )
    reading.kill()
    for (let n = 1; n <= MISSED; n++) await call(port, 'POST', `${FACTS}/bulk/users`, bulk(n, MANY_BYTES))
    await watched(service)
    say(`${residentMb(service)} MB resident after ${MISSED} commits of ${(USERS * MANY_BYTES) / 1e6} MB`)
    let idle: Awaited<ReturnType<typeof readers>> | null = null
    await measureDuring(service, port, say, 'a catch-up of readers that read nothing', async () => {
      idle = await readers(port, 'pause', `&since=${since}`)
    })
    ;(idle as { kill(): unknown } | null)?.kill()
  } finally {
    await service.end('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  }
}

function bulk(nth: number, bytes: number) {
  const attributes = { text: 'x'.repeat(bytes) }
  return { operations: Array.from({ length: USERS }, (_, n) => ({ key: `u${nth}-${n}`, attributes })) }
}

/** Runs `work`, and measures the writes of another environment during and after it. */
async function measureDuring(
  service: ServiceProcess,
  port: string,
  say: (text: string) => void,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const waits: number[] = []
  const stop = new AbortController()
  let [mostMb, nth] = [0, 0]
  const writing = (async () => {
    while (!stop.signal.aborted) {
      const from = performance.now()
      await call(port, 'POST', `${OTHER_FACTS}/users`, { key: `${name}-${nth++}`.replaceAll(/[ ,.]/g, '-') })
      waits.push(performance.now() - from)
      mostMb = Math.max(mostMb, residentMb(service))
      await pause(20)
    }
  })()
  await Promise.all([work(), pause(MEASURED_MS)])
  stop.abort()
  await writing
  const { loop } = await watched(service)
  const [p50, p99, longest] = [0.5, 0.99, 1].map(share => percentile(waits, share)!.toFixed(0))
  say(`${name}:`)
  say(
    `  writes of another environment: p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms, ${waits.length} in all`,
  )
  const [keptMs, ranMs] = [loop.max, loop.ranMax].map(longestMs => longestMs.toFixed(0))
  say(
    `  main thread kept from all else: ${keptMs} ms at most, of which it ran ${ranMs} ms; memory: ${mostMb} MB`,
  )
}

async function readers(port: string, mode: string, query: string) {
  const args = [port, `${API_KEY}-admin`, String(STREAMS), mode, query]
  const child = fork(new URL('change-readers.ts', import.meta.url), args)
  await once(child, 'message')
  return child
}

async function watched(service: ServiceProcess): Promise<Watched> {
  service.stdout = ''
  process.kill(service.pid, 'SIGUSR2')
  return JSON.parse((await service.stdoutMatch(/watched (.*)\n/))[1]!) as Watched
}

function residentMb(service: ServiceProcess): number {
  return Math.round(
    Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1]) / 1e3,
  )
}

/** Sends a request. Returns the revision in the response. */
async function call(port: string, method: string, path: string, body?: unknown): Promise<string> {
  const headers = { authorization: `Bearer ${API_KEY}-admin`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
  return response.headers.get('x-revision') ?? ''
}
