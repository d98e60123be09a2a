/**
 * Measures the effects of attacks with the key of another environment: a well-behaved tenant shares the
 * service with one hostile tenant at a time. The service runs with its default settings on two cores. The
 * well-behaved tenant alone is measured before and after each attack.
 *
 * HOSTILES=a,b selects attacks.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { atMost, type Figure, percentile, round } from '../lib/measure.ts'
import { ServerProcess } from '../http/server-process.ts'
import type { Stage } from '../http/stage.ts'
import type { Result } from '../http/throughput.ts'
import { HostileClient } from '#testing/hostile/caller.ts'
import { HOSTILES, type Size, textOf, WHOLE } from '#testing/hostile/hostiles.ts'
import { RULED_HOSTILES, ruledTextOf } from '#testing/hostile/ruled-hostiles.ts'
import { arrangePolite, type Felt, livePolitely, type Pace } from '#testing/hostile/polite.ts'

const ADMIN_KEY = 'organization-key-of-the-bench'
const PACE: Pace = { decisionsPerSecond: 200, writesPerSecond: 10 }
const ALONE_SECONDS = 5
const BESIDE_SECONDS = 8
const ENTRY = new URL('./attacker.ts', import.meta.url)
/** Targets for single decisions and for writes of other environments during an attack. */
const P99_FACTOR_MAX = 3
const WRITE_MS_MAX = 500

/** Latencies that the well-behaved tenant sees, in milliseconds. */
interface Summary {
  readonly p99: number
  readonly slowest: number
  readonly slowestWrite: number
  readonly failures: readonly string[]
}

interface Comparison extends Summary {
  readonly statuses: Readonly<Record<string, number>>
  readonly alone: Summary
}

export async function measureWithHostiles(stage: Stage): Promise<Result> {
  const names = process.env['HOSTILES']?.split(',') ?? [
    ...Object.keys(HOSTILES),
    ...Object.keys(RULED_HOSTILES),
  ]
  const size = scaled(WHOLE, stage.scale)
  const directory = mkdtempSync(join(tmpdir(), 'verdict-hostile-'))
  const service = await ServerProcess.start(new URL('../../src/start.js', import.meta.url), {
    env: {
      PORT: '0',
      STORE_URL: `lmdb:${directory}`,
      API_KEY: 'a-key-that-nobody-uses',
      ADMIN_API_KEY: ADMIN_KEY,
      LOG_LEVEL: 'warn',
    },
    cores: '0,1',
  })
  try {
    const keys = await arrange(service.address, size)
    const comparisons: Record<string, Comparison> = {}
    for (const name of names) {
      const alone = await measureAlone(service.address, keys.polite)
      comparisons[name] = { ...(await measureWith(name, service.address, keys, size)), alone }
      // Waits until the effects of the attack are over, so that they do not affect the next measurement.
      await pause(1_000)
    }
    print(comparisons)
    return { figures: figuresOf(comparisons), raw: { size, pace: PACE, comparisons } }
  } finally {
    await service.stop()
    rmSync(directory, { recursive: true, force: true })
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

async function measureAlone(address: string, key: string): Promise<Summary> {
  const caller = new HostileClient(address, key)
  const until = performance.now() + ALONE_SECONDS * 1_000
  const felt = await livePolitely(caller, PACE, () => performance.now() >= until)
  caller.close()
  return summaryOf(felt)
}

async function measureWith(
  name: string,
  address: string,
  keys: Keys,
  size: Size,
): Promise<Summary & Pick<Comparison, 'statuses'>> {
  const key = name in RULED_HOSTILES ? keys.ruled : keys.hostile
  const attacker = new Worker(ENTRY, { workerData: { name, address, key, size } })
  const statuses = new Promise<Record<string, number>>((resolve, reject) => {
    attacker.once('message', resolve)
    attacker.once('error', reject)
  })
  const caller = new HostileClient(address, keys.polite)
  const until = performance.now() + BESIDE_SECONDS * 1_000
  const felt = await livePolitely(caller, PACE, () => performance.now() >= until)
  caller.close()
  attacker.postMessage('over')
  return { ...summaryOf(felt), statuses: await statuses }
}

function summaryOf({ decisions, writes, failures }: Felt): Summary {
  const sorted = decisions.toSorted((a, b) => a - b)
  return {
    p99: percentile(sorted, 0.99),
    slowest: sorted.at(-1) ?? Number.NaN,
    slowestWrite: Math.max(...writes),
    failures: failures.slice(0, 20),
  }
}

function print(comparisons: Readonly<Record<string, Comparison>>): void {
  const line = (cells: readonly (string | number)[]) =>
    process.stdout.write(
      `${cells.map((cell, n) => (n === 0 ? String(cell).padEnd(30) : String(cell).padStart(10))).join(' ')}\n`,
    )
  line(['during', 'p99 alone', 'p99', 'slowest', 'write', 'failed', 'statuses'])
  for (const [name, one] of Object.entries(comparisons)) {
    const figures = [one.alone.p99, one.p99, one.slowest, one.slowestWrite].map(round)
    line([name, ...figures, one.failures.length, ` ${JSON.stringify(one.statuses)}`])
  }
}

function figuresOf(comparisons: Readonly<Record<string, Comparison>>): Figure[] {
  return Object.entries(comparisons).flatMap(([name, one]) => [
    atMost(`${name}: p99 of another's decisions vs alone`, one.p99 / one.alone.p99, P99_FACTOR_MAX, '×'),
    atMost(`${name}: another's slowest write`, one.slowestWrite, WRITE_MS_MAX, 'ms'),
    atMost(`${name}: another's failed and wrong answers`, one.failures.length, 0, 'answers'),
  ])
}
