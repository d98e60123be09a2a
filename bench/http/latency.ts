/**
 * How long a single decision takes: at loads up to the peak, allowed and denied apart, and beside bulks.
 */
import { type Burst, fixedRate, type Latencies } from '../lib/load-generator.ts'
import { atMost, round } from '../lib/measure.ts'
import { requireWrk, runWrk, type WrkRun } from '../lib/wrk.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import { CLIENT_CPU_MAX, type Stage } from './stage.ts'
import { type Result, unlessVoid } from './throughput.ts'

/** Connections, each with one request at a time: what makes the load. */
const LADDER = [1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64]
const RUNG_SECONDS = 1
/** At the rung that comes nearest to that share of the peak. */
const SHARE = 0.85
const SECONDS_AT_SHARE = 2
/** The median of so many runs counts. */
const ROUNDS = 5
/** Enough that none has many requests in flight: the HTTP library ends a connection that goes on asking while an answer waits. */
const CONNECTIONS = 64
const SECONDS = 2
/** Single decisions a second beside bulks, one a packet, and bulks of 10,000 a second. */
const BESIDE = { singlesPerSecond: 5_000, bulksPerSecond: 30, checks: 10_000 }

export interface Percentiles {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly lateMsP99: number
  readonly clientCpu: number
}

export function percentilesOf({ ms, lateMsP99, clientCpu }: Latencies): Percentiles {
  const at = (share: number) => ms[Math.min(ms.length - 1, Math.floor(ms.length * share))]!
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), lateMsP99, clientCpu }
}

export async function measureLatency(stage: Stage): Promise<Result> {
  requireWrk()
  const { address } = await stage.service('one core')
  const { allowed, denied } = stage.questions
  const mixed = singleRequests(stage.mixedQuestions.slice(0, 10_000))
  const asked = async (name: string, requests: ReturnType<typeof singleRequests>) =>
    [name, address, await stage.bursts(address, requests, 1)] as const
  const floor = (await stage.floor()).address
  const subjects = [
    await asked('all questions', mixed),
    await asked('allowed', singleRequests(allowed.slice(0, 5_000))),
    await asked('denied', singleRequests(denied.slice(0, 5_000))),
    // What the machine makes of a server that decides nothing: where that stands still, so does everything.
    ['the floor', floor, await stage.floorBursts(mixed, 1)] as const,
  ]
  const measured = subjects.map(([name, at, requests]) => [name, climb(at, requests)] as const)
  return {
    figures: measured.map(([name, { nearest, peak }]) => {
      const { p50, p99, requestsPerSecond } = medianRun(nearest)
      const share = round((100 * requestsPerSecond) / peak)
      const figure = `single /allowed at ${share} % of its peak, p99 vs p50, ${name}`
      const isVoid = nearest.some(({ clientCpu }) => clientCpu > CLIENT_CPU_MAX)
      const reached =
        name === 'the floor'
          ? { figure, bar: '', reached: `${round(p99 / p50)} ×`, isMet: true }
          : atMost(figure, p99 / p50, 5, '×')
      return unlessVoid(reached, isVoid)
    }),
    raw: { latency: Object.fromEntries(measured) },
  }
}

interface Climbed {
  readonly peak: number
  /** By the number of connections. */
  readonly rungs: Readonly<Record<number, WrkRun>>
  /** All runs at the rung nearest to the share. */
  readonly nearest: readonly WrkRun[]
}

function climb(address: string, requests: readonly Burst[]): Climbed {
  // For warming up.
  runWrk(address, requests, { connections: LADDER.at(-1)!, seconds: SECONDS_AT_SHARE })
  const rungs = LADDER.map(
    connections => [connections, runWrk(address, requests, { connections, seconds: RUNG_SECONDS })] as const,
  )
  const peak = Math.max(...rungs.map(([, run]) => run.requestsPerSecond))
  const distance = (run: WrkRun) => Math.abs(run.requestsPerSecond / peak - SHARE)
  // Behind the peak more connections only wait longer.
  const upToPeak = rungs.slice(0, rungs.findIndex(([, run]) => run.requestsPerSecond === peak) + 1)
  const [connections] = upToPeak.toSorted(([, a], [, b]) => distance(a) - distance(b))[0]!
  const again = { connections, seconds: SECONDS_AT_SHARE }
  const nearest = Array.from({ length: ROUNDS }, () => runWrk(address, requests, again))
  return { peak, rungs: Object.fromEntries(rungs), nearest }
}

function medianRun(runs: readonly WrkRun[]): WrkRun {
  return runs.toSorted((a, b) => a.p99 / a.p50 - b.p99 / b.p50)[Math.floor(runs.length / 2)]!
}

/** Beside bulks, the service with its pool on two cores; then the floor beside the same bulks, which it answers, too. */
export async function measureBesideBulks(stage: Stage): Promise<Result> {
  const service = await stage.service('two cores', { POOL_THREADS: '1' })
  service.pin('0,1')
  const floor = await stage.floor()
  const questions = stage.mixedQuestions
  const singles = singleRequests(questions.slice(0, 5_000))
  const bulks = bulkRequests(questions, BESIDE.checks, 4)
  const ofService = {
    singles: await stage.bursts(service.address, singles, 1),
    bulks: await stage.bursts(service.address, bulks, 1),
  }
  const ofFloor = { singles: await stage.floorBursts(singles, 1), bulks: await stage.floorBursts(bulks, 1) }
  const runs: Record<string, Percentiles[]> = { service: [], floor: [] }
  for (let times = 0; times < 3; times++) {
    runs['service']!.push(await beside(service.address, ofService))
    runs['floor']!.push(await beside(floor.address, ofFloor))
  }
  const p99 = (of: readonly Percentiles[]) => of.map(one => one.p99).toSorted((a, b) => a - b)[1]!
  return {
    figures: [
      atMost(
        'single /allowed beside bulks of 10,000, p99 vs floor',
        p99(runs['service']!) / p99(runs['floor']!),
        3,
        '×',
      ),
    ],
    raw: { besideBulks: { ...BESIDE, ...runs } },
  }
}

async function beside(
  address: string,
  { singles, bulks }: { readonly singles: readonly Burst[]; readonly bulks: readonly Burst[] },
): Promise<Percentiles> {
  const [latencies] = await Promise.all([
    fixedRate(address, singles, {
      connections: CONNECTIONS,
      seconds: SECONDS,
      burstsPerSecond: BESIDE.singlesPerSecond,
      isPolite: true,
    }),
    fixedRate(address, bulks, {
      connections: 4,
      seconds: SECONDS,
      burstsPerSecond: BESIDE.bulksPerSecond,
      isPolite: true,
    }),
  ])
  return percentilesOf(latencies)
}
