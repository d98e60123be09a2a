/**
 * Measures writes per second over HTTP. Each write is durable before its response is sent. There are single
 * writes by 1, 16 and 64 callers, and bulks of 1,000 tuples with 1,000 new instances. Each kind of store has
 * its own service. Other checkouts alternate with this one, so that a ratio is based on one run. The kind
 * `postgres` compares this checkout on the embedded store with OpenFGA and SpiceDB on PostgreSQL.
 *
 *     npm run bench -- writes [embedded,memory,redis,postgres] [CHECKOUT…]
 *
 * Each checkout needs its own `node_modules`. At the end, all completed writes are verified. Then the
 * services are closed and the sizes of their stores are measured. `WRITES_ROUNDS` is the number of rounds,
 * the first of which warms up.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '#testing/processes/redis-process.ts'
import { atLeast, atMost, type Figure, median, publish, round } from '../lib/measure.ts'
import { type Figures, type Target, Writer } from '../lib/writer.ts'
import { startDurablePeers } from '../peers/durable-writes.ts'
import { BULK, WriteService } from './write-service.ts'

const CALLERS = [1, 16, 64] as const
const ROUNDS = Number(process.env['WRITES_ROUNDS'] ?? 5)

/**
 * Tables with the log of commits and with the commit IDs. They are `log` and `commits` in lmdb, and `log` and
 * `ids` in Redis.
 */
const LOG_TABLES = ['log', 'commits', 'ids']

const KINDS = ['embedded', 'memory', 'redis', 'postgres'] as const
type Kind = (typeof KINDS)[number]
/**
 * Targets for the rate of this checkout, as multiples of the rates of the first other checkout or of each
 * peer.
 */
const BARS: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  embedded: { '1 caller': 2, '16 callers': 4, '64 callers': 5, bulks: 4 },
  redis: { '16 callers': 3, '64 callers': 3, bulks: 3 },
  memory: {},
  postgres: {},
}
/**
 * Maximum size of the store, as a multiple of the size of the other store. The variation of page splits
 * causes differences of 1 %.
 */
const KEPT_MAX = 1.01
const results: Record<string, unknown> = {}

/** Measures one kind of store, with the service of each checkout. */
async function measureStores(
  kind: Exclude<Kind, 'postgres'>,
  checkouts: readonly string[],
): Promise<Figure[]> {
  const redis =
    kind === 'redis'
      ? await startRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'everysec'] })
      : null
  const services: WriteService[] = []
  try {
    for (const checkout of checkouts) {
      const url = kind === 'memory' ? 'memory:' : (redis?.url() ?? null)
      services.push(await WriteService.start(checkout, url, newDirectory()))
    }
    const writers = await measure(services)
    const [own, base] = writers
    const figures = [...figuresOf(kind, own!, base ? [base] : [])]
    return [...figures, ...(await storedBy(kind, services, writers))]
  } finally {
    for (const service of services) await service.stop()
    await redis?.stop()
  }
}

async function measurePeers(): Promise<Figure[]> {
  const peers = await startDurablePeers()
  const targets: Target[] = [...peers.targets]
  try {
    if (targets.length === 0) return []
    targets.unshift(await WriteService.start('.', null, newDirectory()))
    const [own, ...others] = await measure(targets)
    return figuresOf('postgres', own!, others)
  } finally {
    for (const target of targets) await target.stop()
    await peers.stop()
  }
}

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'verdict-writes-'))
}

/** Measures the targets in alternating rounds, and then verifies the written data. */
async function measure(targets: readonly Target[]): Promise<readonly Writer[]> {
  const writers = targets.map(target => new Writer(target))
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    const inTurns = turn % 2 === 0 ? writers : writers.toReversed()
    for (const callers of CALLERS) for (const writer of inTurns) await writer.singles(callers)
    for (const writer of inTurns) await writer.bulks()
  }
  for (const writer of writers) await writer.verify()
  return writers
}

function figuresOf(kind: Kind, own: Writer, others: readonly Writer[]): Figure[] {
  const rateOf = ({ rates }: Writer, figure: string) => rates.get(figure)!.slice(1)
  return [...own.rates.keys()].flatMap(figure => {
    for (const writer of [own, ...others]) {
      const of = (lists: Figures) =>
        lists.has(figure) ? round(median(lists.get(figure)!.slice(1))) : undefined
      const told = {
        name: writer.target.name,
        ...(figure === 'bulks' && { facts: writer.target.bulkSize }),
        perSecond: of(writer.rates),
        p50Ms: of(writer.p50s),
        cpuMsEach: of(writer.cpuMs),
        diskKbEach: of(writer.diskKb),
      }
      results[`${kind}, ${figure}, ${told.name}`] = told
      process.stdout.write(`${kind}, ${figure}, ${JSON.stringify(told)}\n`)
    }
    return others.map(other => {
      const theirs = rateOf(other, figure)
      const ratio = median(rateOf(own, figure).map((rate, turn) => rate / theirs[turn]!))
      const bar = BARS[kind][figure] ?? 1
      return atLeast(`${kind}, ${figure}: rate against ${other.target.name}`, ratio, bar, '×')
    })
  })
}

/**
 * Sizes of the closed stores after the same writes. This checkout must not need more than the first other
 * checkout.
 */
async function storedBy(
  kind: Kind,
  services: readonly WriteService[],
  writers: readonly Writer[],
): Promise<Figure[]> {
  const singles = Math.max(...writers.map(({ written }) => written.singles))
  for (const writer of writers) await writer.goOn(singles)
  const each: { readonly name: string; readonly kept: number; readonly log: number }[] = []
  for (const [index, service] of services.entries()) {
    const stored = await service.stored()
    if (!stored) return []
    const { facts } = writers[index]!.written
    const bytes = Object.entries(stored.tables).map(([table, of]) => [table, round(of / facts)] as const)
    const log = LOG_TABLES.reduce((sum, table) => sum + (stored.tables[table] ?? 0), 0)
    const told = {
      name: service.name,
      facts,
      singles,
      bytesAFact: round(stored.all / facts),
      inUseAFact: round(stored.inUse / facts),
      logBytesACommit: round(log / (singles + (facts - singles) / BULK)),
      tables: Object.fromEntries(bytes),
    }
    results[`${kind}, kept, ${service.name}`] = told
    process.stdout.write(`${kind}, kept, ${JSON.stringify(told)}\n`)
    each.push({ name: service.name, kept: stored.inUse / facts, log: log / facts })
  }
  const [own, base] = each
  if (!base) return []
  return [
    atMost(`${kind}: bytes kept a fact against ${base.name}`, own!.kept / base.kept, KEPT_MAX, '×'),
    atMost(`${kind}: bytes of the log a fact against ${base.name}`, own!.log / base.log, KEPT_MAX, '×'),
  ]
}

const args = process.argv.slice(2)
const isKinds = args[0]?.split(',').every(word => (KINDS as readonly string[]).includes(word)) ?? false
const kinds = isKinds ? (args.shift()!.split(',') as Kind[]) : KINDS
const figures: Figure[] = []
for (const kind of kinds)
  figures.push(...(kind === 'postgres' ? await measurePeers() : await measureStores(kind, ['.', ...args])))
publish('writes', figures, { results })
