/**
 * How long a single decision takes: at loads up to the peak, allowed and denied apart, and beside bulks.
 */
import { type Burst, fixedRate, type Latencies, type WireRequest } from '../lib/load-generator.ts'
import { atMost, type Figure, median, round, voided } from '../lib/measure.ts'
import { requireWrk, runWrk, SLOW_FACTOR, type WrkLoad, type WrkRun } from '../lib/wrk.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import { CLIENT_CPU_MAX, type Stage } from './stage.ts'
import { type Result, unlessVoid } from './throughput.ts'

/** Connections, each with one request at a time, that make the loads of the plot, up to the peak and beyond. */
const LADDER = [1, 2, 3, 4, 6, 8, 16, 64]
/** How often the ladder is climbed; of each load the medians count. */
const CLIMBS = 3
/** Of every run. */
const RUN_SECONDS = 1
/** What is asked for is told of that share of the peak. No number of connections makes just that load. */
const SHARE = 0.85
/**
 * Of the ladder's numbers of connections the lowest that makes this share is taken, for all subjects: a little more,
 * since in other turns it makes a little less.
 */
const SHARE_ON_LADDER = 0.88
const CONNECTIONS_AT_PEAK = 16
const WARMING = { connections: CONNECTIONS_AT_PEAK, seconds: 2 }
/**
 * Of so many runs of a second, all subjects in turns, the medians count: what stops the machine for milliseconds now
 * and then is in some of them, what stops the service again and again is in all.
 */
const ROUNDS = 27
/** In every so manieth round the peak is measured as well: in other turns the machine may have been another one. */
const PEAK_EVERY = 3
/** The bar: p99 against p50, or this share of slow decisions. */
const RATIO_MAX = SLOW_FACTOR
const SLOW_SHARE_MAX = 0.01
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
    // What the machine makes of a server that decides nothing: where that stands still, so does everything.
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
 * A miss is void where the floor, in the same turns, is beyond the bar as well, and what the service adds to that is
 * within it.
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

/** What is slow of the service's, less what would be slow of the floor's answers in the same round; the median of the rounds. */
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
  /** p99 against p50. */
  readonly ratio: number
  /**
   * Of decisions that took more than `SLOW_FACTOR` times p50; of the floor's answers, more than so many times the p50
   * of decisions.
   */
  readonly slowShare: number
  /** The client's core was full. */
  readonly isVoid: boolean
  readonly runs: readonly WrkRun[]
}

function ask({ address, requests }: Subject, load: WrkLoad): WrkRun {
  return runWrk(address, requests, load)
}

/** By the number of connections. */
function climb(subject: Subject): Readonly<Record<number, WrkRun>> {
  ask(subject, WARMING)
  const rungs = LADDER.map(connections => ({ connections, runs: [] as WrkRun[] }))
  for (let times = 0; times < CLIMBS; times++) {
    for (const { connections, runs } of rungs) runs.push(ask(subject, { connections, seconds: RUN_SECONDS }))
  }
  return Object.fromEntries(rungs.map(({ connections, runs }) => [connections, medianOf(runs)]))
}

/** Of the service; those of the peak, where no fewer make the share. */
function connectionsAtShare(rungs: Readonly<Record<number, WrkRun>>): number {
  const peak = rungs[CONNECTIONS_AT_PEAK]!.requestsPerSecond
  return LADDER.find(connections => rungs[connections]!.requestsPerSecond >= SHARE_ON_LADDER * peak)!
}

/** All in turns: what the machine does meanwhile meets all. Of the service, the first is all that is asked. */
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
      // One threshold for both: the floor's own would be lower, and more of the machine's stops beyond it.
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

/** Each figure by itself. */
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
  const ofFloor = {
    singles: await stage.floorBursts(floor, singles, 1),
    bulks: await stage.floorBursts(floor, bulks, 1),
  }
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
