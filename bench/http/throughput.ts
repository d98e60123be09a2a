/**
 * Measures requests and checks per second on one core, compared with the baseline server on the same core.
 * Also measures the cost of a check in bulks.
 */
import type { Burst, WireRequest } from '../lib/load-generator.ts'
import { atLeast, atMost, type Figure, median, voided } from '../lib/measure.ts'
import { requireWrk, runWrk, type WrkRun } from '../lib/wrk.ts'
import { bulkRequests, evaluationRequests, singleRequests } from './drive-questions.ts'
import type { ServerProcess } from './server-process.ts'
import { CLIENT_CPU_MAX, pooled, type Race, type RaceOptions, type Stage } from './stage.ts'

/**
 * Numbers of requests that a connection sends together. Ten requests share the cost of the kernel for a
 * packet, so the service has a larger share of the cost. This is the most demanding comparison. Two requests
 * are more like real clients, and real clients send one request at a time (measured with wrk). The target
 * applies to ten and to two requests, both for a generator that sleeps and for one that stays awake.
 */
const PIPELINED = [
  { pipelining: 10, staysAwake: true, name: '10 pipelined' },
  { pipelining: 10, staysAwake: false, name: '10 pipelined, client woken' },
  { pipelining: 2, staysAwake: true, name: '2 pipelined' },
  { pipelining: 2, staysAwake: false, name: '2 pipelined, client woken' },
] as const
/**
 * Many short runs. Disturbances of the machine last for seconds and therefore affect both servers. `rounds`
 * is the number of rounds per start.
 */
const SHORT_TURNS = { seconds: 0.25, rounds: 7 }
/**
 * Number of times that both servers are started, because the speed of a process varies from start to start
 * (see docs/performance/method.md).
 */
const STARTS = 3
const ONE_AT_A_TIME = { connections: 64, seconds: 1 }
const CONNECTIONS = 8
const ROUNDS = 5
const SIZES = [10, 100, 1_000, 10_000]
const SIZE_TURNS = { seconds: 0.35, rounds: 9 }
/**
 * Pairs of sizes. Each size is compared with the next smaller one. From 1,000 checks on, a check costs nearly
 * the same (0.96 to 1.00), and consecutive runs differ by 5 %. Therefore many rounds are needed to show the
 * difference.
 */
const NEIGHBOURS = [
  { from: 10, to: 100, rounds: 10 },
  { from: 100, to: 1_000, rounds: 10 },
  { from: 1_000, to: 10_000, rounds: 60 },
] as const
const NEIGHBOUR_SECONDS = 0.25

export interface Result {
  readonly figures: readonly Figure[]
  readonly raw: Record<string, unknown>
}

export async function measureSingle(stage: Stage): Promise<Result> {
  requireWrk()
  const requests = singleRequests(stage.mixedQuestions.slice(0, 10_000))
  const starts: Record<string, Race>[] = []
  for (let start = 0; start < STARTS; start++) {
    await stage.close()
    const raced: Record<string, Race> = {}
    for (const { name, ...how } of PIPELINED) {
      const options = { ...how, ...SHORT_TURNS, connections: CONNECTIONS }
      raced[name] = await stage.race(await stage.service('one core'), requests, options)
    }
    starts.push(raced)
  }
  const races = Object.fromEntries(
    PIPELINED.map(({ name }) => [name, pooled(starts.map(start => start[name]!))] as const),
  )
  const oneByOne = await raceByWrk(stage, requests)
  return {
    figures: [
      ...Object.entries(races).map(([name, race]) =>
        ratioOf(`single /allowed vs floor, ${name}`, race, 0.75),
      ),
      ratioOf('single /allowed vs floor, one at a time', oneByOne, 0.75),
      // This figure is valid even if the load generator was the bottleneck while the baseline server was
      // measured.
      atLeast('the same by processor time a request', oneByOne.cpuRatio, 0.75, ''),
    ],
    raw: { single: { ...races, 'one at a time': oneByOne } },
  }
}

/** A run of wrk, and the processor time per request that all threads of the server used. */
type ServedRun = WrkRun & { readonly serverMicrosecondsARequest: number }

interface OneByOne extends Pick<Race, 'ratio' | 'isVoid'>, Record<'service' | 'floor', readonly ServedRun[]> {
  /** Median processor time per request of the baseline server, divided by that of the service. */
  readonly cpuRatio: number
}

/** Sends one request at a time on each connection. The service and the baseline server alternate. */
async function raceByWrk(stage: Stage, requests: readonly WireRequest[]): Promise<OneByOne> {
  const service = await stage.service('one core')
  const floor = await stage.floor()
  const asked = await stage.bursts(service.address, requests, 1)
  const askedOfFloor = await stage.floorBursts(floor, requests, 1)
  const runs: Record<'service' | 'floor', ServedRun[]> = { service: [], floor: [] }
  for (let round = -1; round < ROUNDS; round++) {
    const ofService = servedRun(service, asked)
    const ofFloor = servedRun(floor, askedOfFloor)
    // The result of the first round is dropped, because its purpose is to warm up the servers.
    if (round < 0) continue
    runs.service.push(ofService)
    runs.floor.push(ofFloor)
  }
  const cpu = (of: readonly ServedRun[]) => median(of.map(one => one.serverMicrosecondsARequest))
  const isVoid = [...runs.service, ...runs.floor].some(({ clientCpu }) => clientCpu > CLIENT_CPU_MAX)
  const ratio = median(
    runs.service.map((one, round) => one.requestsPerSecond / runs.floor[round]!.requestsPerSecond),
  )
  return { ...runs, ratio, cpuRatio: cpu(runs.floor) / cpu(runs.service), isVoid }
}

function servedRun(server: ServerProcess, asked: readonly Burst[]): ServedRun {
  const before = server.cpuSeconds()
  const run = runWrk(server.address, asked, ONE_AT_A_TIME)
  const requests = run.requestsPerSecond * ONE_AT_A_TIME.seconds
  return { ...run, serverMicrosecondsARequest: ((server.cpuSeconds() - before) * 1e6) / requests }
}

export async function measureBulk(stage: Stage): Promise<Result> {
  const service = await stage.service('one core')
  const loads = new Map(
    SIZES.map(size => {
      const count = Math.max(8, Math.min(200, Math.floor(100_000 / size)))
      const requests = bulkRequests(stage.mixedQuestions, size, count)
      return [size, { requests, ...loadOf(size), seconds: SIZE_TURNS.seconds }]
    }),
  )
  const raced = await stage.races(service, [...loads.values()], SIZE_TURNS.rounds)
  const races = Object.fromEntries(SIZES.map((size, index) => [size, raced[index]!]))
  const nsPerCheck = (size: number) =>
    races[size]!.service.map(({ requestsPerSecond }) => 1e9 / (requestsPerSecond * size))
  const rises: { from: number; to: number; ratio: number; rounds: readonly number[]; isVoid: boolean }[] = []
  const loadAlone = (size: number) => ({ ...loads.get(size)!, seconds: NEIGHBOUR_SECONDS })
  for (const { from, to, rounds } of NEIGHBOURS) {
    const pairs = await stage.pairs(service, { one: loadAlone(from), other: loadAlone(to) }, rounds)
    const costs = pairs.rates.map(({ one, other }) => (one * from) / (other * to))
    rises.push({ from, to, ratio: median(costs), rounds: costs, isVoid: pairs.isVoid })
  }
  return {
    figures: [
      ratioOf('/allowed/bulk of 1,000 vs floor', races[1_000]!, 0.7),
      unlessVoid(
        atMost(
          'cost per check, each size vs the one before, bulks of 10 to 10,000',
          Math.max(...rises.map(({ ratio }) => ratio)),
          1,
          '×',
        ),
        rises.some(({ isVoid }) => isVoid),
      ),
    ],
    raw: {
      bulk: races,
      rises,
      nsPerCheck: Object.fromEntries(SIZES.map(size => [size, median(nsPerCheck(size))])),
    },
  }
}

export async function measureEvaluations(stage: Stage): Promise<Result> {
  const requests = evaluationRequests(stage.mixedQuestions, 1_000, 40)
  const race = await stage.race(await stage.service('one core'), requests, {
    ...loadOf(1_000),
    seconds: 1,
    rounds: 3,
  })
  return {
    figures: [ratioOf('/access/v1/evaluations of 1,000 with defaults vs floor', race, 0.6)],
    raw: { evaluations: race },
  }
}

function loadOf(size: number): Pick<RaceOptions, 'pipelining' | 'connections'> {
  return {
    // Bulks of 1,000 checks are not pipelined, because each of them already takes several packets.
    pipelining: size < 1_000 ? 4 : 1,
    connections: size < 10_000 ? CONNECTIONS : 2,
  }
}

export function ratioOf(
  name: string,
  { ratio, isVoid, fullRounds = 0 }: Pick<Race, 'ratio' | 'isVoid'> & Partial<Pick<Race, 'fullRounds'>>,
  bar: number,
): Figure {
  const figure = atLeast(name, ratio, bar, '')
  const told = fullRounds === 0 ? '' : `without ${fullRounds} rounds in which the client was the limit`
  return unlessVoid({ ...figure, reached: figure.reached + told }, isVoid)
}

/** Returns the figure. Marks it as void if the client was the bottleneck. */
export function unlessVoid(figure: Figure, isVoid: boolean): Figure {
  return isVoid ? voided(figure, 'the client was the limit') : figure
}
