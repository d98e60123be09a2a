/**
 * Compares the indexes of several checkouts in one process, alternately. To find the benefit of a part of the
 * engine, compare with a checkout without this part: its additional time is the benefit (docs/engine.md,
 * "What clever parts are worth").
 *
 *     npm run bench -- race SCALE ROUNDS CHECKOUT CHECKOUT…       e.g. 0.5 40 . ../without-filter
 *
 * Each checkout has its own modules, so that V8 compiles them separately, and its own copy of W1. Decisions
 * are compared before the measurement. Figures are processor times, which other work on the machine affects
 * less. A ratio is the time of a checkout divided by that of the first checkout; the median over the rounds
 * is reported. If you name the first checkout twice, the second ratio shows the measurement error.
 */
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SharedIndexReader } from '#engine/shared-index/reader.ts'
import type { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import type { packQueries } from '#model/packed-queries.ts'
import { assignment, instancePut, tuple, groupRelation } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { Random } from '#testing/data/random.ts'
import { median } from '../lib/measure.ts'
import { BATCH, fresh } from './questions.ts'
import { TextQuestion } from '#model/question.ts'

const QUESTIONS_A_ROUND = 20_000
const PARTS = 4
const CHANGES = 10_000
/** Number of rounds before the measurement, in which the code warms up. */
const WARM_ROUNDS = 2
const RECORDS_A_STEP = 2_000

interface Runner {
  readonly name: string
  readonly writer: SharedIndexWriter
  readonly reader: SharedIndexReader
  readonly pack: typeof packQueries
}

const [scale = '0.5', rounds = '40', ...checkouts] = process.argv.slice(2)
const drive = new Drive('W1', Number(scale))
const random = new Random(17)

/**
 * Loads the index of a checkout. The sources are copied first, so that a checkout that is named twice is also
 * loaded twice.
 */
async function runnerOf(checkout: string, index: number, into: string): Promise<Runner> {
  const copy = join(into, String(index))
  await cp(join(checkout, 'src'), join(copy, 'src'), { recursive: true })
  await cp(join(checkout, 'package.json'), join(copy, 'package.json'))
  await symlink(resolve('node_modules'), join(copy, 'node_modules'))
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(copy, 'src', file)).href)
  const [{ SharedIndexWriter: Writer }, { SharedIndexReader: Reader }, { packQueries: pack }] =
    (await Promise.all([
      load('engine/shared-index/writer.ts'),
      load('engine/shared-index/reader.ts'),
      load('model/packed-queries.ts'),
    ])) as [
      typeof import('#engine/shared-index/writer.ts'),
      typeof import('#engine/shared-index/reader.ts'),
      typeof import('#model/packed-queries.ts'),
    ]
  const writer = new Writer({ threadId: 1, secrets: { start: 3, multiplier: 0x2545f491 } })
  writer.apply(drive.things())
  writer.apply(drive.facts())
  writer.apply([instancePut('group', 'guests')])
  while (writer.precompute(RECORDS_A_STEP));
  return {
    name: `${index + 1} ${checkout}`,
    writer,
    reader: new Reader(writer.handle, { threadId: 2 }),
    pack,
  }
}

function processorNs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) * 1_000
}

function inBatches(queries: readonly Query[]): Query[][] {
  return Array.from({ length: queries.length / BATCH }, (_, n) => queries.slice(n * BATCH, (n + 1) * BATCH))
}

/** Each function returns the nanoseconds per check or per change. */
const KINDS: Record<string, (runner: Runner, queries: readonly Query[], changes: Change[]) => number> = {
  single: ({ reader }, queries) =>
    processorNs(() => {
      for (const query of queries) reader.evaluate(query)
    }) / queries.length,
  staged: ({ reader }, queries) => {
    const batches = inBatches(queries)
    const ns = processorNs(() => {
      for (const batch of batches) reader.evaluateAll(new TextQuestion(batch))
    })
    return ns / queries.length
  },
  packed: ({ reader, pack }, queries) => {
    const batches = inBatches(queries).map(batch => pack(batch)!)
    const ns = processorNs(() => {
      for (const batch of batches) reader.evaluateAll(batch)
    })
    return ns / queries.length
  },
  'a change, put and removed': ({ writer }, _, changes) => {
    const removals = changes.map(
      change => ({ ...change, kind: change.kind.replace('put', 'removed') }) as Change,
    )
    const ns = processorNs(() => {
      writer.apply(changes)
      writer.apply(removals)
    })
    while (writer.collect(1));
    while (writer.precompute(RECORDS_A_STEP));
    return ns / (2 * changes.length)
  },
}

function someChanges(): Change[] {
  const document = (): [string, string] => ['document', `doc-${random.below(drive.documents)}`]
  return Array.from({ length: CHANGES }, (_, n) =>
    n % 2 === 0
      ? assignment(`user-${random.below(drive.users)}`, 'viewer', ...document())
      : tuple(['group', 'guests'], groupRelation('viewer'), document()),
  )
}

function compare(runners: readonly Runner[], queries: readonly Query[]): void {
  const right = runners[0]!.reader.evaluateAll(new TextQuestion(queries))
  for (const { name, reader, pack } of runners) {
    const packed = reader.evaluateAll(pack(queries)!)
    for (const [index, query] of queries.entries()) {
      if (reader.evaluate(query) === (right[index] === 1) && packed[index] === right[index]) continue
      throw new Error(`${name} answers otherwise: ${JSON.stringify(query)}`)
    }
  }
}

const into = await mkdtemp(join(tmpdir(), 'race-'))
try {
  const runners: Runner[] = []
  for (const [index, checkout] of checkouts.entries()) runners.push(await runnerOf(checkout, index, into))
  const half = (QUESTIONS_A_ROUND * PARTS) / 2
  const queries = [...drive.candidates(half, 'allowed'), ...drive.candidates(half, 'denied')]
  random.shuffle(queries)
  compare(runners, queries)
  const times = new Map(Object.keys(KINDS).map(kind => [kind, runners.map((): number[] => [])]))
  for (let round = 0; round < Number(rounds) + WARM_ROUNDS; round++) {
    const from = (round % PARTS) * QUESTIONS_A_ROUND
    const changes = someChanges()
    const order = round % 2 === 0 ? [...runners.keys()] : [...runners.keys()].toReversed()
    for (const [kind, run] of Object.entries(KINDS)) {
      for (const index of order) {
        const ns = run(runners[index]!, fresh(queries.slice(from, from + QUESTIONS_A_ROUND)), changes)
        if (round >= WARM_ROUNDS) times.get(kind)![index]!.push(ns)
      }
    }
  }
  for (const [kind, byRunner] of times) {
    for (const [index, ns] of byRunner.entries()) {
      const ratio = median(ns.map((one, round) => one / byRunner[0]![round]!))
      process.stdout.write(
        `${kind.padEnd(26)} ${runners[index]!.name.padEnd(30)} ${String(Math.round(median(ns))).padStart(6)} ns  ${ratio.toFixed(3)} ×\n`,
      )
    }
  }
} finally {
  await rm(into, { recursive: true })
}
