/**
 * How long a single decision takes: at loads up to the peak, allowed and denied apart, and beside bulks.
 */
import { type Burst, fixedRate, type Latencies } from '../lib/load-generator.ts'
import { atMost, type Figure, median, round, voided } from '../lib/measure.ts'
import { requireWrk, runWrk, type WrkRun } from '../lib/wrk.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import { CLIENT_CPU_MAX, type Stage } from './stage.ts'
import { type Result, unlessVoid } from './throughput.ts'

/** Connections, each with one request at a time: what makes the load. On two cores five and more are beyond 85 % of the peak. */
const LADDER = [2, 3, 4, 5, 6, 16, 64]
/** With loads far below and beyond 85 % of the peak, for the plot. */
const PLOTTED_LADDER = [1, 2, 3, 4, 5, 6, 8, 16, 64]
/** Of every run, on the ladder and around the share. */
const RUN_SECONDS = 1
const WARMING_SECONDS = 2
/** How often the ladder is climbed to see which rungs count: of each the medians do, since a second in which the machine stands still is no peak. */
const CLIMBS = 2
/** What is asked for is told of that share of the peak. No number of connections makes just that load, so the next two do. */
const SHARE = 0.85
/**
 * Of so many runs of a second at the peak and beside the share, all subjects in turns, the medians count: what stops the machine for milliseconds now and then is in some
 * of them, what stops the service again and again is in all.
 */
const ROUNDS = 9
/** The bar: p99 against p50. */
const RATIO_MAX = 5
/** So many times the floor's ratio is the machine's doing still, where the floor, which collects as the service does, is beyond the bar. */
const VS_FLOOR_MAX = 1.25
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
  const asked = async (
    name: string,
    requests: ReturnType<typeof singleRequests>,
    ladder: readonly number[],
  ): Promise<Subject> => ({ name, address, requests: await stage.bursts(address, requests, 1), ladder })
  const floorServer = await stage.tunedFloor()
  const climbed = climb([
    await asked('all questions', mixed, PLOTTED_LADDER),
    await asked('allowed', singleRequests(allowed.slice(0, 5_000)), LADDER),
    await asked('denied', singleRequests(denied.slice(0, 5_000)), LADDER),
    // What the machine makes of a server that decides nothing: where that stands still, so does everything.
    {
      name: 'the floor',
      address: floorServer.address,
      requests: await stage.floorBursts(floorServer, mixed, 1),
      ladder: LADDER,
    },
  ])
  const served = climbed.slice(0, -1)
  const floor = climbed.at(-1)!
  const atFloor = { figure: floor.figure, bar: '', reached: `${round(floor.ratio)} ×`, isMet: true }
  return {
    figures: [...served.map(one => figureOf(one, floor)), unlessVoid(atFloor, floor.isVoid)],
    raw: {
      latency: Object.fromEntries(
        climbed.map(({ name, peak, rungs, neighbours }) => [name, { peak, rungs, neighbours }]),
      ),
    },
  }
}

/** A miss is void where the floor, in the same turns, is beyond the bar as well and not much nearer to it. */
function figureOf({ figure: name, ratio, isVoid }: Climbed, floor: Climbed): Figure {
  const figure = atMost(name, ratio, RATIO_MAX, '×')
  const isTheMachines = !floor.isVoid && floor.ratio > RATIO_MAX && ratio <= VS_FLOOR_MAX * floor.ratio
  if (isVoid || figure.isMet || !isTheMachines) return unlessVoid(figure, isVoid)
  return voided(figure, `${figure.reached}, and a bare server was at ${round(floor.ratio)} ×`)
}

interface Climbed {
  readonly name: string
  /** What is measured, with the loads that it is from. */
  readonly figure: string
  /** p99 against p50 at the share. */
  readonly ratio: number
  /** The client's core was full. */
  readonly isVoid: boolean
  readonly peak: number
  /** By the number of connections; medians. */
  readonly rungs: Readonly<Record<number, WrkRun>>
  /** The last rung up to the share and the first one beyond it. */
  readonly neighbours: readonly Neighbour[]
}

/** Medians of all runs with so many connections. */
interface Neighbour {
  readonly connections: number
  readonly share: number
  readonly ratio: number
  readonly clientCpu: number
  readonly runs: readonly WrkRun[]
}

interface Subject {
  readonly name: string
  readonly address: string
  readonly requests: readonly Burst[]
  readonly ladder: readonly number[]
}

/** All in turns, up to their peaks and then around the share: what the machine does meanwhile meets all. */
function climb(subjects: readonly Subject[]): Climbed[] {
  const climbs = subjects.map(({ ladder, ...subject }) => ({
    ...subject,
    rungs: ladder.map(connections => ({ connections, runs: [] as WrkRun[] })),
  }))
  for (const { address, requests } of subjects) {
    runWrk(address, requests, { connections: LADDER.at(-1)!, seconds: WARMING_SECONDS })
  }
  for (let times = 0; times < CLIMBS; times++) {
    for (const { address, requests, rungs } of climbs) {
      for (const { connections, runs } of rungs) {
        runs.push(runWrk(address, requests, { connections, seconds: RUN_SECONDS }))
      }
    }
  }
  const watched = climbs.map(({ name, address, requests, rungs: climbedRungs }) => {
    const rungs = climbedRungs.map(({ connections, runs }) => [connections, medianOf(runs)] as const)
    const peak = Math.max(...rungs.map(([, run]) => run.requestsPerSecond))
    const above = rungs.findIndex(([, run]) => run.requestsPerSecond > SHARE * peak)
    if (above === 0) throw new Error(`the ladder of ${name} begins beyond ${SHARE} of its peak`)
    const again = ([connections]: (typeof rungs)[number]) => ({
      connections,
      run: () => runWrk(address, requests, { connections, seconds: RUN_SECONDS }),
      runs: [] as WrkRun[],
    })
    return {
      name,
      rungs: Object.fromEntries(rungs),
      atPeak: again(rungs.find(([, run]) => run.requestsPerSecond === peak)!),
      around: rungs.slice(above - 1, above + 1).map(again),
    }
  })
  for (let times = 0; times < ROUNDS; times++) {
    for (const { atPeak, around } of watched) {
      for (const { run, runs } of [atPeak, ...around]) runs.push(run())
    }
  }
  return watched.map(({ name, rungs, atPeak, around }) => {
    // Of the same turns: in those of the ladder the machine may have been another one.
    const peak = median(atPeak.runs.map(({ requestsPerSecond }) => requestsPerSecond))
    const neighbours = around.map(({ connections, runs }) => ({
      connections,
      share: median(runs.map(({ requestsPerSecond }) => requestsPerSecond)) / peak,
      ratio: median(runs.map(({ p99, p50 }) => p99 / p50)),
      clientCpu: median(runs.map(({ clientCpu }) => clientCpu)),
      runs,
    }))
    const shares = neighbours.map(({ share }) => round(100 * share)).join(' and ')
    return {
      name,
      figure: `single /allowed at 85 % of ${round(peak)}/s, p99 vs p50, ${name} (from ${shares} %)`,
      ratio: ratioAtShare(neighbours),
      isVoid: neighbours.some(({ clientCpu }) => clientCpu > CLIENT_CPU_MAX),
      peak,
      rungs,
      neighbours,
    }
  })
}

/** Each figure by itself. */
function medianOf(runs: readonly WrkRun[]): WrkRun {
  const of = (figure: keyof WrkRun) => median(runs.map(run => run[figure]))
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50: of('p50'),
    p99: of('p99'),
    p999: of('p999'),
    clientCpu: of('clientCpu'),
  }
}

/** On the line between the two. */
function ratioAtShare([below, above]: readonly Neighbour[]): number {
  const [from, to] = [below!, above!]
  if (from.share >= SHARE || to.share <= from.share) return from.ratio
  const way = Math.min(1, (SHARE - from.share) / (to.share - from.share))
  return from.ratio + way * (to.ratio - from.ratio)
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
