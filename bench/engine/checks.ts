/**
 * Measures checks, memory and load time of the shared index, compared with plain Maps. Both run in the same
 * process on one core:
 *
 *     taskset -c 1 node --expose-gc --max-old-space-size=12000 bench/engine/checks.ts \
 *       [scale of W1 = 1] [scale of W5 = 3.4]
 *
 * The decisions of both are compared before the measurement. The passes alternate, so that disturbances
 * affect both in the same way.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { PlainMaps } from '../lib/plain-maps.ts'
import type { Query } from '#model/decision.ts'
import type { Dataset } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { Cycles, DeepChain, Wide } from '../data/shapes.ts'
import { atLeast, atMost, median, publish, timeMs, type Figure } from '../lib/measure.ts'
import { loadBare, loadShared } from './loading.ts'
import { type Evaluator, fresh, questionsOf, timeSingle, timeStaged, verifyAnswers } from './questions.ts'

const PASSES = 11
/** Number of runs of each size. Runs of different sizes alternate. */
const RUNS = 5

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function loadBaseline(dataset: Dataset): PlainMaps {
  const engine = new PlainMaps()
  engine.apply(dataset.things())
  engine.apply(dataset.facts())
  return engine
}

const raw: Record<string, unknown> = {}
const figures: Figure[] = []

/**
 * Returns the median time of each pass, by the name of the pass. The passes alternate and use new strings
 * each time.
 */
function race(passes: Record<string, { queries: readonly Query[]; run: (queries: Query[]) => number }>) {
  const times = new Map<string, number[]>(Object.keys(passes).map(name => [name, []]))
  for (let pass = 0; pass < PASSES; pass++) {
    for (const [name, { queries, run }] of Object.entries(passes)) {
      const unseen = fresh(queries)
      times.get(name)!.push(run(unseen))
    }
  }
  const medians = Object.fromEntries([...times].map(([name, values]) => [name, median(values)]))
  for (const [name, ns] of Object.entries(medians)) {
    process.stdout.write(`  ${name.padEnd(40)} ${Math.round(ns)} ns\n`)
  }
  raw[Object.keys(passes).join(', ')] = Object.fromEntries(times)
  return medians
}

const scale = Number(process.argv[2] ?? 1)
const bigScale = Number(process.argv[3] ?? 3.4)

/** Returns nanoseconds per denied check. */
function measureDrive(): number {
  const drive = new Drive('W1', scale)
  const heapBefore = heapMiB()
  const { writer, reader, facts } = loadShared(drive)
  const heapGrown = heapMiB() - heapBefore
  const { allowed, denied, mixed, vsBaseline } = measureBaseline(drive, reader)
  // The gigabyte of the baseline is collected here. If it were collected later, it would slow down the
  // fastest passes most.
  collectGarbage()
  process.stdout.write(`W1: ${facts} facts, ${mixed.length} answers verified\n`)
  const ns = race({
    'W1 single': { queries: mixed, run: q => timeSingle(reader, q) },
    'W1 staged': { queries: mixed, run: q => timeStaged(reader, q) },
    'W1 single allowed': { queries: allowed, run: q => timeSingle(reader, q) },
    'W1 single denied': { queries: denied, run: q => timeSingle(reader, q) },
  })
  raw['W1 bytes'] = writer.bytes()
  figures.push(
    atLeast('W1, fresh strings, one by one, vs baseline', vsBaseline, 2.5, '×'),
    atLeast('W1, staged batch of 1,000 vs one by one', ns['W1 single']! / ns['W1 staged']!, 1.7, '×'),
    atMost('W1, denied vs allowed', ns['W1 single denied']! / ns['W1 single allowed']!, 2.5, '×'),
    atMost('W1, bytes per fact (assignments and tuples)', writer.bytes().total / facts, 75, 'B'),
    atMost('W1, JavaScript heap grown by the load', heapGrown, 5, 'MiB'),
  )
  return ns['W1 single denied']!
}

/**
 * Verifies that the baseline and the reader make the same decisions. Then measures how much faster the reader
 * is.
 */
function measureBaseline(drive: Drive, reader: Evaluator) {
  const baseline = loadBaseline(drive)
  const questions = questionsOf(drive, baseline, 100_000)
  const queries = questions.mixed
  verifyAnswers(reader, baseline, queries)
  const ns = race({
    'W1 baseline': { queries, run: q => timeSingle(baseline, q) },
    'W1 single beside it': { queries, run: q => timeSingle(reader, q) },
  })
  return { ...questions, vsBaseline: ns['W1 baseline']! / ns['W1 single beside it']! }
}

function measureShape(dataset: Dataset, deniedOfW1: number): void {
  const { reader } = loadShared(dataset)
  const baseline = loadBaseline(dataset)
  const { allowed, denied } = questionsOf(dataset, baseline, 400)
  verifyAnswers(reader, baseline, [...allowed, ...denied])
  const many = (queries: readonly Query[]): Query[] => Array.from({ length: 50 }, () => queries).flat()
  const { name } = dataset
  const ns = race({
    [`${name} allowed`]: { queries: many(allowed), run: q => timeSingle(reader, q) },
    [`${name} denied`]: { queries: many(denied), run: q => timeSingle(reader, q) },
  })
  figures.push(atMost(`${name}, denied vs allowed`, ns[`${name} denied`]! / ns[`${name} allowed`]!, 2.5, '×'))
  const vsW1 = ns[`${name} denied`]! / deniedOfW1
  if (name === 'W3') {
    figures.push(
      atMost('W3 denied, first touch, vs W1 denied', firstTouch(dataset, denied) / deniedOfW1, 25, '×'),
      atMost('W3 denied, steady, vs W1 denied', vsW1, 6, '×'),
    )
  } else figures.push(atMost(`${name} denied vs W1 denied`, vsW1, 1, '×'))
}

/**
 * Returns the median time in nanoseconds of the first check on a document whose closure is not built. The
 * code is warm, and the median is over all documents. Also returns the time of the check that triggers the
 * build.
 */
function firstTouch(dataset: Dataset, denied: readonly Query[]): number {
  const warm = loadBare(dataset).reader
  for (let n = 0; n < 100; n++) timeSingle(warm, denied)
  const { reader } = loadBare(dataset)
  // Attaches the reader to the index by checking a document that is not used afterwards.
  timeSingle(reader, [{ ...denied[0]!, key: 'of-all' }])
  const firsts = [...new Map(denied.map(question => [question.key, question])).values()]
  const times = firsts.map(question => timeSingle(reader, [question]))
  const building = firsts.map(question =>
    Math.max(...Array.from({ length: 10 }, () => timeMs(() => reader.evaluate(question)))),
  )
  raw['W3 first touch'] = { ns: times, msOfTheCheckThatBuilds: building }
  return median(times)
}

function measureBig(): void {
  const times: Record<string, number[]> = { W1: [], W5: [] }
  for (let run = 0; run < RUNS; run++) {
    for (const [name, size] of Object.entries({ W1: scale, W5: bigScale })) {
      const script = fileURLToPath(new URL('drive-alone.ts', import.meta.url))
      const printed = execFileSync(process.execPath, [...process.execArgv, script, String(size)])
      const { facts, ns } = JSON.parse(printed.toString()) as { facts: number; ns: number }
      times[name]!.push(ns)
      process.stdout.write(`  ${name} alone, ${facts} facts ${String(Math.round(ns)).padStart(10)} ns\n`)
    }
  }
  raw['sizes'] = times
  figures.push(atMost('W5 vs W1, time per check', median(times['W5']!) / median(times['W1']!), 1.25, '×'))
}

function heapMiB(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const deniedOfW1 = measureDrive()
for (const shape of [new DeepChain(), new Wide(), new Cycles()]) measureShape(shape, deniedOfW1)
measureBig()
publish('checks', figures, raw)
