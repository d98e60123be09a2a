/** Requests and checks a second on one core, against the floor on the same core, and what a check costs in bulks. */
import type { Burst, WireRequest } from '../lib/load-generator.ts'
import { atLeast, atMost, type Figure, median, voided } from '../lib/measure.ts'
import { requireWrk, runWrk, type WrkRun } from '../lib/wrk.ts'
import { bulkRequests, evaluationRequests, singleRequests } from './drive-questions.ts'
import type { ServerProcess } from './server-process.ts'
import { CLIENT_CPU_MAX, pooled, type Race, type RaceOptions, type Stage } from './stage.ts'

/**
 * A connection sends so many requests at once. With ten, what the kernel does for a packet is shared by ten, so more of what
 * is left is the service's: the harder way to compare. With two it is nearer to what callers do, and one at a time, by wrk, is
 * what they do. The bar is for all of them, and for a client that has to be woken as for one that stays awake.
 */
const PIPELINED = [
  { pipelining: 10, staysAwake: true, name: '10 pipelined' },
  { pipelining: 10, staysAwake: false, name: '10 pipelined, client woken' },
  { pipelining: 2, staysAwake: true, name: '2 pipelined' },
  { pipelining: 2, staysAwake: false, name: '2 pipelined, client woken' },
] as const
/** Short turns, and many: what the machine does meanwhile lasts for seconds, and meets both. The rounds are those of a start. */
const SHORT_TURNS = { seconds: 0.25, rounds: 7 }
/** Of both servers: what a start is like it stays, see docs/performance/method.md. */
const STARTS = 3
const ONE_AT_A_TIME = { connections: 64, seconds: 1 }
const CONNECTIONS = 8
const ROUNDS = 5
const SIZES = [10, 100, 1_000, 10_000]
const SIZE_TURNS = { seconds: 0.35, rounds: 9 }
/**
 * Each size is compared with the next smaller one as well. From 1,000 on a check costs nearly the same (0.96 to 1.00),
 * and a turn differs from the next by 5 %, so that it takes many rounds to tell.
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
      // Says it also where the generator was the limit of the floor.
      atLeast('the same by processor time a request', oneByOne.cpuRatio, 0.75, ''),
    ],
    raw: { single: { ...races, 'one at a time': oneByOne } },
  }
}

/** A run, and what the server took of its core, all its threads together. */
type ServedRun = WrkRun & { readonly serverMicrosecondsARequest: number }

interface OneByOne extends Pick<Race, 'ratio' | 'isVoid'>, Record<'service' | 'floor', readonly ServedRun[]> {
  /** Of the medians of processor time, the floor's to the service's. */
  readonly cpuRatio: number
}

/** Each connection with one request at a time, service and floor in turns. */
async function raceByWrk(stage: Stage, requests: readonly WireRequest[]): Promise<OneByOne> {
  const service = await stage.service('one core')
  const floor = await stage.floor()
  const asked = await stage.bursts(service.address, requests, 1)
  const askedOfFloor = await stage.floorBursts(floor, requests, 1)
  const runs: Record<'service' | 'floor', ServedRun[]> = { service: [], floor: [] }
  for (let round = -1; round < ROUNDS; round++) {
    const ofService = servedRun(service, asked)
    const ofFloor = servedRun(floor, askedOfFloor)
    // The first one is for warming up.
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
    // A burst of a thousand checks is a packet train anyhow.
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

/** The figure, which says nothing where the client was the limit. */
export function unlessVoid(figure: Figure, isVoid: boolean): Figure {
  return isVoid ? voided(figure, 'the client was the limit') : figure
}
