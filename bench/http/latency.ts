/**
 * How long a single decision takes: at 85 % of the peak, and beside bulks. At a fixed rate, counted from when a request was
 * due; allowed and denied apart.
 */
import { type Burst, closedLoop, fixedRate, type Latencies } from '../lib/load-generator.ts'
import { atMost, round } from '../lib/measure.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import type { Stage } from './stage.ts'
import type { Result } from './throughput.ts'

const PIPELINING = 10
/** Enough that none has many bursts in flight: the HTTP library ends a connection that goes on asking while an answer waits. */
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
  const { address } = await stage.service('one core')
  const { allowed, denied } = stage.questions
  const ofKind = (questions: typeof allowed) =>
    stage.bursts(address, singleRequests(questions.slice(0, 5_000)), PIPELINING)
  const bursts = { allowed: await ofKind(allowed), denied: await ofKind(denied) }
  const all = [...bursts.allowed, ...bursts.denied]
  const peak = await peakOf(address, all)
  const curve: Record<string, Percentiles> = {}
  for (const share of [0.2, 0.4, 0.6, 0.85]) curve[share] = await atRate(address, all, share * peak)
  const kinds = {
    allowed: await atRate(address, bursts.allowed, 0.85 * peak),
    denied: await atRate(address, bursts.denied, 0.85 * peak),
  }
  // What the machine makes of a server that decides nothing: where that stands still, so does everything.
  const floorAddress = (await stage.floor()).address
  const floorBursts = await stage.floorBursts(
    singleRequests(stage.mixedQuestions.slice(0, 10_000)),
    PIPELINING,
  )
  const floor = await atRate(floorAddress, floorBursts, 0.85 * (await peakOf(floorAddress, floorBursts)))
  return {
    figures: [
      ...Object.entries({ 'all questions': curve[0.85]!, ...kinds }).map(([name, { p50, p99 }]) =>
        atMost(`single /allowed at 85 % of its peak, p99 vs p50, ${name}`, p99 / p50, 5, '×'),
      ),
      {
        figure: 'the floor at 85 % of its own peak, p99 vs p50',
        bar: '',
        reached: `${round(floor.p99 / floor.p50)} ×`,
        isMet: true,
      },
    ],
    raw: { peak, curve, kinds, floor },
  }
}

async function peakOf(address: string, bursts: readonly Burst[]): Promise<number> {
  await closedLoop(address, bursts, { connections: CONNECTIONS, seconds: 1 })
  return (await closedLoop(address, bursts, { connections: CONNECTIONS, seconds: 2 })).requestsPerSecond
}

async function atRate(address: string, bursts: readonly Burst[], perSecond: number): Promise<Percentiles> {
  const burstsPerSecond = perSecond / PIPELINING
  return percentilesOf(
    await fixedRate(address, bursts, { connections: CONNECTIONS, seconds: SECONDS, burstsPerSecond }),
  )
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
