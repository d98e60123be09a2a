/** A full index rejects commits before anything is changed, and removals free space. */
import { describe, expect, test } from 'vitest'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { find } from '#engine/shared-index/memory/string-table.ts'
import type { Change } from '#model/change.ts'
import {
  assign,
  assignInTenant,
  DOCUMENTS,
  FOLDERS,
  heldBy,
  instance,
  link,
  relation,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { SECRETS, SharedEngine } from '#testing/engines/shared-engine.ts'
import { Random } from '#testing/data/random.ts'
import { World } from '../world.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

const FULL = expect.objectContaining({ code: 'LIMIT_EXCEEDED' })
const ACTIONS = ['open', 'read']
const SCHEMA: Change[] = [
  ...FOLDERS,
  ...DOCUMENTS,
  tenant('acme'),
  tenantRole('reader', { can: ['document:read', 'folder:open'] }),
  tenantRole('writer', { can: ['document:read'] }),
]

function anyCommit(below: (limit: number) => number, names: number): Change[] {
  const folder = () => `folder:f${below(names)}`
  const document = () => `document:${below(5) === 0 ? 'long-key-'.repeat(8) : 'd'}${below(4 * names)}`
  const anybody = () => `u${below(2 * names)}`
  const note = () => (below(4) === 0 ? { note: 'x'.repeat(below(400)) } : null)
  const end = () => (below(2) === 0 ? { expiresAt: 1 + below(1_000) } : {})
  const puts: (() => Change)[] = [
    () => user(anybody()),
    () => ({ ...instance(folder(), below(9) === 0 ? 'acme' : 'default'), attributes: note() }),
    () => ({ ...instance(document(), below(9) === 0 ? 'acme' : 'default'), attributes: note() }),
    () => ({ ...assign(anybody(), 'viewer', below(2) === 0 ? folder() : document()), ...end() }),
    () => ({
      ...assignInTenant(anybody(), below(2) === 0 ? 'reader' : 'writer', below(2) === 0 ? 'default' : 'acme'),
      ...end(),
    }),
    () => ({ ...link(folder(), 'parent', below(2) === 0 ? folder() : document()), ...end() }),
    () => ({ ...tenant('acme'), attributes: note() }),
  ]
  const removals = below(4) === 0 ? 0.9 : 0.1
  return Array.from({ length: 1 + below(60) }, () => {
    const put = puts[below(puts.length)]!()
    return below(100) < removals * 100 ? removed(put) : put
  })
}

describe.each([1, 2, 3, 4])('a small index with random commits and removals, seed %i', seed => {
  test('rejects whole commits, decides correctly and accepts commits again when space is free', () => {
    const random = new Random(seed)
    const below = (limit: number): number => random.below(limit)
    const engine = new SharedEngine({ graphBytesMax: 1 << 17, firstTenantRoleIndex: 2_047 })
    const judge = new SharedEngine()
    for (const each of [engine, judge]) each.apply(SCHEMA)
    const { handle } = engine.writer
    let refusals = 0
    let taken = 0
    for (let round = 0; round < 300; round++) {
      const commit = anyCommit(below, 150)
      const before = [new Uint8Array(handle.header).slice(), new Uint8Array(handle.graph).slice()]
      try {
        engine.apply(commit)
        judge.apply(commit)
        taken += 1
      } catch (error) {
        expect(error).toEqual(FULL)
        // A rejected commit can have grown the graph, but must not have changed its content.
        expect(new Uint8Array(handle.graph).subarray(0, before[1]!.length)).toEqual(before[1])
        refusals += 1
      }
      if (below(3) === 0) engine.writer.collect(1 + below(30))
      if (below(60) === 0) {
        const all = Array.from({ length: 600 }, (_, n) => removed(instance(`document:d${n}`)))
        for (const each of [engine, judge]) each.apply(all)
      }
      const questions = Array.from({ length: 20 }, () => {
        const type = below(2) === 0 ? 'folder' : 'document'
        const key = type === 'folder' ? `f${below(150)}` : `d${below(600)}`
        return {
          user: `u${below(300)}`,
          action: ACTIONS[type === 'folder' ? 0 : 1]!,
          type,
          key,
          tenant: null,
        }
      })
      expect(evaluateAll(engine, questions)).toEqual(evaluateAll(judge, questions))
    }
    expect(refusals).toBeGreaterThan(5)
    expect(taken).toBeGreaterThan(100)
  })
})

describe('space reserved for pending commits', () => {
  const bulk = (prefix: string): Change[] => Array.from({ length: 1_000 }, (_, n) => user(`${prefix}${n}`))

  test('is sufficient for all accepted commits in any order, and can be released', () => {
    const engine = new SharedEngine({ graphBytesMax: 1 << 20 })
    engine.apply(SCHEMA)
    const accepted: { readonly changes: Change[]; readonly giveBack: () => void }[] = []
    const accept = (prefix: string): void => {
      const changes = bulk(prefix)
      accepted.push({ changes, giveBack: engine.writer.reserveCapacity(changes) })
    }
    expect(() => {
      for (let n = 0; n < 100; n++) accept(`u${n}-`)
    }).toThrow(FULL)
    expect(accepted.length).toBeGreaterThan(1)
    for (const { changes, giveBack } of accepted.toReversed()) {
      engine.apply(changes)
      giveBack()
    }
    const fill = (changes: Change[]): void => {
      engine.writer.reserveCapacity(changes)()
      engine.apply(changes)
    }
    expect(() => {
      for (let n = 0; n < 100; n++) fill(bulk(`v${n}-`))
    }).toThrow(FULL)
    // Removals are accepted even if the index is full.
    const gone = accepted[0]!.changes.map(removed)
    engine.writer.reserveCapacity(gone)()
    engine.apply(gone)
    while (engine.writer.collect(100));
    fill(accepted[0]!.changes)
  })

  test('is released if the commit fails', () => {
    const engine = new SharedEngine({ graphBytesMax: 1 << 20 })
    for (let n = 0; n < 100; n++) engine.writer.reserveCapacity(bulk('u'))()
  })
})

test('a commit that would exceed the maximum number of entries of a slab is rejected', () => {
  const engine = new SharedEngine({ graphBytesMax: 1 << 20 })
  engine.apply([
    ...SCHEMA,
    user('alice'),
    user('bob'),
    instance('document:d'),
    assign('alice', 'viewer', 'document:d'),
  ])
  const regions = Regions.attach(engine.writer.handle)
  const key = new Key(SECRETS.start, SECRETS.multiplier)
  expect(key.read('alice', L.USER_TYPE)).toBe(true)
  const meta = (find(regions, key, L.USER_TYPE) << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS + 1
  // The slab is marked as if it had 134 million roles, which would take half of the largest graph.
  regions.graph[meta] = ((L.ENTRIES_MAX << L.COUNT_SHIFT) | 28) >>> 0
  expect(() => engine.writer.reserveCapacity([assignInTenant('alice', 'reader', 'default')])).toThrow(FULL)
  engine.writer.reserveCapacity([assignInTenant('bob', 'reader', 'default')])()
})

test('a load that exceeds the capacity is rejected, and another engine of the same size is not affected', () => {
  const engine = new SharedEngine({ graphBytesMax: 1 << 18 })
  const world = new World(engine, ...SCHEMA, user('alice'))
  const load = (): void => engine.writer.apply(Array.from({ length: 5_000 }, (_, n) => user(`u${n}`)))
  expect(load).toThrow(FULL)
  world.apply(instance('document:d'), assign('alice', 'viewer', 'document:d'))
  expect(world.can('alice', 'read', 'document:d')).toBe(true)
})

describe('checks whose closure does not fit', () => {
  const levels = Array.from({ length: 8 }, (_, n) => `l${n}`)
  const layered: Change[] = [
    tenant('default'),
    resourceType('folder', ...levels),
    resourceType('document', ...levels),
    relation('folder', 'parent', 'folder'),
    relation('document', 'parent', 'folder'),
    ...['folder', 'document'].flatMap(type =>
      levels.map(level =>
        role(type, level, { can: [level], from: [heldBy({ role: level, on: 'folder', over: 'parent' })] }),
      ),
    ),
  ]

  function expectSameAnswers(
    engine: SharedEngine,
    changes: readonly Change[],
    keys: readonly string[],
  ): void {
    const judge = SharedEngine.with(changes)
    const questions = keys.flatMap(key =>
      ['alice', 'bob'].flatMap(name =>
        levels.map(action => ({ user: name, action, type: 'document', key, tenant: null })),
      ),
    )
    const expected = evaluateAll(judge, questions)
    expect(evaluateAll(engine, questions)).toEqual(expected)
    expect(questions.map(question => engine.evaluate(question))).toEqual(expected)
    expect(new Set(expected).size).toBe(2)
  }

  test('are correct if there is no space for the closure head in a full graph', () => {
    const engine = new SharedEngine({ graphBytesMax: 1 << 17 })
    const folders = Array.from({ length: 100 }, (_, n) => n)
    const changes: Change[] = [
      ...layered,
      user('alice'),
      user('bob'),
      ...folders.flatMap(n => [
        instance(`folder:f${n}`),
        instance(`document:d${n}`),
        link(`folder:f${n}`, 'parent', `document:d${n}`),
        assign(n % 2 === 0 ? 'alice' : 'bob', levels[n % levels.length]!, `folder:f${n}`),
      ]),
    ]
    for (let from = 0; from < changes.length; from += 50) engine.apply(changes.slice(from, from + 50))
    const fill = (count: number): void => {
      for (let n = 0; n < 10_000; n++)
        engine.apply(Array.from({ length: count }, (_, m) => user(`${count}-${n}-${m}`)))
    }
    for (const count of [20, 1]) expect(() => fill(count)).toThrow(FULL)
    const header = new Int32Array(engine.writer.handle.header)
    expectSameAnswers(
      engine,
      changes,
      folders.map(n => `d${n}`),
    )
    const left = engine.writer.handle.graph.maxByteLength / L.WORD_BYTES - header[L.H_GRAPH_TOP]!
    expect(left).toBeLessThan(L.OPEN_BEHIND_TOP + L.LINE_WORDS * 2)
  })

  test('are correct if the closure is longer than the closure region', () => {
    const engine = new SharedEngine({ closureBytesMax: 1 << 13 })
    const folders = Array.from({ length: 400 }, (_, n) => n)
    const changes: Change[] = [
      ...layered,
      user('alice'),
      user('bob'),
      user('carol'),
      instance('folder:all'),
      instance('document:d'),
      link('folder:all', 'parent', 'document:d'),
      ...folders.flatMap(n => [
        instance(`folder:f${n}`),
        link(`folder:f${n}`, 'parent', 'folder:all'),
        assign('carol', 'l0', `folder:f${n}`),
      ]),
      assign('alice', 'l3', 'folder:f7'),
    ]
    engine.apply(changes)
    expectSameAnswers(engine, changes, ['d'])
  })
})
