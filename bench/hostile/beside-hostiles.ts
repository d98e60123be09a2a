/**
 * Measures the effects of attacks with the key of another environment: a well-behaved tenant shares the
 * service with one hostile tenant at a time. All threads of the service share one core, and the clients use
 * the other one. In each round, the well-behaved tenant is measured alone and then during the attack. The
 * figure of an attack is the median of its rounds.
 *
 * HOSTILES=a,b selects attacks, ROUNDS=n sets the number of rounds. BEFORE=path also measures the service of
 * another checkout, alternately in each round.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { atMost, type Figure, median, percentile, round } from '../lib/measure.ts'
import { ServerProcess } from '../http/server-process.ts'
import type { Stage } from '../http/stage.ts'
import type { Result } from '../http/throughput.ts'
import { HostileClient } from '#testing/hostile/caller.ts'
import { HOSTILES, type Size, textOf, WHOLE } from '#testing/hostile/hostiles.ts'
import { RULED_HOSTILES, ruledTextOf } from '#testing/hostile/ruled-hostiles.ts'
import { arrangePolite, livePolitely, type Pace } from '#testing/hostile/polite.ts'

const ADMIN_KEY = 'organization-key-of-the-bench'
const PACE: Pace = { decisionsPerSecond: 300, writesPerSecond: 10 }
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const ALONE_SECONDS = 3
const BESIDE_SECONDS = 4
/** Time for which an attack runs before it is measured, and time after it. */
const PAUSE_MS = 1_000
/** The service is idle if it uses less than this share of a core. */
const IDLE_CPU_SHARE = 0.05
/** A round is repeated if other processes used more than this number of cores. */
const FOREIGN_CORES_MAX = 0.2
const ATTEMPTS_MAX = 3
const ENTRY = new URL('./attacker.ts', import.meta.url)
/** Targets for single decisions and for writes of other environments during an attack. */
const P99_FACTOR_MAX = 3
const WRITE_MS_MAX = 500

/** Latencies that the well-behaved tenant sees, in milliseconds. */
interface Summary {
  readonly p50: number
  readonly p99: number
  readonly slowestWrite: number
  readonly failures: readonly string[]
}

interface Round {
  /** Number of cores that other processes used on average. */
  readonly foreignCores: number
  readonly alone: Summary
  readonly beside: Summary
  /** Number of responses to the attacker by status. */
  readonly statuses: Readonly<Record<string, number>>
}

type Rounds = Readonly<Record<string, readonly Round[]>>

export async function measureBesideHostiles(stage: Stage): Promise<Result> {
  const names = process.env['HOSTILES']?.split(',') ?? [
    ...Object.keys(HOSTILES),
    ...Object.keys(RULED_HOSTILES),
  ]
  const size = scaled(WHOLE, stage.scale)
  const before = process.env['BEFORE']
  const roots = before === undefined ? ['../..'] : ['../..', resolve(before)]
  const services: HostileService[] = []
  try {
    for (const root of roots) services.push(await HostileService.start(root, size))
    const measured = services.map((): Record<string, Round[]> => ({}))
    for (const name of names) {
      for (const rounds of measured) rounds[name] = []
      for (let n = 0; n < ROUNDS; n += 1) {
        for (const [at, service] of services.entries()) {
          measured[at]![name]!.push(await quietRound(() => service.round(name)))
        }
      }
      for (const rounds of measured) print(name, rounds[name]!)
    }
    return { figures: figuresOf(measured[0]!), raw: { size, pace: PACE, rounds: measured } }
  } finally {
    for (const service of services) await service.stop()
  }
}

/** Repeats a round during which other processes used the cores. Returns the quietest of the attempts. */
async function quietRound(measureRound: () => Promise<Round>): Promise<Round> {
  let best: Round | null = null
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const next = await measureRound()
    if (best === null || next.foreignCores < best.foreignCores) best = next
    if (best.foreignCores <= FOREIGN_CORES_MAX) break
  }
  return best!
}

class HostileService {
  readonly #process: ServerProcess
  readonly #keys: Keys
  readonly #size: Size
  readonly #directory: string

  private constructor(server: ServerProcess, keys: Keys, size: Size, directory: string) {
    this.#process = server
    this.#keys = keys
    this.#size = size
    this.#directory = directory
  }

  /** Starts the service of a checkout and creates the environments. */
  static async start(root: string, size: Size): Promise<HostileService> {
    const directory = mkdtempSync(join(tmpdir(), 'verdict-hostile-'))
    const server = await ServerProcess.start(new URL(`${root}/src/start.js`, import.meta.url), {
      env: {
        PORT: '0',
        STORE_URL: `lmdb:${directory}`,
        API_KEY: 'a-key-that-nobody-uses',
        ADMIN_API_KEY: ADMIN_KEY,
        LOG_LEVEL: 'error',
        // The defaults for two cores.
        HTTP_THREADS: '1',
        POOL_THREADS: '1',
      },
    })
    return new HostileService(server, await arrange(server.address, size), size, directory)
  }

  async round(name: string): Promise<Round> {
    const { address } = this.#process
    await this.#idle()
    const [from, before] = [performance.now(), this.#foreignSeconds()]
    const alone = await measure(address, this.#keys.polite, ALONE_SECONDS)
    const beside = await measureBeside(name, address, this.#keys, this.#size)
    const foreignCores = (1_000 * (this.#foreignSeconds() - before)) / (performance.now() - from)
    return { alone, ...beside, foreignCores }
  }

  /** Processor time that other processes of the machine have used. */
  #foreignSeconds(): number {
    const own = process.cpuUsage()
    return busySeconds() - this.#process.cpuSeconds() - (own.user + own.system) / 1_000_000
  }

  /** Waits until the effects of an attack are over, so that they do not affect the next measurement. */
  async #idle(): Promise<void> {
    for (let before = -1, now = 0; now - before > IDLE_CPU_SHARE * (PAUSE_MS / 1_000);) {
      before = this.#process.cpuSeconds()
      await pause(PAUSE_MS)
      now = this.#process.cpuSeconds()
    }
  }

  async stop(): Promise<void> {
    await this.#process.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function scaled(size: Size, scale: number): Size {
  const part = (count: number, min: number) => Math.max(min, Math.round(count * scale))
  return {
    ...size,
    groups: part(size.groups, 100),
    rules: part(size.rules, 100),
    instances: part(size.instances, 100),
    elements: part(size.elements, 100),
    bodyBytes: part(size.bodyBytes, 100_000),
  }
}

interface Keys {
  readonly polite: string
  readonly hostile: string
  readonly ruled: string
}

async function arrange(address: string, size: Size): Promise<Keys> {
  const admin = new HostileClient(address, ADMIN_KEY)
  const keyOf = async (name: string): Promise<string> => {
    await admin.done('POST', '/v2/projects/default/envs', { key: name, name })
    return (await admin.done<{ secret: string }>('GET', `/v2/api-key/default/${name}`)).secret
  }
  const keys = { polite: await keyOf('polite'), hostile: await keyOf('hostile'), ruled: await keyOf('ruled') }
  admin.close()
  const polite = new HostileClient(address, keys.polite)
  await arrangePolite(polite)
  polite.close()
  for (const [name, text] of [
    ['hostile', textOf(size)],
    ['ruled', ruledTextOf(size)],
  ] as const) {
    const caller = new HostileClient(address, keys[name])
    await caller.done('POST', `/v2/projects/default/envs/${name}/import?replace=true`, text)
    caller.close()
  }
  return keys
}

async function measure(address: string, key: string, seconds: number): Promise<Summary> {
  const caller = new HostileClient(address, key)
  const until = performance.now() + seconds * 1_000
  const { decisions, writes, failures } = await livePolitely(caller, PACE, () => performance.now() >= until)
  caller.close()
  return {
    p50: percentile(decisions, 0.5),
    p99: percentile(decisions, 0.99),
    slowestWrite: Math.max(...writes),
    failures: failures.slice(0, 20),
  }
}

async function measureBeside(
  name: string,
  address: string,
  keys: Keys,
  size: Size,
): Promise<Pick<Round, 'beside' | 'statuses'>> {
  const key = name in RULED_HOSTILES ? keys.ruled : keys.hostile
  const attacker = new Worker(ENTRY, { workerData: { name, address, key, size } })
  const statuses = new Promise<Record<string, number>>((settle, reject) => {
    attacker.once('message', settle)
    attacker.once('error', reject)
  })
  await pause(PAUSE_MS)
  const beside = await measure(address, keys.polite, BESIDE_SECONDS)
  attacker.postMessage('over')
  return { beside, statuses: await statuses }
}

/** Processor time that all processes of the machine have used. */
function busySeconds(): number {
  const [user, nice, system, , , irq, softirq] = /^cpu +(.*)$/m
    .exec(readFileSync('/proc/stat', 'utf8'))![1]!
    .split(' ')
    .map(Number)
  return (user! + nice! + system! + irq! + softirq!) / 100
}

const medianOf = (rounds: readonly Round[], value: (round: Round) => number): number =>
  median(rounds.map(value))

function print(name: string, rounds: readonly Round[]): void {
  const of = (value: (round: Round) => number) => String(round(medianOf(rounds, value))).padStart(7)
  process.stdout.write(
    `${name.padEnd(36)} p50 ${of(one => one.alone.p50)} ${of(one => one.beside.p50)}` +
      `  p99 ${of(one => one.alone.p99)} ${of(one => one.beside.p99)}` +
      `  foreign ${of(one => one.foreignCores)}  ratio ${of(one => one.beside.p99 / one.alone.p99)}  write ${of(one => one.beside.slowestWrite)}` +
      `  ${JSON.stringify(rounds.at(-1)!.statuses)}\n`,
  )
}

function figuresOf(measured: Rounds): Figure[] {
  return Object.entries(measured).flatMap(([name, rounds]) => {
    const factor = medianOf(rounds, ({ alone, beside }) => beside.p99 / alone.p99)
    const write = medianOf(rounds, ({ beside }) => beside.slowestWrite)
    const failed = rounds.reduce((sum, { beside }) => sum + beside.failures.length, 0)
    return [
      atMost(`${name}: p99 of another's decisions vs alone`, factor, P99_FACTOR_MAX, '×'),
      atMost(`${name}: another's slowest write`, write, WRITE_MS_MAX, 'ms'),
      atMost(`${name}: another's failed and wrong answers`, failed, 0, 'answers'),
    ]
  })
}
