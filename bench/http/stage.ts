/**
 * What every HTTP bench needs: the service and the floor on one core, this process, the load generator, on the other, and
 * questions whose answers are known. Servers are started when they are asked for, and once.
 */
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
import { driveQuestions, mixed, type Question, wholeDrive } from './drive-questions.ts'
import { type ServerOptions, ServerProcess } from './server-process.ts'

/** Allowed and denied ones, of each. */
const QUESTIONS = 20_000
/** Share of its core above which the load generator may have been the limit. */
export const CLIENT_CPU_MAX = 0.9
const WARMING_SECONDS = 1

export interface RaceOptions extends ClosedLoad {
  readonly pipelining: number
  readonly rounds: number
}

export interface Race {
  /** The median of those of the rounds. */
  readonly ratio: number
  readonly service: readonly Throughput[]
  readonly floor: readonly Throughput[]
  readonly requestsPerSecond: number
  readonly floorRequestsPerSecond: number
  readonly clientCpuMax: number
  /** The client's core was full: the ratio says nothing. */
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

  /** The service, all of it on one core unless pinned elsewhere. */
  service(name: string, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    return this.#start(name, new URL('./drive-service.ts', import.meta.url), {
      args: [String(this.scale)],
      env: { POOL_THREADS: '0', ...env },
    })
  }

  floor(): Promise<ServerProcess> {
    return this.#start('floor', new URL('./floor-server.ts', import.meta.url), {})
  }

  get questions(): { allowed: Question[]; denied: Question[] } {
    this.#questions ??= driveQuestions(wholeDrive(this.scale), QUESTIONS)
    return this.#questions
  }

  get mixedQuestions(): Question[] {
    return mixed(this.questions)
  }

  /** The requests as bursts, every answer of the service checked. */
  bursts(address: string, requests: readonly WireRequest[], pipelining: number): Promise<Burst[]> {
    return prepare(address, requests, { apiKey: API_KEY, pipelining })
  }

  /** The same for the floor, which has no answers to check. */
  async floorBursts(requests: readonly WireRequest[], pipelining: number): Promise<Burst[]> {
    const unjudged = requests.map(request => ({ ...request, isRight: () => true }))
    return prepare((await this.floor()).address, unjudged, { apiKey: API_KEY, pipelining })
  }

  /** Service and floor on the same bodies, in each round first the one or the other, by chance. */
  async race(
    service: ServerProcess,
    requests: readonly WireRequest[],
    { pipelining, rounds, ...load }: RaceOptions,
  ): Promise<Race> {
    const floor = await this.floor()
    const bursts = await this.bursts(service.address, requests, pipelining)
    const floorBursts = await this.floorBursts(requests, pipelining)
    const ask = {
      service: () => closedLoop(service.address, bursts, load),
      floor: () => closedLoop(floor.address, floorBursts, load),
    }
    await closedLoop(service.address, bursts, { ...load, seconds: WARMING_SECONDS })
    await closedLoop(floor.address, floorBursts, { ...load, seconds: WARMING_SECONDS })
    const times: { service: Throughput[]; floor: Throughput[] } = { service: [], floor: [] }
    for (let round = 0; round < rounds; round++) {
      const order = Math.random() < 0.5 ? (['service', 'floor'] as const) : (['floor', 'service'] as const)
      for (const name of order) times[name].push(await ask[name]())
    }
    const rate = (of: readonly Throughput[]) => median(of.map(one => one.requestsPerSecond))
    const clientCpuMax = Math.max(...[...times.service, ...times.floor].map(({ clientCpu }) => clientCpu))
    return {
      ...times,
      ratio: median(
        times.service.map((one, round) => one.requestsPerSecond / times.floor[round]!.requestsPerSecond),
      ),
      requestsPerSecond: rate(times.service),
      floorRequestsPerSecond: rate(times.floor),
      clientCpuMax,
      isVoid: clientCpuMax > CLIENT_CPU_MAX,
    }
  }

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
