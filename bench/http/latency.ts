/**
 * Measures the latency of single decisions: at different loads up to the peak, separately for allowed and
 * denied checks, and during bulks.
 */
import { type Burst, fixedRate, type Latencies, type WireRequest } from '../lib/load-generator.ts'
import { atMost, type Figure, median, round, voided } from '../lib/measure.ts'
import { requireWrk, runWrk, SLOW_FACTOR, type WrkLoad, type WrkRun } from '../lib/wrk.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import { CLIENT_CPU_MAX, type Stage } from './stage.ts'
import { type Result, unlessVoid } from './throughput.ts'

/**
 * Numbers of connections for the loads of the plot, up to the peak and beyond. Each connection has one
 * request at a time.
 */
const LADDER = [1, 2, 3, 4, 6, 8, 16, 64]
/** Number of passes over the ladder. The median of each load is used. */
const CLIMBS = 3
/** Duration of each run. */
const RUN_SECONDS = 1
/**
 * Share of the peak load at which the target applies. The loads of the ladder do not reach exactly this
 * share.
 */
const SHARE = 0.85
/**
 * Share of the peak load by which the number of connections is chosen: the lowest number of the ladder that
 * reaches this share is used for all subjects. The share is slightly higher than `SHARE`, because the load is
 * slightly lower in other rounds.
 */
const SHARE_ON_LADDER = 0.88
const CONNECTIONS_AT_PEAK = 16
const WARMING = { connections: CONNECTIONS_AT_PEAK, seconds: 2 }
/**
 * Number of runs of one second each. All subjects alternate, and the medians are used. Occasional pauses of
 * the machine affect only some of the runs, but regular pauses of the service affect all of them.
 */
const ROUNDS = 27
/**
 * The peak load is measured again in every nth round, because the speed of the machine can change between
 * rounds.
 */
const PEAK_EVERY = 3
/**
 * Targets. The first one is the maximum of p99 divided by p50. The second one is the maximum share of slow
 * decisions.
 */
const RATIO_MAX = SLOW_FACTOR
const SLOW_SHARE_MAX = 0.01
/**
 * Number of connections. There are so many that a connection rarely has several requests in flight. The HTTP
 * library closes a connection that sends further requests while a response is pending.
 */
const CONNECTIONS = 64
const SECONDS = 2
/**
 * Load during bulks: single decisions per second, each in its own packet, and bulks of 10,000 checks per
 * second.
 */
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
    // The baseline server makes no decisions, so its latencies show the effect of the machine. Pauses of the
    // machine affect both servers.
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
 * A missed target is void under two conditions: the baseline server also missed it in the same rounds, and
 * the share of slow decisions that the service adds is within the target.
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
 * Median over the rounds of the difference between two shares: that of slow decisions, and that of slow
 * responses of the baseline server in the same round.
 */
function addedShare({ runs }: Measured, floor: Measured): number {
  return median(runs.map(({ slowShare }, index) => slowShare - floor.runs[index]!.slowShare))
}

interface Subject {
  readonly name: string
  readonly address: string
  readonly requests: readonly Burst[]
}

/** Medians of all runs at the load that the target requires. */
interface Measured {
  readonly name: string
  readonly peak: number
  readonly share: number
  /** p99 divided by p50. */
  readonly ratio: number
  /**
   * Share of decisions that took more than `SLOW_FACTOR` times the p50 of the decisions. For the baseline
   * server, the same threshold is used.
   */
  readonly slowShare: number
  /** Whether the load generator used its whole core. */
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

/**
 * Number of connections with which the service reaches the required share of its peak. If no smaller number
 * reaches it, the number at the peak is returned.
 */
function connectionsAtShare(rungs: Readonly<Record<number, WrkRun>>): number {
  const peak = rungs[CONNECTIONS_AT_PEAK]!.requestsPerSecond
  return LADDER.find(connections => rungs[connections]!.requestsPerSecond >= SHARE_ON_LADDER * peak)!
}

/**
 * Measures all subjects alternately, so that disturbances affect all of them. The first subject is the
 * service.
 */
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
      // The service and the baseline server have the same threshold. A threshold from the p50 of the baseline
      // server would be lower, so more pauses of the machine would exceed it.
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

/** Median of each figure over all runs. */
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
 * Measures single requests during bulks, with the pool thread on the second core. First the service is
 * measured, then the baseline server, which also answers the bulks.
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
