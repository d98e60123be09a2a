/** A large index moves to its full address space before it is read, and then grows under its readers. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  CLOSURE_WORDS_AHEAD,
  firstLineAt,
  LARGE_GRAPH_BYTES,
  Regions,
} from '#engine/shared-index/memory/index-buffers.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { assign, instance, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { instanceRolesOf, searchResources } from '#testing/engines/listed.ts'
import { SECRETS, SharedEngine, restoredWriter } from '#testing/engines/shared-engine.ts'

const HUGE_PAGES = '/sys/kernel/mm/transparent_hugepage/enabled'
/** With two lines per user, the graph is large enough to be moved. */
const USERS = Math.ceil(LARGE_GRAPH_BYTES / 128)
const PART = 10_000
const schema: Change[] = [
  tenant('default'),
  resourceType('document', 'read'),
  role('document', 'viewer', { can: ['read'] }),
  instance('document:plan'),
]

function* users(from: number, to: number): Iterable<Change> {
  for (let n = from; n < to; n++) yield user(`u${n}`)
}

function loaded(count: number): SharedIndexWriter {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
  writer.apply(schema)
  for (let from = 0; from < count; from += PART) writer.apply(users(from, Math.min(from + PART, count)))
  return writer
}

function mayRead(reader: SharedIndexReader, name: string): boolean {
  return reader.evaluate({ user: name, action: 'read', type: 'document', key: 'plan', tenant: null })
}

test('a small index reserves only the address space that it can grow into', () => {
  expect(loaded(1_000).handle.graph.growable).toBe(true)
})

test('a large index is moved as a whole before readers attach, and then grows under an attached reader', () => {
  const writer = loaded(USERS)
  const { handle } = writer
  expect(handle.graph.growable).toBe(false)
  expect(handle.graph.byteLength).toBeGreaterThanOrEqual(2 ** 32)
  const opened = writer.bytes()
  expect(opened.graph).toBeLessThan(2 * LARGE_GRAPH_BYTES)

  const reader = new SharedIndexReader(handle, { threadId: 2 })
  writer.apply([assign('u0', 'viewer', 'document:plan')])
  expect([mayRead(reader, 'u0'), mayRead(reader, 'u1')]).toEqual([true, false])

  writer.apply([...users(USERS, 2 * USERS)])
  const last = `u${2 * USERS - 1}`
  writer.apply([assign(last, 'viewer', 'document:plan')])
  expect([mayRead(reader, last), mayRead(reader, 'u1')]).toEqual([true, false])
  expect(writer.bytes().graph).toBeGreaterThan(opened.graph)
  expect(writer.handle.graph).toBe(handle.graph)
})

test('an index that was loaded in one commit is copied to large buffers with its closures before readers attach', () => {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
  writer.apply([...schema, ...users(0, USERS), assign('u7', 'viewer', 'document:plan')])
  while (writer.precompute(100_000));
  expect(mayRead(new SharedIndexReader(writer.handle, { threadId: 2 }), 'u7')).toBe(true)
  expect(writer.handle.graph.growable).toBe(false)
})

test('a large index can be restored and grows', () => {
  const before = loaded(USERS)
  before.apply([assign('u7', 'viewer', 'document:plan')])
  while (before.collect(1_000) || before.precompute(100_000));
  const writer = restoredWriter(before.save()!)
  const reader = new SharedIndexReader(writer.handle, { threadId: 2 })
  expect(writer.handle.graph.growable).toBe(false)
  expect([mayRead(reader, 'u7'), mayRead(reader, 'u8')]).toEqual([true, false])
  writer.apply([...users(USERS, 2 * USERS), assign('u8', 'viewer', 'document:plan')])
  expect(mayRead(reader, 'u8')).toBe(true)
})

test('a moved index keeps its texts, and later attributes do not change adjacent records', () => {
  const document = (key: string, value: number) => ({
    ...instance(`document:${key}`),
    attributes: { value, text: 'x'.repeat(value) },
  })
  const engine = new SharedEngine()
  engine.writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
  const before = Array.from({ length: 50 }, (_, n) => `before${n}`)
  engine.apply([...schema, ...before.map(document), ...users(0, USERS)])
  engine.reader = new SharedIndexReader(engine.writer.handle, { threadId: 2 })
  expect(engine.writer.handle.graph.growable).toBe(false)
  // In the graph, the attributes of a record follow the record, and the next record follows the attributes.
  const after = Array.from({ length: 50 }, (_, n) => `after${n}`)
  for (const [n, key] of after.entries()) engine.apply([document(key, n)])
  engine.apply([...before, ...after].map(key => assign('u7', 'viewer', `document:${key}`)))

  const anywhere = { tenants: null, types: null, accepts: null }
  const listed = instanceRolesOf(engine, 'u7', anywhere, 1_000)
  expect(new Map(listed.map(({ instance: { key }, attributes }) => [key, attributes]))).toEqual(
    new Map([...before.entries(), ...after.entries()].map(([n, key]) => [key, document(key, n).attributes])),
  )
  const question = { user: 'u7', action: 'read', type: 'document', tenant: null }
  const { keys } = searchResources(engine, question, { after: null, limit: 1_000 })
  expect(keys).toEqual([...before, ...after].toSorted())
  for (const key of keys) expect(engine.evaluate({ ...question, key }), key).toBe(true)
})

test('no page is first touched in a critical section, neither in the first commit after a load nor later', () => {
  const count = 5 * PART
  const pages = (count * 2 * 64) / 4_096
  // The least number of page faults in the first commit after a load and in the next commit. Faults of the
  // garbage collector and of other threads are counted as well, but not in every attempt.
  const least = [Infinity, Infinity]
  for (let attempt = 0; attempt < 5 && Math.max(...least) >= pages / 2; attempt += 1) {
    const writer = loaded(USERS)
    for (const [index, fewest] of least.entries()) {
      const from = USERS + index * count
      const faults = faultsInSections(writer, () => writer.apply([...users(from, from + count)]))
      least[index] = Math.min(fewest, faults)
    }
  }
  expect(Math.max(...least)).toBeLessThan(pages / 2)
})

/** Page faults of the process while `apply` is in a critical section of the writer. */
function faultsInSections(writer: SharedIndexWriter, apply: () => void): number {
  const header = new Int32Array(writer.handle.header)
  let [before, inSection] = [0, 0]
  const { add } = Atomics
  const watchedAdd = (array: Int32Array, index: number, value: number): number => {
    const isBegin = array.buffer === header.buffer && index === L.H_SEQUENCE && (header[index]! & 1) === 0
    const isEnd = array.buffer === header.buffer && index === L.H_SEQUENCE && !isBegin
    const { minorPageFault } = process.resourceUsage()
    if (isBegin) before = minorPageFault
    if (isEnd) inSection += minorPageFault - before
    return add(array, index, value)
  }
  Object.assign(Atomics, { add: watchedAdd })
  try {
    apply()
  } finally {
    Object.assign(Atomics, { add })
  }
  return inSection
}

test('closures built after a load are written to prefaulted pages', () => {
  const regions = Regions.restored(loaded(USERS).handle)
  regions.prefault(0)
  const top = regions.header[L.H_CLOSURE_TOP]!
  const { closures } = regions.handle
  const all = new Int32Array(closures, firstLineAt(closures))
  const before = process.resourceUsage().minorPageFault
  for (let word = top; word < top + CLOSURE_WORDS_AHEAD / 2; word += 1_024) all[word] = 0
  expect(process.resourceUsage().minorPageFault - before).toBeLessThan(CLOSURE_WORDS_AHEAD / 2 / 1_024 / 3)
})

/** Memory properties of a graph, reported by another process with these settings of the C library. */
function graphMemory(tunables: string): { isMarkedForHugePages: boolean; isOnLines: boolean } {
  const script = fileURLToPath(new URL('large-index-process.ts', import.meta.url))
  const said = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: { ...process.env, GLIBC_TUNABLES: tunables },
    encoding: 'utf8',
  })
  return JSON.parse(said) as ReturnType<typeof graphMemory>
}

test('the memory is marked for huge pages if the C library is configured to request them', () => {
  // If the kernel uses huge pages for all memory, or for none, the C library does not request them.
  const mode = existsSync(HUGE_PAGES) ? readFileSync(HUGE_PAGES, 'utf8') : ''
  expect(graphMemory('glibc.malloc.hugetlb=1').isMarkedForHugePages).toBe(mode.includes('[madvise]'))
  expect(graphMemory('').isMarkedForHugePages).toBe(false)
})

test('lines of the index are cache lines, so that reading a record costs one miss', () => {
  for (const tunables of ['glibc.malloc.hugetlb=1', '']) expect(graphMemory(tunables).isOnLines).toBe(true)
})
