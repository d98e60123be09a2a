/**
 * Measures how a writer affects a reader in another thread, on two cores:
 *
 *     node --max-old-space-size=8000 bench/engine/reader-under-writes.ts \
 *       [scale of W1 = 0.3] [changes a round = 4,000]
 *
 * Slowdown: nanoseconds per check, single and staged, at three rates of writes. The rates are: without
 * writes, with 1,000 critical sections per second with one fact each, and with 1,000 sections per second with
 * ten facts each.
 *
 * Visibility: time from the start of `apply` until the result of the reader changes, measured with one clock.
 * It is compared with the time of a simple message between the threads. Figures are medians of alternating
 * rounds, the first of which warms up. The spread of the figures without writes shows whether the machine was
 * busy.
 */
import { Worker } from 'node:worker_threads'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { assignment, groupRelation, instancePut, tuple, userPut } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { Random } from '#testing/data/random.ts'
import { atMost, median, percentile, publish, round, type Figure } from '../lib/measure.ts'
import { CELLS, COMMANDS } from './reader-under-writes-cells.ts'

const SECTIONS_PER_SECOND = 1_000
const WINDOW_MS = 400
const ROUNDS = 9
const TOGGLES = Number(process.argv[3] ?? 4_000)
const VISIBILITY_ROUNDS = 5

const drive = new Drive('W1', Number(process.argv[2] ?? 0.3))
const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 3, multiplier: 0x2545f491 } })
writer.apply(drive.things())
writer.apply(drive.facts())
writer.apply([userPut('watcher'), instancePut('document', 'watched'), instancePut('document', 'other')])

const cells = new Int32Array(new SharedArrayBuffer(64))
const clock = new BigInt64Array(new SharedArrayBuffer(8))
const worker = new Worker(new URL('./reader-under-writes-reader.ts', import.meta.url), {
  workerData: { handle: writer.handle, threadId: 2, cells, clock, scale: Number(process.argv[2] ?? 0.3) },
})
worker.on('error', error => {
  throw error
})

const random = new Random(5)
const given = new Set<string>()

/** The most common change: shares a document with a group, or stops sharing it. */
function someFact(): Change {
  const [group, document] = [random.below(drive.groups), random.below(drive.documents)]
  const put = tuple(['group', `group-${group}`], groupRelation('viewer'), ['document', `doc-${document}`])
  const name = `${group} ${document}`
  if (put.kind === 'tuple-put' && given.has(name)) return { ...put, kind: 'tuple-removed' }
  given.add(name)
  return put
}

/** Lets the reader check for a while during writes at this rate. Returns nanoseconds per check. */
async function windowOf(command: number, factsPerSection: number): Promise<number> {
  const before = Atomics.load(cells, CELLS.done)
  Atomics.store(cells, CELLS.command, command)
  const start = performance.now()
  let sections = 0
  while (performance.now() - start < WINDOW_MS) {
    if (factsPerSection === 0) {
      await new Promise(resolve => setTimeout(resolve, 20))
      continue
    }
    const due = ((performance.now() - start) * SECTIONS_PER_SECOND) / 1000
    if (sections < due) {
      sections += 1
      writer.apply(Array.from({ length: factsPerSection }, someFact))
    } else Atomics.wait(cells, CELLS.pause, 0, 0.3)
  }
  const checks = Atomics.load(cells, CELLS.done) - before
  return ((performance.now() - start) * 1e6) / checks
}

const load = { idle: 0, 'at 1,000 sections/s': 1, 'at 10,000 facts/s': 10 } as const
const raw: Record<string, unknown> = {}
const figures: Figure[] = []
while (Atomics.load(cells, CELLS.done) === 0) await new Promise(resolve => setTimeout(resolve, 50))
for (const mode of ['single', 'staged'] as const) {
  const times: Record<string, number[]> = {}
  for (let pass = 0; pass < ROUNDS; pass++) {
    for (const [name, facts] of Object.entries(load)) {
      const list = (times[name] ??= [])
      list.push(await windowOf(COMMANDS[mode], facts))
    }
  }
  raw[mode] = times
  for (const name of Object.keys(load).slice(1)) {
    figures.push(
      atMost(`reader slowdown, ${mode}, ${name}`, median(times[name]!) / median(times['idle']!), 1.3, '×'),
    )
  }
}

/**
 * Returns how many microseconds pass from the start of `apply` until the reader has seen the change. There is
 * one value per critical section.
 */
function visibility(factsPerSection: number): number[] {
  const delays: number[] = []
  const put = assignment('watcher', 'viewer', 'document', 'watched')
  if (put.kind !== 'assignment-put') throw new Error('an assignment is put')
  for (let n = 0; n < TOGGLES; n++) {
    const isPut = n % 2 === 0
    const next = performance.now() + 1000 / SECTIONS_PER_SECOND
    const others = Array.from({ length: factsPerSection - 1 }, someFact)
    Atomics.store(cells, CELLS.seen, 0)
    Atomics.store(cells, CELLS.expected, isPut ? 1 : 0)
    const start = process.hrtime.bigint()
    writer.apply([...others, isPut ? put : { ...put, kind: 'assignment-removed' }])
    while (Atomics.load(cells, CELLS.seen) === 0);
    delays.push(Number(Atomics.load(clock, 0) - start) / 1000)
    while (performance.now() < next);
  }
  return delays
}

/**
 * Returns how many microseconds pass until another thread has received a word and read as many cache lines as
 * a check does. This is the lower bound for this machine.
 */
function echo(): number[] {
  const delays: number[] = []
  for (let n = 0; n < TOGGLES; n++) {
    const next = performance.now() + 1000 / SECTIONS_PER_SECOND
    const start = process.hrtime.bigint()
    Atomics.store(cells, CELLS.seen, 0)
    while (Atomics.load(cells, CELLS.seen) === 0);
    delays.push(Number(Atomics.load(clock, 0) - start) / 1000)
    while (performance.now() < next);
  }
  return delays
}

/** Sends a command to the reader and waits until the reader has had time to start. */
async function tellReader(what: number): Promise<void> {
  Atomics.store(cells, CELLS.command, what)
  await new Promise(resolve => setTimeout(resolve, 100))
}

Atomics.store(cells, CELLS.expected, 0)
Atomics.store(cells, CELLS.seen, 1)
const delays: Record<'word' | 'one' | 'ten', { p50: number; p99: number; max: number }[]> = {
  word: [],
  one: [],
  ten: [],
}
for (let pass = -1; pass < VISIBILITY_ROUNDS; pass++) {
  await tellReader(COMMANDS.echo)
  const word = echo()
  await tellReader(COMMANDS.watch)
  const taken = { word, one: visibility(1), ten: visibility(10) }
  if (pass < 0) continue
  for (const name of ['word', 'one', 'ten'] as const) {
    const of = taken[name]
    delays[name].push({ p50: median(of), p99: percentile(of, 0.99), max: Math.max(...of) })
  }
}
raw['visibility'] = delays
const [word, one, ten] = [delays.word, delays.one, delays.ten].map(passes => ({
  p50: median(passes.map(pass => pass.p50)),
  p99: median(passes.map(pass => pass.p99)),
}))
figures.push(
  {
    figure: 'the machine alone: a word and 20 reads, p50 and p99',
    bar: '',
    reached: `${round(word!.p50)} and ${round(word!.p99)} µs`,
    isMet: true,
  },
  atMost('visible at 1,000 sections/s, p50', one!.p50, 50, 'µs'),
  atMost('visible at 1,000 sections/s, p99', one!.p99, 50, 'µs'),
  atMost('visible at 10,000 facts/s, p99', ten!.p99, 2_000, 'µs'),
)
Atomics.store(cells, CELLS.command, COMMANDS.stop)
publish('reader-under-writes', figures, raw)
