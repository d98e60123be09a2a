/**
 * Shared setup of the HTTP benches. It provides the service and the baseline server on one core, and checks
 * with known decisions. This process, which is the load generator, uses the other core. A server is started
 * when it is first needed, and runs until `close`.
 */
import { pathToFileURL } from 'node:url'
import {
  type Burst,
  type ClosedLoad,
  closedLoop,
  prepare,
  type Throughput,
  type WireRequest,
} from '../lib/load-generator.ts'
import { median } from '../lib/measure.ts'
import { API_KEY } from '../lib/prepared-store.ts'
import { SIGN_IN } from '../lib/session-rows.ts'
import { driveQuestions, mixed, type Question, wholeDrive } from './drive-questions.ts'
import { V8_FLAGS } from '../../src/composition/process/v8-tuning.ts'
import { type ServerOptions, ServerProcess } from './server-process.ts'

/** Number of allowed checks. The number of denied checks is the same. */
const QUESTIONS = 20_000
/** If the load generator uses more than this share of its core, it is considered a possible bottleneck. */
export const CLIENT_CPU_MAX = 0.9
/**
 * Minimum share of rounds in which the load generator was not the bottleneck. If there are fewer, the result
 * is void.
 */
const TELLING_SHARE_MIN = 0.75
const WARMING_SECONDS = 1
/** `start.js` sets the same flag. */
const NO_SNAPSHOT = ['--no-node-snapshot']
/** Flags that configure the heap and the compiler of V8 in the same way as those of an HTTP thread. */
const HTTP_THREAD_FLAGS = [...NO_SNAPSHOT, ...V8_FLAGS, '--max-semi-space-size=1']

interface RaceLoad extends ClosedLoad {
  readonly pipelining: number
}

export interface RaceOptions extends RaceLoad {
  readonly rounds: number
}

export interface RacedLoad extends RaceLoad {
  readonly requests: readonly WireRequest[]
}

/**
 * Results of the rounds in which the load generator did not use its whole core. If there are too few such
 * rounds, the results of all rounds.
 */
export interface Race {
  /** Median of the ratios of the rounds. */
  readonly ratio: number
  readonly service: readonly Throughput[]
  readonly floor: readonly Throughput[]
  readonly requestsPerSecond: number
  readonly floorRequestsPerSecond: number
  readonly clientCpuMax: number
  /** Number of rounds that were left out because the load generator used its whole core. */
  readonly fullRounds: number
  /** Whether the load generator used its whole core in too many rounds. */
  readonly isVoid: boolean
}

/** Results of the rounds in which the load generator did not use its whole core. */
export interface Pairs {
  readonly rates: readonly Readonly<Record<'one' | 'other', number>>[]
  /** Whether the load generator used its whole core in too many rounds. */
  readonly isVoid: boolean
}

export class Stage {
  readonly scale: number
  readonly #servers = new Map<string, Promise<ServerProcess>>()
  #questions: { allowed: Question[]; denied: Question[] } | null = null

  constructor(scale: number) {
    this.scale = scale
  }

  get dataset(): string {
    return `W1 × ${this.scale}: documents in folders, users in nested groups; ${Math.round(2.9 * this.scale * 100) / 100}M facts`
  }

  /** The service. All its threads run on one core, unless they are moved to other cores. */
  service(name: string, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    return this.#start(name, new URL('./drive-service.ts', import.meta.url), {
      flags: NO_SNAPSHOT,
      args: [String(this.scale)],
      env: { POOL_THREADS: '0', ...env },
    })
  }

  /** The service in another checkout. `env`: settings. */
  serviceIn(checkout: string, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const script = new URL('bench/http/drive-service.ts', `${pathToFileURL(checkout).href}/`)
    return this.#start(checkout, script, {
      flags: NO_SNAPSHOT,
      args: [String(this.scale)],
      env: { POOL_THREADS: '0', ...env },
    })
  }

  /** The service with sign-in, 10,000 sessions, and a key of level `decide`. */
  serviceWithSessions(env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    return this.#start('sessions', new URL('./drive-service.ts', import.meta.url), {
      flags: NO_SNAPSHOT,
      args: [String(this.scale), 'sessions'],
      env: { POOL_THREADS: '0', ...SIGN_IN, ...env },
    })
  }

  /** The service with attributes and rules (W6). It has its own scale. */
  ruledService(scale: number): Promise<ServerProcess> {
    return this.#start(`W6 × ${scale}`, new URL('./drive-service.ts', import.meta.url), {
      flags: NO_SNAPSHOT,
      args: [String(scale), 'rules'],
      env: { POOL_THREADS: '0' },
    })
  }

  /** The service with the parts for plans, and a pool thread. */
  plannedService(): Promise<ServerProcess> {
    return this.#start('plans', new URL('./drive-service.ts', import.meta.url), {
      flags: NO_SNAPSHOT,
      args: [String(this.scale), 'plans'],
      env: { POOL_THREADS: '1' },
    })
  }

  floor(): Promise<ServerProcess> {
    return this.#start('floor', new URL('./floor-server.ts', import.meta.url), {})
  }

  /**
   * The baseline server with the V8 settings of the service. Its pauses then show only the effect of the
   * machine. With the default settings of V8, garbage collections alone increase its p99 by a third at the
   * same rate.
   */
  tunedFloor(): Promise<ServerProcess> {
    return this.#start('tuned floor', new URL('./floor-server.ts', import.meta.url), {
      flags: HTTP_THREAD_FLAGS,
    })
  }

  get questions(): { allowed: Question[]; denied: Question[] } {
    this.#questions ??= driveQuestions(wholeDrive(this.scale), QUESTIONS)
    return this.#questions
  }

  get mixedQuestions(): Question[] {
    return mixed(this.questions)
  }

  /** Packs requests for the service into bursts. Verifies the response to each distinct request. */
  bursts(address: string, requests: readonly WireRequest[], pipelining: number): Promise<Burst[]> {
    return prepare(address, requests, { apiKey: API_KEY, pipelining })
  }

  /** Packs requests for the baseline server into bursts. Its responses are not verified. */
  floorBursts(floor: ServerProcess, requests: readonly WireRequest[], pipelining: number): Promise<Burst[]> {
    const unjudged = requests.map(request => ({ ...request, isRight: () => true }))
    return prepare(floor.address, unjudged, { apiKey: API_KEY, pipelining })
  }

  /**
   * Measures the service and the baseline server with the same requests. Their order is random in each round.
   */
  async race(
    service: ServerProcess,
    requests: readonly WireRequest[],
    { rounds, ...load }: RaceOptions,
  ): Promise<Race> {
    const [race] = await this.races(service, [{ requests, ...load }], rounds)
    return race!
  }

  /**
   * Measures several loads that are also compared with one another. Each round contains all loads in random
   * order. For each load, the service and the baseline server run one after the other.
   */
  async races(service: ServerProcess, loads: readonly RacedLoad[], rounds: number): Promise<Race[]> {
    const floor = await this.floor()
    const raced = []
    for (const { requests, pipelining, ...load } of loads) {
      const bursts = await this.bursts(service.address, requests, pipelining)
      const floorBursts = await this.floorBursts(floor, requests, pipelining)
      await closedLoop(service.address, bursts, { ...load, seconds: WARMING_SECONDS })
      await closedLoop(floor.address, floorBursts, { ...load, seconds: WARMING_SECONDS })
      raced.push({
        service: { turns: [] as Throughput[], run: () => closedLoop(service.address, bursts, load) },
        floor: { turns: [] as Throughput[], run: () => closedLoop(floor.address, floorBursts, load) },
      })
    }
    for (let round = 0; round < rounds; round++) {
      for (const pair of inAnyOrder(raced)) {
        for (const { turns, run } of inAnyOrder([pair.service, pair.floor])) turns.push(await run())
      }
    }
    return raced.map(pair => raceOf({ service: pair.service.turns, floor: pair.floor.turns }))
  }

  /**
   * Measures the requests per second of one server with two loads. Each round runs both loads in succession,
   * and their order alternates. Rounds in which the load generator used its whole core are left out.
   */
  async pairs(
    service: ServerProcess,
    loads: Readonly<Record<'one' | 'other', RacedLoad>>,
    rounds: number,
  ): Promise<Pairs> {
    const turn = async ({ requests, pipelining, ...load }: RacedLoad) => {
      const bursts = await this.bursts(service.address, requests, pipelining)
      return () => closedLoop(service.address, bursts, load)
    }
    const one = await turn(loads.one)
    const other = await turn(loads.other)
    const taken: { one: Throughput; other: Throughput }[] = []
    for (let round = 0; round < rounds; round++) {
      if (round % 2 === 0) taken.push({ one: await one(), other: await other() })
      else taken.push({ other: await other(), one: await one() })
    }
    const telling = taken.filter(pair => Math.max(pair.one.clientCpu, pair.other.clientCpu) <= CLIENT_CPU_MAX)
    return {
      rates: telling.map(pair => ({
        one: pair.one.requestsPerSecond,
        other: pair.other.requestsPerSecond,
      })),
      isVoid: telling.length < TELLING_SHARE_MIN * rounds,
    }
  }

  /** Stops all servers. If a server is needed later, it is started again. */
  async close(): Promise<void> {
    for (const server of this.#servers.values()) await (await server).stop()
    this.#servers.clear()
  }

  #start(name: string, script: URL, options: ServerOptions): Promise<ServerProcess> {
    const known = this.#servers.get(name)
    if (known) return known
    const starting = ServerProcess.start(script, options)
    this.#servers.set(name, starting)
    return starting
  }
}

/**
 * Combines several races into one. Each of these races used new servers. The result is void if one of the
 * races is void.
 */
export function pooled(races: readonly Race[]): Race {
  const race = raceOf({
    service: races.flatMap(({ service }) => service),
    floor: races.flatMap(({ floor }) => floor),
  })
  return { ...race, isVoid: race.isVoid || races.some(({ isVoid }) => isVoid) }
}

function raceOf(turns: Pick<Race, 'service' | 'floor'>): Race {
  const rounds = turns.service.map((service, round) => ({ service, floor: turns.floor[round]! }))
  const clientCpu = ({ service, floor }: (typeof rounds)[number]) =>
    Math.max(service.clientCpu, floor.clientCpu)
  const telling = rounds.filter(round => clientCpu(round) <= CLIENT_CPU_MAX)
  const isVoid = telling.length < TELLING_SHARE_MIN * rounds.length
  const counted = isVoid ? rounds : telling
  return {
    ...turns,
    ratio: median(counted.map(({ service, floor }) => service.requestsPerSecond / floor.requestsPerSecond)),
    requestsPerSecond: median(counted.map(({ service }) => service.requestsPerSecond)),
    floorRequestsPerSecond: median(counted.map(({ floor }) => floor.requestsPerSecond)),
    clientCpuMax: Math.max(...rounds.map(clientCpu)),
    fullRounds: rounds.length - telling.length,
    isVoid,
  }
}

function inAnyOrder<Item>(items: readonly Item[]): Item[] {
  return items
    .map(item => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
