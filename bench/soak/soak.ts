/**
 * Soak test. It keeps the load at 85 % of the peak for a while, with both reads and writes, and compares
 * every response with the only correct one. In the first part, nothing is disturbed, and the memory of the
 * service must stay constant. In the second part, the service is killed with SIGKILL and stopped with
 * SIGTERM, and connections of clients are closed.
 *
 * The service runs on core 0, and this process on core 1. The exit code is 1 if a response is wrong, if an
 * error occurs outside of a disturbance, or if memory grows.
 *
 *     npm run soak [-- SECONDS]        default 600, at least 20
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Figure, publish, RESULTS, round } from '../lib/measure.ts'
import { Actor } from './actor.ts'
import { HttpClient } from './http-client.ts'
import { plotSoak } from './plot.ts'
import { SoakedService } from './service.ts'
import { type Second, Tally } from './tally.ts'

const SECONDS_DEFAULT = 600
const SECONDS_MIN = 20
const ACTORS = 96
const PEAK_SHARE = 0.85
const API_KEY = 'soak-key-soak-key-soak'
/**
 * Shares of the total time: for finding the peak, and for the part without disturbances. The rest is the part
 * with disturbances.
 */
const [PEAK_PART, STEADY_PART] = [0.08, 0.55]
/**
 * Share of the part without disturbances that is used for warming up. The memory during this time is ignored.
 */
const WARM_UP_PART = 0.4
/** Maximum growth of memory after the warm-up. Memory that grows less counts as constant. */
const GROWTH_MAX = 0.05
/** Minimum time in seconds between two disturbances. */
const DISTURBANCE_SECONDS_MIN = 4

const seconds = Math.max(SECONDS_MIN, Number(process.argv[2] ?? SECONDS_DEFAULT))
const directory = mkdtempSync(join(tmpdir(), 'verdict-soak-'))
const service = new SoakedService({
  STORE_URL: `lmdb:${directory}`,
  API_KEY,
  HTTP_THREADS: '1',
  LOG_LEVEL: 'error',
})
const say = (text: string) => process.stdout.write(`${text}\n`)

const tally = new Tally()
const memory: [number, number][] = []
const kills: { at: number; what: string }[] = []
let client: HttpClient
const ending = new AbortController()
/** Milliseconds between two requests, over all actors together. 0 means as fast as possible. */
let paceMs = 0
let nextAt = 0

const startedAt = performance.now()
const elapsed = () => (performance.now() - startedAt) / 1_000

async function startService(): Promise<void> {
  await service.start()
  client = new HttpClient(service.port, API_KEY, ACTORS)
}

/** Waits for the next time slot. After a delay, the missed slots are not all used at the same time. */
async function turn(): Promise<void> {
  if (paceMs === 0) return
  const now = performance.now()
  nextAt = Math.max(nextAt + paceMs, now - 100)
  if (nextAt > now + 1) await sleep(nextAt - now)
}

async function play(actor: Actor): Promise<void> {
  while (!ending.signal.aborted) {
    await turn()
    await actor.act()
  }
}

const DISTURBANCES = [
  ['SIGKILL', () => restart('SIGKILL')],
  ['connections cut', async () => client.cut()],
  ['SIGTERM', () => restart('SIGTERM')],
] as const

async function restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const code = await service.end(signal)
  if (signal === 'SIGTERM' && code !== 0) tally.wrongAnswer(`SIGTERM ended the service with code ${code}`)
  client.close()
  await startService()
}

/** Least-squares line through the points. Returns its slope and its growth. */
function lineThrough(points: readonly (readonly [number, number])[]) {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))]
  const over = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  const under = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  const slope = under === 0 ? 0 : over / under
  const span = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0)
  return { perMinute: slope * 60, growth: (slope * span) / meanY }
}

try {
  await startService()
  await Actor.createModel(client!)
  const actors = Array.from({ length: ACTORS }, (_, index) => new Actor(index, () => client, tally))
  for (const actor of actors) await actor.create()
  const ticking = setInterval(() => {
    tally.endSecond(elapsed())
    const held = service.isRunning ? service.memoryMiB() : null
    if (held !== null && held > 0) memory.push([elapsed(), held])
  }, 1_000)
  const playing = actors.map(play)

  const cpuBefore = { service: service.cpuSeconds(), own: process.cpuUsage() }
  const [requestsBefore, peakFrom] = [tally.requests, elapsed()]
  await sleep(seconds * PEAK_PART * 1_000)
  const peakSeconds = elapsed() - peakFrom
  const peak = (tally.requests - requestsBefore) / peakSeconds
  const own = process.cpuUsage(cpuBefore.own)
  const shares = {
    service: (service.cpuSeconds() - cpuBefore.service) / peakSeconds,
    load: (own.user + own.system) / 1e6 / peakSeconds,
  }
  paceMs = 1_000 / (peak * PEAK_SHARE)
  nextAt = performance.now()
  say(
    `peak ${Math.round(peak)} requests/s (processor: service ${round(shares.service)}, load ${round(shares.load)} of a core each)`,
  )

  const steadyFrom = elapsed()
  await sleep(seconds * STEADY_PART * 1_000)
  const steady = {
    from: steadyFrom,
    to: elapsed(),
    errors: Object.values(tally.errors).reduce((sum, count) => sum + count, 0),
  }
  const held = tally.seconds.filter(({ at }) => at > steady.from && at <= steady.to)
  const rate = held.reduce((sum, second) => sum + second.requests, 0) / (steady.to - steady.from)
  say(`${Math.round(rate)} requests/s held undisturbed`)

  for (let count = 0; elapsed() < seconds; count += 1) {
    const [what, disturb] = DISTURBANCES[count % DISTURBANCES.length]!
    kills.push({ at: elapsed(), what })
    await disturb()
    await sleep(Math.max(DISTURBANCE_SECONDS_MIN, seconds / 40) * 1_000)
  }
  ending.abort()
  await Promise.all(playing)
  clearInterval(ticking)
  await service.end('SIGTERM')

  const warm = memory.filter(
    ([at]) => at > steady.from + (steady.to - steady.from) * WARM_UP_PART && at <= steady.to,
  )
  const { perMinute, growth } = lineThrough(warm)
  const errors = Object.values(tally.errors).reduce((sum, count) => sum + count, 0)
  const figure = (name: string, bar: string, reached: string, isMet: boolean): Figure => ({
    figure: name,
    bar,
    reached,
    isMet,
  })
  const figures: Figure[] = [
    figure(
      'wrong answers',
      '0',
      `${tally.wrongCount} of ${tally.checks} checks, ${tally.requests} requests`,
      tally.wrongCount === 0,
    ),
    figure('errors while nothing was disturbed', '0', `${steady.errors}`, steady.errors === 0),
    figure(
      'rate held, undisturbed',
      `${PEAK_SHARE * 100} % of peak`,
      `${round((rate / peak) * 100)} % of ${Math.round(peak)}/s`,
      rate >= 0.97 * PEAK_SHARE * peak,
    ),
    figure(
      'memory after warm-up',
      `± ${GROWTH_MAX * 100} %`,
      `${round(growth * 100)} %, ${round(perMinute)} MiB a minute`,
      Math.abs(growth) <= GROWTH_MAX,
    ),
    figure(
      'kills and restarts survived',
      '> 0',
      `${kills.length}, ${service.starts} starts`,
      kills.length > 0,
    ),
  ]
  const { seconds: course, wrong, writes } = tally
  publish('soak', figures, {
    seconds,
    peak,
    shares,
    rate,
    writes,
    errors: tally.errors,
    errorCount: errors,
    wrong,
    kills,
    minutes: byMinute(course, memory),
  })
  plotSoak(
    {
      requests: course.map(({ at, requests }) => [at, requests]),
      latencyMsP99: course.map(({ at, latencyMsP99 }) => [at, latencyMsP99]),
      memoryMiB: memory,
      kills,
    },
    `${tally.requests} requests, ${tally.wrongCount} wrong answers, ${errors} errors`,
    new URL('soak.svg', RESULTS),
  )
  for (const each of wrong) say(`wrong: ${each}`)
  if (figures.some(({ isMet }) => !isMet)) process.exitCode = 1
} finally {
  await service.end('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
}

/** Summary of each minute. The plot shows each second. */
function byMinute(course: readonly Second[], held: readonly (readonly [at: number, MiB: number])[]) {
  return [...Map.groupBy(course, ({ at }) => Math.floor(at / 60))].map(([minute, of]) => ({
    minute,
    requests: of.reduce((sum, { requests }) => sum + requests, 0),
    errors: of.reduce((sum, second) => sum + second.errors, 0),
    latencyMsP99Max: Math.max(...of.map(({ latencyMsP99 }) => latencyMsP99)),
    memoryMiBMax: Math.max(...held.filter(([at]) => Math.floor(at / 60) === minute).map(([, MiB]) => MiB)),
  }))
}
