/**
 * Measures changes of the schema on a loaded W1 in which all closures are built:
 *
 *     node --max-old-space-size=12000 bench/engine/schema-changes.ts [scale of W1 = 1]
 *
 * Figures are the time that the writer needs to apply a change, the longest pause of a reader in another
 * thread, and the share of all closures that are rebuilt. Two kinds of decisions are verified: those that
 * must change, and those that must not.
 */
import { Worker } from 'node:worker_threads'
import { warmUpWriter } from '#engine/shared-index/warm-up.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change, Derivation } from '#model/change.ts'
import { ask, assignment, from, groupRelation, instancePut, tuple, userPut } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { atMost, publish, round, timeMs, type Figure } from '../lib/measure.ts'
import { CELLS, STOP, type StopsReaderData } from './reader-stalls-cells.ts'

const STOP_MAX_MS = 5
const ROUNDS = 3

const drive = new Drive('W1', Number(process.argv[2] ?? 1))
const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 3, multiplier: 0x2545f491 } })
writer.apply(drive.things())
writer.apply(drive.facts())
writer.apply([
  userPut('signer'),
  userPut('watcher'),
  instancePut('folder', 'watched'),
  instancePut('document', 'inside'),
  tuple(['folder', 'watched'], 'parent', ['document', 'inside']),
  assignment('watcher', 'viewer', 'folder', 'watched'),
])
// The service also warms up the writer before it makes an index of this size available.
Array.from(warmUpWriter())
const built = (): number => writer.figures().closuresBuilt
const buildAll = (): void => {
  while (writer.precompute(100_000));
}
const empty = built()
buildAll()
const whole = built() - empty

const cells = new Int32Array(new SharedArrayBuffer(64))
const longest = new Float64Array(new SharedArrayBuffer(2 * 8 * 1_024))
const questions = drive.candidates(50_000, 'denied')
const workerData: StopsReaderData = { handle: writer.handle, questions, cells, longest }
const worker = new Worker(new URL('./reader-stalls-reader.ts', import.meta.url), { workerData })
worker.on('error', error => {
  throw error
})
while (Atomics.load(cells, CELLS.checks) === 0) await new Promise(resolve => setTimeout(resolve, 50))
const reader = new SharedIndexReader(writer.handle, { threadId: 3 })

const role = (type: string, name: string, actions: string[], derivations: Derivation[]): Change => ({
  kind: 'role-put',
  type,
  role: name,
  permissions: actions.map(action => ({ type, action })),
  extends: [],
  derivations,
})
const parent = (name: string): Derivation => from(name, 'folder', 'parent')
const member = from('member', 'group', groupRelation('viewer'))
const signs = ask('signer', 'delete', 'document', 'inside')
const reads = ask('watcher', 'read', 'document', 'inside')

/**
 * Changes in the order in which they are made. `right` contains the correct decisions on [signs, reads] after
 * the change.
 */
const STEPS: { name: string; changes: Change[]; right: [boolean, boolean] }[] = [
  {
    name: 'a new role on documents',
    changes: [role('document', 'signer', ['delete'], [])],
    right: [false, true],
  },
  {
    name: 'a new role on folders, held by one',
    changes: [role('folder', 'signer', [], []), assignment('signer', 'signer', 'folder', 'watched')],
    right: [false, true],
  },
  {
    name: 'a new derivation, from folders to documents',
    changes: [role('document', 'signer', ['delete'], [parent('signer')])],
    right: [true, true],
  },
  {
    name: 'a permission removed',
    changes: [role('document', 'signer', [], [parent('signer')])],
    right: [false, true],
  },
  {
    name: 'a derivation removed that all documents have',
    changes: [role('document', 'viewer', ['read'], [member])],
    right: [false, false],
  },
  {
    name: 'that derivation put back',
    changes: [role('document', 'viewer', ['read'], [parent('viewer'), member])],
    right: [false, true],
  },
  {
    name: 'both new roles removed',
    changes: ['document', 'folder'].map(type => ({ kind: 'role-removed', type, role: 'signer' })),
    right: [false, true],
  },
]

interface Felt {
  readonly apply: number
  readonly stop: number
  /** Share of all closures that were rebuilt. */
  readonly rebuilt: number
}

function feel(changes: Change[], right: readonly boolean[]): Felt {
  const window = Atomics.add(cells, CELLS.window, 1) + 1
  waitForChecks()
  longest.fill(0, window * 2, window * 2 + 2)
  const before = built()
  const apply = timeMs(() => writer.apply(changes))
  waitForChecks()
  // The pause of the reader without the time in which other threads used its core.
  const stop = longest[window * 2 + 1]!
  const answers = [signs, reads].map(question => reader.evaluate(question))
  if (String(answers) !== String(right)) throw new Error(`answers are ${answers}, not ${right}`)
  buildAll()
  while (writer.collect(1));
  return { apply, stop, rebuilt: (built() - before) / whole }
}

function waitForChecks(): void {
  const checks = Atomics.load(cells, CELLS.checks)
  while (Atomics.load(cells, CELLS.checks) < checks + 1_000);
}

const raw: Record<string, Felt[]> = {}
for (let pass = 0; pass < ROUNDS; pass++) {
  for (const { name, changes, right } of STEPS) (raw[name] ??= []).push(feel(changes, right))
}
Atomics.store(cells, CELLS.window, STOP)
const figures: Figure[] = Object.entries(raw).map(([name, felt]) => {
  const stops = felt.map(({ stop }) => stop)
  const share = round(Math.max(...felt.map(({ rebuilt }) => rebuilt)) * 100)
  const applied = round(Math.max(...felt.map(({ apply }) => apply)))
  return {
    ...atMost(name, Math.min(...stops), STOP_MAX_MS, 'ms'),
    reached: `reader ${stops.map(round).join(', ')} ms; apply ${applied} ms; rebuilt ${share} %`,
  }
})
publish('schema-changes', figures, { whole, ...raw })
