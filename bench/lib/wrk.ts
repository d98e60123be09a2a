/**
 * Sends single requests with wrk, which is a Debian package. Each connection has one request at a time. wrk
 * is used because a generator in JavaScript has garbage collection pauses of milliseconds. These would hide
 * the latencies of a server that responds within tenths of a millisecond.
 *
 * Each distinct request is first sent alone, and its response is verified (`prepare`). The number of bytes
 * that wrk receives is then compared with the length of these responses. Allowed and denied responses differ
 * by two bytes. A few hundred wrong responses of one kind are therefore sufficient to end the run.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Burst } from './load-generator.ts'

export interface WrkRun {
  readonly requestsPerSecond: number
  /**
   * Milliseconds from when a request was sent. A connection sends the next request when it has received a
   * response. If a request took at least twice the usual time, wrk adds the requests that it could not send
   * during this time.
   */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  /** Share of the requests that took longer than `slowMs`. Requests that wrk adds are included. */
  readonly slowShare: number
  /** Share of a core that wrk used. */
  readonly clientCpu: number
}

export interface WrkLoad {
  readonly connections: number
  readonly seconds: number
  /** Threshold for slow requests. Default: `SLOW_FACTOR` times the p50 of the run. */
  readonly slowMs?: number
}

interface WrkReport {
  readonly requests: number
  readonly bytes: number
  readonly seconds: number
  readonly failed: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly slowShare: number
  readonly cpuSeconds: number
}

/**
 * A request is slow if it takes longer than this multiple of the median. If p99 equals five times p50, one in
 * a hundred requests is slow.
 */
export const SLOW_FACTOR = 5

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url))
/**
 * Tolerance in bytes per connection. Responses do not arrive in the order of the requests, so different
 * requests than expected can be incomplete when the run ends. Allowed and denied responses differ by two
 * bytes.
 */
const ANSWER_BYTES_SLACK = 4

/** Throws if wrk is not installed. */
export function requireWrk(): void {
  const { error } = spawnSync('wrk', ['--version'])
  if (error) throw new Error('this bench needs wrk; Debian has a package of that name', { cause: error })
}

/** Sends as many requests as the server can answer over the given number of connections. */
export function runWrk(
  address: string,
  requests: readonly Burst[],
  { connections, seconds, slowMs }: WrkLoad,
): WrkRun {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-wrk-'))
  const file = join(directory, 'requests')
  writeFileSync(
    file,
    Buffer.concat(requests.flatMap(({ bytes }) => [Buffer.from(`${bytes.length}\n`), bytes])),
  )
  const { stdout, stderr, error } = spawnSync(
    'wrk',
    ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', SCRIPT, address],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        REQUESTS: file,
        SLOW_FACTOR: String(SLOW_FACTOR),
        ...(slowMs !== undefined && { SLOW_MS: String(slowMs) }),
      },
    },
  )
  rmSync(directory, { recursive: true })
  if (error) throw error
  const line = stdout.split('\n').find(text => text.startsWith('{'))
  if (line === undefined) throw new Error(`wrk said nothing of its run: ${stdout}${stderr}`)
  const told = JSON.parse(line) as WrkReport
  check(told, requests, connections)
  return {
    requestsPerSecond: told.requests / told.seconds,
    p50: told.p50,
    p99: told.p99,
    p999: told.p999,
    slowShare: told.slowShare,
    clientCpu: told.cpuSeconds / told.seconds,
  }
}

/** Throws unless the number of received bytes matches the lengths of the correct responses. */
function check(
  { requests: count, bytes, failed }: WrkReport,
  requests: readonly Burst[],
  connections: number,
): void {
  const round = requests.reduce((sum, { answerBytes }) => sum + answerBytes, 0)
  const rest = requests
    .slice(0, count % requests.length)
    .reduce((sum, { answerBytes }) => sum + answerBytes, 0)
  const expected = Math.floor(count / requests.length) * round + rest
  const isRight = Math.abs(bytes - expected) <= connections * ANSWER_BYTES_SLACK
  if (failed > 0 || !isRight || count === 0) {
    throw new Error(`wrk: ${failed} of ${count} requests failed; ${bytes} bytes came, not ${expected}`)
  }
}
