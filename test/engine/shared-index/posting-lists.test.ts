/** Posting lists contain exactly the current entities, in order. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { keyText, newRecord } from '#engine/shared-index/memory/records.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { hashOfScalar, ValueWords } from '#engine/shared-index/memory/values.ts'
import { allocateZeroed } from '#engine/shared-index/memory/allocator.ts'
import {
  ALL,
  BY_TENANT,
  HASH_OF_ALL,
  HASH_OF_UNLISTED,
  LISTS_MAX,
  listOfAttribute,
  readyList,
  SLOT,
} from '#engine/shared-index/attribute-index/list-directory.ts'
import { estimate, insert, LIST, remove, take } from '#engine/shared-index/attribute-index/ordered-list.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Attributes, Change } from '#model/change.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { conditionSet, removed, ruleOf } from '#testing/engines/changes.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'
import { holdsFor } from '../../properties/seeded.ts'

const KEYS = Array.from({ length: 12 }, (_, n) => `k${n}`)
const TENANTS = ['acme', 'beta']
const TYPES = ['document', 'folder']
const VALUES: readonly unknown[] = [
  'a',
  'b',
  1,
  1.5,
  true,
  null,
  ['a', 'b'],
  ['a', 'a'],
  [],
  [1.5, 'b'],
  { a: 1 },
]

function condition(path: string): Change {
  const side = path.startsWith('user') ? 'user' : 'resource'
  return conditionSet(`by-${path}`, { [path]: { equals: 'a' } }, { side })
}

const userPut = (user: string, attributes: Attributes): Change => ({ kind: 'user-put', user, attributes })

function rule(type: string): Change {
  return { kind: 'rule-put', userSet: 'by-user.tag', type, action: 'read', resourceSet: 'by-resource.tag' }
}

const SCHEMA: Change[] = [
  ...TYPES.map((type): Change => ({ kind: 'type-put', type, actions: ['read'] })),
  ...TENANTS.map((tenant): Change => ({ kind: 'tenant-put', tenant, attributes: null })),
  condition('user.tag'),
  condition('resource.tag'),
]

/** A plain model of the entities that the lists must contain. */
class World {
  readonly users = new Map<string, Attributes | null>()
  readonly instances = new Map<
    string,
    {
      readonly type: string
      readonly key: string
      readonly tenant: string
      readonly attributes: Attributes | null
    }
  >()
  readonly types = new Set(TYPES)
  readonly tenants = new Set(TENANTS)

  apply(change: Change): void {
    switch (change.kind) {
      case 'user-put':
        this.users.set(change.user, change.attributes ?? null)
        return
      case 'user-removed':
        this.users.delete(change.user)
        return
      case 'instance-put': {
        const { type, key } = change.instance
        if (!this.types.has(type) || !this.tenants.has(change.tenant)) return
        this.instances.set(`${type} ${key}`, {
          type,
          key,
          tenant: change.tenant,
          attributes: change.attributes,
        })
        return
      }
      case 'instance-removed':
        this.instances.delete(`${change.instance.type} ${change.instance.key}`)
        return
      case 'tenant-put':
        this.tenants.add(change.tenant)
        return
      case 'tenant-removed':
        this.tenants.delete(change.tenant)
        for (const [name, { tenant }] of this.instances)
          if (tenant === change.tenant) this.instances.delete(name)
        return
      default:
    }
  }
}

class Listed {
  readonly writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
  readonly world = new World()
  readonly #regions: Regions
  readonly #key = new Key(SECRETS.start, SECRETS.multiplier)

  constructor() {
    this.writer.apply(SCHEMA)
    this.#regions = Regions.attach(this.writer.handle)
  }

  apply(changes: Change[]): void {
    this.writer.apply(changes)
    for (const change of changes) this.world.apply(change)
  }

  build(): void {
    while (this.writer.buildLists(1_000));
  }

  /** Keys in a list, in its order; null if the list cannot be read. */
  keys(type: string | null, name: string, hash: number): string[] | null {
    const regions = this.#regions
    regions.refresh()
    regions.lists.refresh()
    const id = type === null ? L.USER_TYPE : 1 + TYPES.indexOf(type)
    const slot = readyList(regions.lists, id, name)
    if (slot === 0) return null
    const lines = new NumberList()
    const list = { memory: regions.lists, at: slot + SLOT.chunks, graph: regions.graph }
    expect(take(list, { hash, after: null, limit: 10_000 }, lines)).toBe(true)
    const keys = Array.from(lines.items.subarray(0, lines.length), line => keyText(regions.graph, line))
    for (const [at, key] of keys.entries()) {
      this.#key.read(key, 0)
      const rest = new NumberList()
      take(list, { hash, after: this.#key, limit: 10_000 }, rest)
      expect(rest.length).toBe(keys.length - at - 1)
    }
    return keys
  }

  /** Expects that all lists match the model. Instances of a removed tenant can remain until collection. */
  expectRight(): void {
    const { users, instances } = this.world
    const sorted = (keys: string[]): string[] => keys.toSorted(compareUtf8)
    expect(this.keys(null, ALL, HASH_OF_ALL)).toEqual(sorted([...users.keys()]))
    const tagged = (of: Iterable<readonly [string, Attributes | null]>, value: unknown): string[] =>
      sorted([...of].filter(([, attributes]) => hasTag(attributes, value)).map(([key]) => key))
    for (const value of ['a', 'b', 1, 1.5, true, null]) {
      expect(this.keys(null, listOfAttribute('tag'), hashOf(value))).toEqual(tagged(users, value))
    }
    for (const type of TYPES) {
      const ofType = [...instances.values()].filter(instance => instance.type === type)
      expect(this.keys(type, ALL, HASH_OF_ALL)).toEqual(sorted(ofType.map(({ key }) => key)))
      for (const value of ['a', 'b', 1, 1.5, true, null]) {
        const pairs = ofType.map(({ key, attributes }) => [key, attributes] as const)
        expect(this.keys(type, listOfAttribute('tag'), hashOf(value))).toEqual(tagged(pairs, value))
      }
    }
  }
}

function hasTag(attributes: Attributes | null, value: unknown): boolean {
  const tag = attributes?.['tag']
  return tag === value || (Array.isArray(tag) && tag.includes(value))
}

function hashOf(value: unknown): number {
  const words = new ValueWords()
  const head = words.scalar(value)
  return hashOfScalar(head, words.words, 0)
}

const attributes = fc.oneof(
  fc.constant(null),
  fc.record({ tag: fc.constantFrom(...VALUES) }),
  fc.record({ tag: fc.constantFrom(...VALUES), other: fc.constantFrom('a', 2) }),
)
const user = fc.constantFrom(...KEYS)
const instance = fc.record({ type: fc.constantFrom(...TYPES), key: fc.constantFrom(...KEYS) })
const tenant = fc.constantFrom(...TENANTS)
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('user-put' as const), user, attributes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('user-removed' as const), user }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('instance-put' as const), instance, tenant, attributes }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('instance-removed' as const), instance }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tenant-removed' as const), tenant }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('tenant-put' as const), tenant, attributes: fc.constant(null) }),
  },
)

test('posting lists match the entities after changes before, during and after their construction', () => {
  const step = fc.record({
    changes: fc.array(change, { maxLength: 12 }),
    work: fc.constantFrom(0, 0, 40, 300),
  })
  const history = fc.tuple(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat({ max: 11 }))
  holdsFor(history, 150, ([steps, ruledAt]) => {
    const listed = new Listed()
    for (const [index, { changes, work }] of steps.entries()) {
      if (index === ruledAt % steps.length) listed.apply(TYPES.map(rule))
      listed.apply(changes)
      listed.writer.buildLists(work)
    }
    while (listed.writer.collect(1_000));
    listed.build()
    listed.expectRight()
    listed.apply(KEYS.slice(0, 6).map(key => userPut(key, { tag: ['a', 'b'] })))
    listed.apply(KEYS.slice(3, 9).map((key): Change => ({ kind: 'user-removed', user: key })))
    listed.expectRight()
  })
})

test('instances are listed by their tenant', () => {
  const listed = new Listed()
  listed.apply(TYPES.map(rule))
  const put = (key: string, of: string): Change => ({
    kind: 'instance-put',
    instance: { type: 'document', key },
    tenant: of,
    attributes: null,
  })
  listed.apply([put('a', 'acme'), put('b', 'beta'), put('c', 'acme')])
  listed.build()
  const regions = Regions.attach(listed.writer.handle)
  const lineOf = (key: string): number => {
    const lines = new NumberList()
    const at = readyList(regions.lists, 1, ALL) + SLOT.chunks
    take({ memory: regions.lists, at, graph: regions.graph }, { hash: 0, after: null, limit: 9 }, lines)
    const line = [...lines.items.subarray(0, lines.length)].find(
      each => keyText(regions.graph, each) === key,
    )!
    return regions.graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT]!
  }
  const acme = lineOf('a')
  const beta = lineOf('b')
  expect(listed.keys('document', BY_TENANT, acme)).toEqual(['a', 'c'])
  listed.apply([put('c', 'beta')])
  expect(listed.keys('document', BY_TENANT, acme)).toEqual(['a'])
  expect(listed.keys('document', BY_TENANT, beta)).toEqual(['b', 'c'])
})

test('entities with too many elements for a posting list are candidates for every value', () => {
  const listed = new Listed()
  listed.apply(TYPES.map(rule))
  const tags = (count: number) => ({ tag: Array.from({ length: count }, (_, n) => `t${n}`) })
  listed.apply([userPut('below', tags(63)), userPut('at', tags(64)), userPut('above', tags(65))])
  listed.build()
  const name = listOfAttribute('tag')
  expect(listed.keys(null, name, hashOf('t62'))).toEqual(['at', 'below'])
  expect(listed.keys(null, name, hashOf('t63'))).toEqual(['at'])
  expect(listed.keys(null, name, HASH_OF_UNLISTED)).toEqual(['above'])
})

test('posting lists are deleted with the last rule that needs them, and their memory is reused', () => {
  const listed = new Listed()
  listed.apply(KEYS.map(key => userPut(key, { tag: key })))
  const regions = Regions.attach(listed.writer.handle)
  const tops: number[] = []
  for (let round = 0; round < 3; round++) {
    listed.apply(TYPES.map(rule))
    listed.build()
    expect(listed.keys(null, ALL, HASH_OF_ALL)).toHaveLength(KEYS.length)
    listed.apply(TYPES.map(type => removed(rule(type))))
    listed.build()
    expect(listed.keys(null, ALL, HASH_OF_ALL)).toBeNull()
    tops.push(regions.lists.header[L.H_GRAPH_TOP]!)
  }
  expect(tops[2]).toBe(tops[1])
})

test('attributes beyond the maximum number of posting lists have no list', () => {
  const listed = new Listed()
  const names = Array.from({ length: LISTS_MAX }, (_, n) => `user.n${n}`)
  listed.apply([
    userPut('u', { n0: 'a' }),
    ...names.map(condition),
    ...names.map(name => ruleOf(`by-${name}`)),
  ])
  listed.build()
  // Three of the slots are for lists without an attribute.
  expect(listed.keys(null, listOfAttribute('n0'), hashOf('a'))).toEqual(['u'])
  expect(listed.keys(null, listOfAttribute(`n${LISTS_MAX - 4}`), 0)).toEqual([])
  expect(listed.keys(null, listOfAttribute(`n${LISTS_MAX - 3}`), 0)).toBeNull()
})

test('posting lists for which there is no space are deleted, and all entities remain in the index', () => {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS, listBytesMax: 1 << 16 })
  writer.apply([...SCHEMA, ...TYPES.map(rule)])
  const regions = Regions.attach(writer.handle)
  const users = (from: number): Change[] =>
    Array.from({ length: 500 }, (_, n) => userPut(`u${from + n}`, { tag: n }))
  writer.apply(users(0))
  while (writer.buildLists(1_000));
  regions.lists.refresh()
  expect(readyList(regions.lists, L.USER_TYPE, ALL)).not.toBe(0)
  for (let from = 500; from < 20_000; from += 500) writer.apply(users(from))
  while (writer.buildLists(1_000));
  regions.lists.refresh()
  expect(readyList(regions.lists, L.USER_TYPE, ALL)).toBe(0)
  expect(writer.figures().records).toBe(20_000 + TENANTS.length)
})

test('a posting list without space is built after another list is deleted', () => {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS, listBytesMax: 1 << 17 })
  const ruleBy = (path: string) => ruleOf(`by-${path}`)
  writer.apply([...SCHEMA, condition('user.many'), condition('user.late')])
  const users = Array.from({ length: 500 }, (_, n): Change => {
    const many = Array.from({ length: 20 }, (__, tag) => `t${n % 7}-${tag}`)
    return userPut(`u${n}`, { many, late: n })
  })
  writer.apply([...users, ruleBy('user.many'), ruleBy('user.late')])
  const regions = Regions.attach(writer.handle)
  const build = (): void => {
    while (writer.buildLists(1_000));
    regions.lists.refresh()
  }
  const isReady = (name: string): boolean =>
    readyList(regions.lists, L.USER_TYPE, listOfAttribute(name)) !== 0
  build()
  expect([isReady('many'), isReady('late')]).toEqual([true, false])
  writer.apply([removed(ruleBy('user.many'))])
  build()
  expect([isReady('many'), isReady('late')]).toEqual([false, true])
  // The next commit frees no space for the list, so its construction does not restart.
  writer.apply([ruleBy('user.many')])
  build()
  expect([isReady('many'), isReady('late')]).toEqual([false, true])
})

test('a posting list of thousands of entities stays in order during random changes', () => {
  const regions = Regions.create({ start: 3, multiplier: 5 })
  const key = new Key(3, 5)
  const memory = regions.lists
  const at = allocateZeroed(memory, 2)
  const entities = Array.from({ length: 3_000 }, (_, n) => {
    const name = `entity-${(n * 7_919) % 3_000}`
    key.read(name, 1)
    return { name, line: newRecord(regions, key, 1, 0), hashes: new Set<number>() }
  })
  const list = () => ({ memory, at, graph: regions.graph })
  const steps = fc.array(fc.tuple(fc.nat({ max: 2_999 }), fc.constantFrom(0, 1, -5, 7), fc.boolean()), {
    minLength: 3_000,
    maxLength: 6_000,
    size: 'max',
  })
  const rightFor = (hash: number): void => {
    const expected = entities
      .filter(({ hashes }) => hashes.has(hash))
      .map(({ name }) => name)
      .toSorted(compareUtf8)
    const lines = new NumberList()
    expect(take(list(), { hash, after: null, limit: 9_999 }, lines)).toBe(true)
    expect(Array.from(lines.items.subarray(0, lines.length), line => keyText(regions.graph, line))).toEqual(
      expected,
    )
    expect(Math.abs(estimate(list(), hash) - expected.length)).toBeLessThan(Math.max(300, expected.length))
    const middle = expected[expected.length >>> 1]
    if (middle === undefined) return
    key.read(middle, 0)
    const behind = new NumberList()
    take(list(), { hash, after: key, limit: 10 }, behind)
    expect(Array.from(behind.items.subarray(0, behind.length), line => keyText(regions.graph, line))).toEqual(
      expected.slice((expected.length >>> 1) + 1, (expected.length >>> 1) + 11),
    )
  }
  holdsFor(steps, 12, all => {
    for (const [entity, hash, isPut] of all) {
      const { line, hashes } = entities[entity]!
      if (isPut) {
        expect(insert(list(), hash, line)).toBe(true)
        hashes.add(hash)
      } else {
        remove(list(), hash, line)
        hashes.delete(hash)
      }
    }
    for (const hash of [0, 1, -5, 7]) rightFor(hash)
    const entries = entities.reduce((sum, { hashes }) => sum + hashes.size, 0)
    expect(memory.graph[at + LIST.entries]).toBe(entries)
  })
})
