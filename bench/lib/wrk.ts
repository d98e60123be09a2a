/**
 * Single requests by wrk (a Debian package), one at a time on each of its connections. A generator in JavaScript is stopped by
 * its own collector for milliseconds, which is all there is to see of a server that answers within tenths of one.
 *
 * Every distinct request is first asked by itself and its answer judged (`prepare`). What wrk receives is held against what that
 * adds up to, in bytes: allowed and denied answers differ by two, so that some hundred wrong ones of one kind end the run.
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
   * Milliseconds from when a request was sent. A connection asks again as soon as it is answered; for one that waited twice as
   * long as usual or longer, wrk adds those that it could not send meanwhile.
   */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  /** Share of the requests, those that wrk adds among them, that took longer than `slowMs`. */
  readonly slowShare: number
  /** Share of a core that wrk used. */
  readonly clientCpu: number
}

export interface WrkLoad {
  readonly connections: number
  readonly seconds: number
  /** From when on a request is slow. Default: `SLOW_FACTOR` times the run's own p50. */
  readonly slowMs?: number
}

interface Told {
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

/** What takes longer than so many times the median is slow: a p99 of five times p50 is one slow request in a hundred. */
export const SLOW_FACTOR = 5

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url))
/** A connection: an allowed or denied answer more or less, since they do not come in the order in which they were asked for. */
const ANSWER_BYTES_SLACK = 4

/** Throws when wrk is not there. */
export function requireWrk(): void {
  const { error } = spawnSync('wrk', ['--version'])
  if (error) throw new Error('this bench needs wrk; Debian has a package of that name', { cause: error })
}

/** As many requests as the server takes from so many connections. */
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
  const told = JSON.parse(line) as Told
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

/** Throws unless what came is as long as the right answers to what was asked. */
function check(
  { requests: count, bytes, failed }: Told,
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
