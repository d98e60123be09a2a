/** Latency of single decisions: at loads up to the peak, allowed and denied separately, and during bulks. */
import { type Burst, fixedRate, type Latencies, type WireRequest } from '../lib/load-generator.ts'
import { atMost, type Figure, median, round, voided } from '../lib/measure.ts'
import { requireWrk, runWrk, SLOW_FACTOR, type WrkLoad, type WrkRun } from '../lib/wrk.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import { CLIENT_CPU_MAX, type Stage } from './stage.ts'
import { type Result, unlessVoid } from './throughput.ts'

/**
 * Numbers of connections, each with one request at a time, for the loads of the plot, up to the peak and
 * beyond.
 */
const LADDER = [1, 2, 3, 4, 6, 8, 16, 64]
/** Number of passes over the ladder. The medians of each load count. */
const CLIMBS = 3
/** Duration of every run. */
const RUN_SECONDS = 1
/** Share of the peak at which the target applies. No number of connections yields exactly this load. */
const SHARE = 0.85
/**
 * The lowest number of connections of the ladder that reaches this share is used for all subjects. It is
 * slightly higher than `SHARE`, because the load is slightly lower in other rounds.
 */
const SHARE_ON_LADDER = 0.88
const CONNECTIONS_AT_PEAK = 16
const WARMING = { connections: CONNECTIONS_AT_PEAK, seconds: 2 }
/**
 * Number of runs of one second, with all subjects alternating; the medians count. Occasional pauses of the
 * machine affect only some runs; regular pauses of the service affect all of them.
 */
const ROUNDS = 27
/**
 * The peak is measured again in every nth round, because the speed of the machine can change between rounds.
 */
const PEAK_EVERY = 3
/** Target: p99 divided by p50, or this share of slow decisions. */
const RATIO_MAX = SLOW_FACTOR
const SLOW_SHARE_MAX = 0.01
/**
 * Enough that no connection has many requests in flight: the HTTP library closes a connection that sends
 * further requests while a response is pending.
 */
const CONNECTIONS = 64
const SECONDS = 2
/** Load during bulks: single decisions per second, one per packet, and bulks of 10,000 checks per second. */
const WITH_BULKS = { singlesPerSecond: 5_000, bulksPerSecond: 30, checks: 10_000 }

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
  const floorServer = await stage.tunedFloor()
  const { allowed, denied } = stage.questions
  const everything = singleRequests(stage.mixedQuestions.slice(0, 10_000))
  const asked = async (name: string, requests: readonly WireRequest[]): Promise<Subject> => ({
    name,
    address,
    requests: await stage.bursts(address, requests, 1),
  })
  const whole = await asked('all questions', everything)
  const parts = [
    await asked('allowed', singleRequests(allowed.slice(0, 5_000))),
    await asked('denied', singleRequests(denied.slice(0, 5_000))),
  ]
  const rungs = climb(whole)
  const connections = connectionsAtShare(rungs)
  const { served, floor } = measureAtShare(connections, [whole, ...parts], {
    // Shows the effect of the machine on a server that makes no decisions: pauses of the machine affect both.
    name: 'the floor',
    address: floorServer.address,
    requests: await stage.floorBursts(floorServer, everything, 1),
  })
  const measured = [...served, floor]
  const added = Math.max(...served.map(one => addedShare(one, floor)))
  const atFloor = { figure: figureName(floor), bar: '', reached: `${round(floor.ratio)} ×`, isMet: true }
  return {
    figures: [
      ...served.map(one => figureOf(one, floor)),
      unlessVoid(atFloor, floor.isVoid),
      unlessVoid(
        atMost(
          `share of decisions over ${SLOW_FACTOR} × p50, less the floor's share over that`,
          100 * added,
          100 * SLOW_SHARE_MAX,
          '%',
        ),
        measured.some(({ isVoid }) => isVoid),
      ),
    ],
    raw: { rungs, connections, latency: Object.fromEntries(measured.map(({ name, ...raw }) => [name, raw])) },
  }
}

function figureName({ name, share, peak }: Measured): string {
  return `single /allowed at ${round(100 * share)} % of ${round(peak)}/s, p99 vs p50, ${name}`
}

/**
 * A missed target is void if the baseline server, in the same rounds, also misses it, and the share that the
 * service adds is within the target.
 */
function figureOf(measured: Measured, floor: Measured): Figure {
  const { ratio, share, isVoid } = measured
  const figure = atMost(figureName(measured), ratio, RATIO_MAX, '×')
  if (isVoid) return unlessVoid(figure, isVoid)
  if (share < SHARE) return voided(figure, `the load was less than ${100 * SHARE} %`)
  const isTheMachines =
    !floor.isVoid && floor.ratio > RATIO_MAX && addedShare(measured, floor) <= SLOW_SHARE_MAX
  if (figure.isMet || !isTheMachines) return figure
  return voided(figure, `${figure.reached}, and a bare server was at ${round(floor.ratio)} ×`)
}

/**
 * Share of slow decisions minus the share of slow responses of the baseline server in the same round; the
 * median of the rounds.
 */
function addedShare({ runs }: Measured, floor: Measured): number {
  return median(runs.map(({ slowShare }, index) => slowShare - floor.runs[index]!.slowShare))
}

interface Subject {
  readonly name: string
  readonly address: string
  readonly requests: readonly Burst[]
}

/** Medians of all runs at the share. */
interface Measured {
  readonly name: string
  readonly peak: number
  readonly share: number
  /** p99 divided by p50. */
  readonly ratio: number
  /**
   * Share of decisions that took more than `SLOW_FACTOR` times their p50. For the baseline server, the
   * threshold is `SLOW_FACTOR` times the p50 of the decisions.
   */
  readonly slowShare: number
  /** True if the load generator used its whole core. */
  readonly isVoid: boolean
  readonly runs: readonly WrkRun[]
}

function ask({ address, requests }: Subject, load: WrkLoad): WrkRun {
  return runWrk(address, requests, load)
}

/** Results by the number of connections. */
function climb(subject: Subject): Readonly<Record<number, WrkRun>> {
  ask(subject, WARMING)
  const rungs = LADDER.map(connections => ({ connections, runs: [] as WrkRun[] }))
  for (let times = 0; times < CLIMBS; times++) {
    for (const { connections, runs } of rungs) runs.push(ask(subject, { connections, seconds: RUN_SECONDS }))
  }
  return Object.fromEntries(rungs.map(({ connections, runs }) => [connections, medianOf(runs)]))
}

/** Connections of the service at the share; those of the peak if no smaller number reaches it. */
function connectionsAtShare(rungs: Readonly<Record<number, WrkRun>>): number {
  const peak = rungs[CONNECTIONS_AT_PEAK]!.requestsPerSecond
  return LADDER.find(connections => rungs[connections]!.requestsPerSecond >= SHARE_ON_LADDER * peak)!
}

/** All subjects alternate, so that disturbances affect all of them. The first is the service. */
function measureAtShare(
  connections: number,
  subjects: readonly Subject[],
  floor: Subject,
): { readonly served: readonly Measured[]; readonly floor: Measured } {
  const watched = [...subjects, floor].map(subject => ({
    subject,
    runs: [] as WrkRun[],
    peakRuns: [] as WrkRun[],
  }))
  for (const { subject } of watched) ask(subject, WARMING)
  for (let times = 0; times < ROUNDS; times++) {
    for (const { subject, runs, peakRuns } of watched) {
      // One threshold for both: the baseline server's own threshold would be lower, and more of the machine's
      // pauses would exceed it.
      const slowMs = subject === floor ? { slowMs: SLOW_FACTOR * watched[0]!.runs[times]!.p50 } : {}
      runs.push(ask(subject, { connections, seconds: RUN_SECONDS, ...slowMs }))
      if (times % PEAK_EVERY !== 0) continue
      peakRuns.push(ask(subject, { connections: CONNECTIONS_AT_PEAK, seconds: RUN_SECONDS }))
    }
  }
  const measured = watched.map(({ subject, runs, peakRuns }) => {
    const peak = median(peakRuns.map(({ requestsPerSecond }) => requestsPerSecond))
    return {
      name: subject.name,
      peak,
      share: median(runs.map(({ requestsPerSecond }) => requestsPerSecond)) / peak,
      ratio: median(runs.map(({ p99, p50 }) => p99 / p50)),
      slowShare: median(runs.map(({ slowShare }) => slowShare)),
      isVoid: median(runs.map(({ clientCpu }) => clientCpu)) > CLIENT_CPU_MAX,
      runs,
    }
  })
  return { served: measured.slice(0, -1), floor: measured.at(-1)! }
}

/** Median of each figure separately. */
function medianOf(runs: readonly WrkRun[]): WrkRun {
  const of = (figure: keyof WrkRun) => median(runs.map(run => run[figure]))
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50: of('p50'),
    p99: of('p99'),
    p999: of('p999'),
    slowShare: of('slowShare'),
    clientCpu: of('clientCpu'),
  }
}

/**
 * During bulks: the service with its pool on two cores; then the baseline server during the same bulks, which
 * it also serves.
 */
export async function measureWithBulks(stage: Stage): Promise<Result> {
  const service = await stage.service('two cores', { POOL_THREADS: '1' })
  service.pin('0,1')
  const floor = await stage.floor()
  const questions = stage.mixedQuestions
  const singles = singleRequests(questions.slice(0, 5_000))
  const bulks = bulkRequests(questions, WITH_BULKS.checks, 4)
  const ofService = {
    singles: await stage.bursts(service.address, singles, 1),
    bulks: await stage.bursts(service.address, bulks, 1),
  }
  const ofFloor = {
    singles: await stage.floorBursts(floor, singles, 1),
    bulks: await stage.floorBursts(floor, bulks, 1),
  }
  const runs: Record<string, Percentiles[]> = { service: [], floor: [] }
  for (let times = 0; times < 3; times++) {
    runs['service']!.push(await measureDuring(service.address, ofService))
    runs['floor']!.push(await measureDuring(floor.address, ofFloor))
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
    raw: { withBulks: { ...WITH_BULKS, ...runs } },
  }
}

async function measureDuring(
  address: string,
  { singles, bulks }: { readonly singles: readonly Burst[]; readonly bulks: readonly Burst[] },
): Promise<Percentiles> {
  const [latencies] = await Promise.all([
    fixedRate(address, singles, {
      connections: CONNECTIONS,
      seconds: SECONDS,
      burstsPerSecond: WITH_BULKS.singlesPerSecond,
      isPolite: true,
    }),
    fixedRate(address, bulks, {
      connections: 4,
      seconds: SECONDS,
      burstsPerSecond: WITH_BULKS.bulksPerSecond,
      isPolite: true,
    }),
  ])
  return percentilesOf(latencies)
}
