/**
 * Measures the pauses of readers during the most expensive operations of the writer, on a loaded W1 with two
 * cores:
 *
 *     node --max-old-space-size=12000 bench/engine/reader-stalls.ts [scale of W1 = 1]
 *
 * A reader checks without pause and records the longest time between two results. The reader and the writer
 * share two cores with the threads of V8 for compilation and garbage collection. Therefore a figure is the
 * length of a pause without the time in which the thread was ready but other threads used its core
 * (`run-delay.ts`). It is the maximum of all three runs, including the first one, in which code can be cold.
 *
 * For comparison, two more numbers are reported: the pause including that time, and the pause before each
 * scenario, while the writer is busy but does not write.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import * as L from '#engine/shared-index/memory/layout.ts'
import { warmUpWriter } from '#engine/shared-index/warm-up.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { assignment, from, groupRelation, instancePut, tuple, userPut } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { Random } from '#testing/data/random.ts'
import { atMost, publish, round, timeMs, type Figure } from '../lib/measure.ts'
import { runDelayMs } from './run-delay.ts'
import { CELLS, STOP, type StopsReaderData } from './reader-stalls-cells.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void

const STOP_MAX_MS = 5
const IDLE_MS = 300
const PART = 1_000

const scale = Number(process.argv[2] ?? 1)
const only = process.argv[3]
const drive = new Drive('W1', scale)
const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 3, multiplier: 0x2545f491 } })
writer.apply(drive.things())
writer.apply(drive.facts())
const above = ['top', 'above'].map(key => instancePut('folder', key))
const isRoot = new Set(Array.from({ length: drive.folders }, (_, f) => `folder-${f}`))
for (const fact of drive.facts()) {
  if (fact.kind === 'tuple-put' && fact.relation === 'parent') isRoot.delete(fact.object.key)
}
writer.apply([...above, userPut('heavy'), instancePut('group', 'everywhere'), instancePut('group', 'guests')])
writer.apply([...isRoot].map(root => tuple(['folder', 'top'], 'parent', ['folder', root])))
while (writer.precompute(100_000));

// The service also warms up the writer before it makes an index of this size available.
const warmUpMs = timeMs(() => void Array.from(warmUpWriter()))

const header = new Int32Array(writer.handle.header)
const cells = new Int32Array(new SharedArrayBuffer(64))
const longest = new Float64Array(new SharedArrayBuffer(2 * 8 * 1_024))
const questions = drive.candidates(50_000, 'denied')
const workerData: StopsReaderData = { handle: writer.handle, questions, cells, longest }
const worker = new Worker(new URL('./reader-stalls-reader.ts', import.meta.url), { workerData })
worker.on('error', error => {
  throw error
})
while (Atomics.load(cells, CELLS.checks) === 0) await new Promise(resolve => setTimeout(resolve, 50))

/**
 * Duration of the longest critical section of the writer, in milliseconds. The sequence number marks the
 * start and the end of each section. Only the writer changes it, through `Atomics` of this thread.
 */
let longestSection = 0
/** Duration of the longest critical section without the time in which other threads used the core. */
let longestWork = 0
let begun = 0
let delayedBefore = 0
const { add } = Atomics
const watchedAdd = (array: Int32Array, index: number, value: number): number => {
  const isSequence = index === L.H_SEQUENCE && array.buffer === header.buffer
  if (isSequence && begun > 0) {
    const section = performance.now() - begun
    longestSection = Math.max(longestSection, section)
    longestWork = Math.max(longestWork, section - (runDelayMs() - delayedBefore))
    begun = 0
  } else if (isSequence) {
    delayedBefore = runDelayMs()
    begun = performance.now()
  }
  return add(array, index, value)
}
Object.assign(Atomics, { add: watchedAdd })

/**
 * Maximum durations in milliseconds. The fields that end with `Work` exclude the time in which other threads
 * used the core.
 */
interface Stop {
  /** Longest time between two results of the reader. */
  readonly stop: number
  readonly stopWork: number
  readonly section: number
  readonly sectionWork: number
  /** Longest step of the writer. It includes the work before and after critical sections. */
  readonly step: number
}

/** Runs `work` and returns the maximum durations during it. */
function stopDuring(work: () => Iterable<() => void>): Stop {
  collectGarbage({ type: 'minor' })
  const window = add(cells, CELLS.window, 1) + 1
  waitForChecks()
  longest.fill(0, window * 2, window * 2 + 2)
  longestSection = 0
  longestWork = 0
  let step = 0
  for (const one of work()) {
    const start = performance.now()
    one()
    step = Math.max(step, performance.now() - start)
  }
  waitForChecks()
  return {
    stop: longest[window * 2]!,
    stopWork: longest[window * 2 + 1]!,
    section: longestSection,
    sectionWork: longestWork,
    step,
  }
}

function waitForChecks(): void {
  const checks = Atomics.load(cells, CELLS.checks)
  while (Atomics.load(cells, CELLS.checks) < checks + 64);
}

function* idle(): Iterable<() => void> {
  const end = performance.now() + IDLE_MS
  while (performance.now() < end) yield () => busyFor(1)
}

function busyFor(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

function* inParts(changes: readonly Change[], size = PART): Iterable<() => void> {
  for (let at = 0; at < changes.length; at += size) {
    const part = changes.slice(at, at + size)
    yield () => writer.apply(part)
  }
}

function* collecting(): Iterable<() => void> {
  const left = { is: true }
  while (left.is) yield () => void (left.is = writer.collect(1))
}

const random = new Random(17)
const times = (count: number, change: (n: number) => Change): Change[] =>
  Array.from({ length: count }, (_, n) => change(n))
const someFolder = (): [string, string] => ['folder', `folder-${random.below(drive.folders)}`]
const someDocument = (): string => `doc-${random.below(drive.documents)}`
const taken = (put: Change): Change => {
  if (put.kind === 'tuple-put') return { ...put, kind: 'tuple-removed' }
  if (put.kind === 'assignment-put') return { ...put, kind: 'assignment-removed' }
  if (put.kind === 'instance-put') return { kind: 'instance-removed', instance: put.instance }
  if (put.kind === 'user-put') return { kind: 'user-removed', user: put.user }
  throw new Error(`${put.kind} is not taken back here`)
}
const viewerGrant = (object: readonly [string, string], group = 'guests'): Change =>
  tuple(['group', group], groupRelation('viewer'), object)
const documentRole = (role: string, actions: string[], derivations = [from('viewer', 'folder', 'parent')]) =>
  ({
    kind: 'role-put',
    type: 'document',
    role,
    permissions: actions.map(action => ({ type: 'document', action })),
    extends: [],
    derivations,
  }) as Change

// The changes are generated in advance. The heap of the bench is not part of the index, and its garbage
// collection must not occur in a critical section.
const newcomers = times(Math.round(500_000 * scale), n => instancePut('document', `new-${n}`))
const departures = newcomers.map(taken)
const rolesOfOne = times(drive.documents, n => assignment('heavy', 'viewer', 'document', `doc-${n}`))
const losses = rolesOfOne.map(taken)
const sharedByOne = times(drive.documents, n => viewerGrant(['document', `doc-${n}`], 'everywhere'))
const grants = times(10_000, () =>
  assignment(`user-${random.below(drive.users)}`, 'viewer', 'document', someDocument()),
)
const shares = times(10_000, () => viewerGrant(someFolder()))
const people = times(10_000, n => userPut(`person-${n}`))
const moves = times(500, n => viewerGrant(['folder', `folder-${n * 7}`]))
const onTop = viewerGrant(['folder', 'top'])

/**
 * The scenarios run in this order. Most scenarios that add data are followed by one that removes it again, so
 * that the index is then as before and all rounds start from the same state.
 */
const SCENARIOS: Record<string, () => Iterable<() => void>> = {
  'records added until all tables have doubled': () => inParts(newcomers),
  'records removed until all tables have halved': function* halved() {
    yield* inParts(departures)
    yield* collecting()
  },
  'a user who gets a role on every document': () => inParts(rolesOfOne),
  'a user who loses them one by one': () => inParts(losses),
  'that user with all roles removed, and collected': function* removed() {
    for (const part of inParts(rolesOfOne)) part()
    yield* inParts([{ kind: 'user-removed', user: 'heavy' }])
    yield* collecting()
    writer.apply([userPut('heavy')])
  },
  'a group shared on every document': () => inParts(sharedByOne),
  'that group removed, and collected': function* removed() {
    yield* inParts([{ kind: 'instance-removed', instance: { type: 'group', key: 'everywhere' } }])
    yield* collecting()
    writer.apply([instancePut('group', 'everywhere')])
  },
  'a commit of 10,000 new users': () => inParts(people, 10_000),
  'a commit of 10,000 users removed': function* removed() {
    yield* inParts(people.map(taken), 10_000)
    yield* collecting()
  },
  'a commit of 10,000 roles on documents': () => inParts(grants, 10_000),
  'a commit of 10,000 roles taken away': () => inParts(grants.map(taken), 10_000),
  'a commit of 10,000 groups shared on folders': () => inParts(shares, 10_000),
  'a commit of 10,000 of them taken back': () => inParts(shares.map(taken), 10_000),
  'a change at the root of all folders': () => inParts([onTop, taken(onTop), onTop, taken(onTop)], 1),
  'closures voided until their region starts over': function* restart() {
    const era = header[L.H_CLOSURE_ERA]
    for (let n = 0; n < 400 && header[L.H_CLOSURE_ERA] === era; n++) {
      yield* inParts([onTop, taken(onTop)], 1)
      yield* inParts([...moves, ...moves.map(taken)], 100)
      yield* [() => void Atomics.wait(cells, 15, 0, 20)]
    }
  },
  'a new role': () => inParts([documentRole('signer', ['delete'], [])]),
  'a new derivation': () => inParts([documentRole('signer', ['delete'])]),
  'a permission removed': () => inParts([documentRole('signer', [])]),
  'a role removed, and collected': function* removed() {
    yield* inParts([{ kind: 'role-removed', type: 'document', role: 'signer' }])
    yield* collecting()
  },
}

const ROUNDS = 3
const raw: Record<string, (Stop & { readonly idle: number })[]> = {}
for (let pass = 0; pass < ROUNDS; pass++) {
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    if (only && !name.includes(only)) continue
    const idleStop = stopDuring(idle).stop
    raw[name] ??= []
    raw[name].push({ ...stopDuring(scenario), idle: idleStop })
  }
}
const figures: Figure[] = Object.entries(raw).flatMap(([name, stops]) => {
  const all = (of: (stop: (typeof stops)[number]) => number) => stops.map(of)
  const told = (values: readonly number[]) => values.map(round).join(', ')
  const sections = all(({ sectionWork }) => sectionWork)
  const readers = all(({ stopWork }) => stopWork)
  const idles = told(all(one => one.idle))
  return [
    {
      ...atMost(`${name}: section`, Math.max(...sections), STOP_MAX_MS, 'ms'),
      reached: `${told(sections)}; with others ${told(all(one => one.section))}`,
    },
    {
      ...atMost(`${name}: reader`, Math.max(...readers), STOP_MAX_MS, 'ms'),
      reached: `${told(readers)}; with others ${told(all(one => one.stop))}, idle ${idles}`,
    },
  ]
})
Atomics.store(cells, CELLS.window, STOP)
publish('reader-stalls', figures, { warmUpMs, ...raw })
