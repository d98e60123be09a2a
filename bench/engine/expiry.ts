/**
 * Measures expiring grants in the index: memory per expiration time, load time of a million of them, and the
 * pauses of readers while 100,000 grants expire in one second.
 *
 *     npm run bench -- ends [grants = 1,000,000]
 *
 * A reader in another thread checks without pause (`reader-stalls-reader.ts`). Its pauses are reported
 * without the time in which other threads used its core. Each grant is checked before and after it expires.
 */
import { Worker } from 'node:worker_threads'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { warmUpWriter } from '#engine/shared-index/warm-up.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { assignment, instancePut, userPut } from '#testing/data/dataset.ts'
import { atMost, publish } from '../lib/measure.ts'
import { CELLS, STOP, type StopsReaderData } from './reader-stalls-cells.ts'

const GRANTS = Number(process.argv[2] ?? 1_000_000)
const ENDING_TOGETHER = Math.min(100_000, GRANTS)
const USERS = Math.ceil(GRANTS / 10)
const PART = 1_000
/** Number of grants that the service expires in one step (`threads/indexes/index-expiry.ts`). */
const AT_ONCE = 128
const NOW = Date.UTC(2030, 0, 1)
const HOUR_MS = 3_600_000
const BYTES_MAX = 32
const STOP_MAX_MS = 5
const ALL_MAX_MS = 1_000

const grant = (n: number): Change =>
  assignment(`user-${n % USERS}`, 'viewer', 'document', `doc-${Math.floor(n / USERS) + (n % USERS)}`)
/** The first grants expire within one second, and the other grants within 90 days. */
const expiresAtOf = (n: number): number =>
  n < ENDING_TOGETHER ? NOW + (n % 1_000) : NOW + HOUR_MS + ((n * 7_919) % (2_160 * HOUR_MS))
const question = (n: number): Query => ({
  user: `user-${n % USERS}`,
  action: 'read',
  type: 'document',
  key: `doc-${Math.floor(n / USERS) + (n % USERS)}`,
  tenant: null,
})

function* things(): Iterable<Change> {
  yield { kind: 'tenant-put', tenant: 'default', attributes: null }
  yield { kind: 'type-put', type: 'document', actions: ['read'] }
  const permissions = [{ type: 'document', action: 'read' }]
  yield { kind: 'role-put', type: 'document', role: 'viewer', permissions, extends: [], derivations: [] }
  for (let n = 0; n < USERS; n++) yield userPut(`user-${n}`)
  for (let n = 0; n < USERS + 10; n++) yield instancePut('document', `doc-${n}`)
}

function* grants(isExpiring: boolean): Iterable<Change> {
  for (let n = 0; n < GRANTS; n++) {
    const put = grant(n)
    yield isExpiring && put.kind === 'assignment-put' ? { ...put, expiresAt: expiresAtOf(n) } : put
  }
}

function load(isExpiring: boolean) {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 3, multiplier: 0x2545f491 } })
  const from = performance.now()
  for (const changes of [things(), grants(isExpiring)]) {
    let part: Change[] = []
    for (const change of changes) {
      if (part.push(change) < PART) continue
      writer.apply(part)
      part = []
    }
    writer.apply(part)
  }
  if (isExpiring) while (writer.wakeAt <= NOW - 1) writer.expireDue(NOW - 1, AT_ONCE)
  return { writer, loadMs: performance.now() - from, bytes: writer.bytes().graph }
}

const lasting = load(false)
const { writer, loadMs, bytes } = load(true)
const { handle } = writer
for (const _ of warmUpWriter());
const own = new SharedIndexReader(handle, { threadId: 3 })
const allowed = (from: number, to: number): number => {
  let count = 0
  for (let n = from; n < to; n++) if (own.evaluate(question(n))) count += 1
  return count
}
if (allowed(0, GRANTS) !== GRANTS) throw new Error('not all grants allow before their end')

const cells = new Int32Array(new SharedArrayBuffer(64))
const longest = new Float64Array(new SharedArrayBuffer(2 * 8 * 8))
const questions = Array.from({ length: 50_000 }, (_, n) => question(GRANTS - 1 - n))
const workerData: StopsReaderData = { handle, questions, cells, longest }
const worker = new Worker(new URL('./reader-stalls-reader.ts', import.meta.url), { workerData })
worker.on('error', error => {
  throw error
})
while (Atomics.load(cells, CELLS.checks) === 0) await new Promise(resolve => setTimeout(resolve, 50))
Atomics.store(cells, CELLS.window, 1)
await new Promise(resolve => setTimeout(resolve, 100))
longest.fill(0)

const from = performance.now()
const cpu = process.threadCpuUsage()
let ended = 0
while (writer.wakeAt <= NOW + 1_000) {
  ended += writer.expireDue(NOW + 1_000, AT_ONCE).length
  // The bench yields to the event loop between two critical sections, as the service does.
  await new Promise(resolve => setImmediate(resolve))
}
const endMs = performance.now() - from
const endCpuMs = (process.threadCpuUsage(cpu).user + process.threadCpuUsage(cpu).system) / 1_000
const [stop, stopWork] = [longest[2]!, longest[3]!]
Atomics.store(cells, CELLS.window, STOP)
if (ended !== ENDING_TOGETHER) throw new Error(`${ended} grants were said to end, of ${ENDING_TOGETHER}`)
if (allowed(0, ENDING_TOGETHER) !== 0) throw new Error('a grant allows behind its end')
if (allowed(ENDING_TOGETHER, GRANTS) !== GRANTS - ENDING_TOGETHER) throw new Error('a grant ended too early')

publish(
  'ends',
  [
    atMost('an end in memory', (bytes - lasting.bytes) / GRANTS, BYTES_MAX, 'bytes'),
    atMost('load with ends, of that without', loadMs / lasting.loadMs, 2, 'x'),
    atMost(`${ENDING_TOGETHER} that end together`, endMs, ALL_MAX_MS, 'ms'),
    atMost('the longest stop of a reader meanwhile', stopWork, STOP_MAX_MS, 'ms'),
  ],
  { grants: GRANTS, loadMs, lastingLoadMs: lasting.loadMs, endMs, endCpuMs, stop, stopWork },
)
