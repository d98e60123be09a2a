/** Slots of the string table: their keys, and the line that a lookup needs next. */
import { expect, test } from 'vitest'
import { hashOf, Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { keyBytes, keyStart, keyText } from '#engine/shared-index/memory/records.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { find, hasTag, lineOf, partitionOf, slotCount } from '#engine/shared-index/memory/string-table.ts'
import {
  assign,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  user,
} from '#testing/engines/changes.ts'
import { COLLIDING, SECRETS, SharedEngine } from '#testing/engines/shared-engine.ts'

const FOLDERS = 40
const schema = [
  tenant('default'),
  resourceType('folder'),
  resourceType('document'),
  relation('document', 'parent', 'folder'),
]
const folderOf = (n: number): string => `folder:f${n % FOLDERS}`
const documentOf = (n: number): string => `document:${n % 7 === 0 ? 'long-'.repeat(20) : 'd'}${n}`
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

interface Slot {
  readonly line: number
  readonly next: number
  readonly isOfKey: boolean
}

/** All slots in use, by the key of their record. */
function slotsOf({ header, graph }: Regions): Map<string, Slot> {
  const slots = new Map<string, Slot>()
  for (let partition = 0; partition < L.PARTITION_COUNT; partition++) {
    const base = header[L.H_PARTITIONS + (partition << 1)]!
    for (let slot = base; slot < base + 2 * slotCount(header, partition); slot += 2) {
      const line = lineOf(graph[slot]!)
      if (line === 0) continue
      const record = line << L.LINE_WORDS_LOG2
      const key = { words: graph, from: keyStart(graph, record), bytes: keyBytes(graph, record) }
      const secrets = { start: header[L.H_HASH_START]!, multiplier: header[L.H_HASH_MULTIPLIER]! }
      const hash = hashOf(key, graph[record]! >>> L.TYPE_SHIFT, secrets)
      const isOfKey = hasTag(graph[slot]!, graph[slot + 1]!, hash) && partitionOf(hash) === partition
      slots.set(keyText(graph, line), { line, next: lineOf(graph[slot + 1]!), isOfKey })
    }
  }
  return slots
}

test.each([
  ['without collisions', SECRETS],
  ['that all collide', COLLIDING],
])('keys %s have one slot each, with the hash of the key, while tables grow and shrink', (_, secrets) => {
  const engine = new SharedEngine({ secrets })
  const documents = numbers(secrets === SECRETS ? 20_000 : 500).map(n => instance(documentOf(n)))
  engine.apply([...schema, ...documents])
  const all = slotsOf(Regions.attach(engine.writer.handle))
  expect(all.size).toBe(documents.length + 1)
  expect([...all.values()].every(({ isOfKey }) => isOfKey)).toBe(true)
  engine.apply(documents.filter((__, n) => n % 10 !== 0).map(removed))
  while (engine.writer.collect(100));
  const left = slotsOf(Regions.attach(engine.writer.handle))
  expect(left.size).toBe(documents.length / 10 + 1)
  expect([...left.values()].every(({ isOfKey }) => isOfKey)).toBe(true)
  for (const [key, { line }] of left) expect(line).toBe(all.get(key)!.line)
})

test('the slot of an instance has the line of its container if there is one in-edge, and otherwise the line of its in-edges', () => {
  const engine = new SharedEngine()
  const count = 3_000
  const documents = numbers(count)
  const folders = numbers(FOLDERS).map(n => instance(folderOf(n)))
  engine.apply([...schema, ...folders, ...documents.map(n => instance(documentOf(n)))])
  const links = documents.map(n =>
    numbers(n % 4).map(more => link(folderOf(n + more), 'parent', documentOf(n))),
  )
  const regions = Regions.attach(engine.writer.handle)
  const expectNext = (edgesOf: (n: number) => number): void => {
    regions.refresh()
    const { graph } = regions
    const slots = slotsOf(regions)
    const wordOf = (name: string, word: number): number =>
      graph[(slots.get(name.slice(name.indexOf(':') + 1))!.line << L.LINE_WORDS_LOG2) + word]!
    for (const n of documents) {
      const { next } = slots.get(documentOf(n).slice('document:'.length))!
      const isInline = (wordOf(documentOf(n), L.I_IN + 1) & L.LOG2_MASK) === L.INLINE
      if (edgesOf(n) === 0) expect(next).toBe(0)
      else if (isInline) expect(next).toBe(wordOf(folderOf(n), L.I_CONTAINER))
      else expect(next).toBe(wordOf(documentOf(n), L.I_IN) >>> L.LINE_WORDS_LOG2)
    }
  }
  engine.apply(links.flat())
  expectNext(n => n % 4)
  engine.apply(links.flatMap(([, ...others]) => others).map(removed))
  expectNext(n => Math.min(1, n % 4))
  engine.apply(links.flatMap(([first]) => first ?? []).map(removed))
  expectNext(() => 0)
})

test('the slot of a user has the first line of the role assignments of the user, even after they are moved', () => {
  const engine = new SharedEngine()
  const users = numbers(200)
  const folders = numbers(FOLDERS).map(n => instance(folderOf(n)))
  engine.apply([...schema, role('folder', 'viewer'), ...folders, ...users.map(n => user(`u${n}`))])
  const regions = Regions.attach(engine.writer.handle)
  const expectNext = (rolesOf: (n: number) => number): void => {
    regions.refresh()
    const { graph } = regions
    const slots = slotsOf(regions)
    for (const n of users) {
      const { line, next } = slots.get(`u${n}`)!
      const roles = graph[(line << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS]! >>> L.LINE_WORDS_LOG2
      expect(next).toBe(roles)
      expect(next === 0).toBe(rolesOf(n) === 0)
    }
  }
  const held = users.map(n => numbers(n % FOLDERS).map(f => assign(`u${n}`, 'viewer', folderOf(f))))
  for (const more of numbers(FOLDERS)) engine.apply(held.flatMap(all => all.slice(more, more + 1)))
  expectNext(n => n % FOLDERS)
  engine.apply(held.flatMap(all => all.slice(2)).map(removed))
  expectNext(n => Math.min(2, n % FOLDERS))
  engine.apply(held.flatMap(all => all.slice(0, 2)).map(removed))
  expectNext(() => 0)
})

test('a lookup reads each slot at most twice, even if the table is inconsistent', () => {
  const [base, slots, line] = [1_024, 256, 40]
  const key = new Key(SECRETS.start, SECRETS.multiplier)
  key.read('anything', 1)
  const header = new Int32Array(L.HEADER_WORDS)
  const partition = L.H_PARTITIONS + (partitionOf(key.hash) << 1)
  header[partition] = base
  header[partition + 1] = Math.log2(slots)
  // As in a block that was freed and reused, no slot is free, and one seems to have the tag of the key.
  const words = new Int32Array(base + 2 * slots).fill(line | (~key.hash << L.LINE_BITS), base)
  const tagBits = 32 - L.LINE_BITS
  words[base] = line | (key.hash << L.LINE_BITS)
  words[base + 1] = (key.hash >>> tagBits) << L.LINE_BITS
  let reads = 0
  const graph = new Proxy(words, {
    get: (target, word) => {
      reads++
      return target[Number(word)]
    },
  })
  expect(find({ header, graph } as unknown as Regions, key, 1)).toBe(0)
  expect(reads).toBeGreaterThan(slots)
  expect(reads).toBeLessThan(5 * slots)
})
