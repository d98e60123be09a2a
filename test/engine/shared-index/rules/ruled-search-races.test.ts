/** Searches with rules while posting lists are built or deleted, rules change, and an index is restored. */
import { expect, test, vi } from 'vitest'
import { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { LISTS_MAX, listOfAttribute, readyList } from '#engine/shared-index/attribute-index/list-directory.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { CandidateFinder } from '#engine/shared-index/ruled-search/candidates.ts'
import type { Attributes, Change } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import {
  assign,
  assignInTenant,
  conditionSet,
  removed,
  role,
  ruleOf,
  tenantRole,
} from '#testing/engines/changes.ts'
import { searchResources, searchUsers } from '#testing/engines/listed.ts'
import { COLLIDING, ListingEngine, restoredWriter, SharedEngine } from '#testing/engines/shared-engine.ts'

const STANDING: readonly Change[] = [
  { kind: 'type-put', type: 'document', actions: ['read'] },
  { kind: 'type-put', type: 'team', actions: [] },
  { kind: 'tenant-put', tenant: 'default', attributes: null },
  { kind: 'user-put', user: 'ann', attributes: { team: 't' } },
]
const asked = { user: 'ann', action: 'read', type: 'document', tenant: 'default' }
const ALL = { after: null, limit: 100 }

const OF_RESOURCES = { side: 'resource' } as const

function put(key: string, attributes: Attributes | null = null, type = 'document'): Change {
  return { kind: 'instance-put', instance: { type, key }, tenant: 'default', attributes }
}

function buildAll(engine: SharedEngine): void {
  while (engine.writer.buildLists(1_000));
}

test('a restored index builds its posting lists from its content', () => {
  const engine = new SharedEngine()
  const owned = { 'resource.owner': { 'equals-ref': 'user.key' } }
  engine.apply([...STANDING, put('d', { owner: 'ann' }), put('e', { owner: 'bob' })])
  engine.apply([conditionSet('all', {}), conditionSet('owned', owned, OF_RESOURCES), ruleOf('all', 'owned')])
  while (engine.writer.collect(1_000));
  engine.writer = restoredWriter(engine.writer.save()!)
  engine.reader = new SharedIndexReader(engine.writer.handle, { threadId: 2 })
  expect(searchResources(engine, asked, ALL).keys).toEqual(['d'])
  buildAll(engine)
  expect(searchResources(engine, asked, ALL).keys).toEqual(['d'])
})

test('a search applies all rules that share a user set with a lookup', () => {
  const engine = new ListingEngine(Infinity)
  const led = {
    'user.team': { object_match: { fk_resource_type: 'team', match: { lead: { equals: 'x' } } } },
  }
  engine.apply([
    ...STANDING,
    put('t', { lead: 'x' }, 'team'),
    put('d1', { color: 'red' }),
    put('d2', { color: 'blue' }),
  ])
  engine.apply([
    conditionSet('led', led),
    conditionSet('red', { 'resource.color': { equals: 'red' } }, OF_RESOURCES),
    conditionSet('blue', { 'resource.color': { equals: 'blue' } }, OF_RESOURCES),
    ruleOf('led', 'red'),
    ruleOf('led', 'blue'),
  ])
  expect(searchResources(engine, asked, ALL).keys).toEqual(['d1', 'd2'])
})

test('a search finds users with keys in any script in an attribute of the resource', () => {
  const engine = new ListingEngine(Infinity)
  const editors = ['ann', '#aé', '鍵', '😀']
  const listed = { 'resource.editors': { array_contains: { ref: 'user.key' } } }
  engine.apply([
    ...STANDING,
    ...editors.map((user): Change => ({ kind: 'user-put', user, attributes: null })),
  ])
  engine.apply([
    put('d', { editors }),
    conditionSet('all', {}),
    conditionSet('listed', listed, OF_RESOURCES),
    ruleOf('all', 'listed'),
  ])
  const question = { action: 'read', type: 'document', key: 'd', tenant: null }
  expect(searchUsers(engine, question, ALL).keys).toEqual(editors.toSorted(compareUtf8))
})

test('deleting a tenant while a posting list is built removes no entries of other tenants', () => {
  const documents = Array.from({ length: 10 }, (_, n) => `d${n}`)
  // Colliding keys are in one partition. The tenant is deleted after each step of the scans for three lists.
  for (let steps = 0; steps < 3 * 300; steps += 1) {
    const engine = new SharedEngine({ secrets: COLLIDING })
    engine.apply([...STANDING, { kind: 'tenant-put', tenant: 'gone', attributes: null }])
    engine.apply([
      ...documents.map(key => put(key)),
      conditionSet('all', {}),
      conditionSet('any', {}, OF_RESOURCES),
      ruleOf('all', 'any'),
    ])
    for (let step = 0; step < steps; step += 1) engine.writer.buildLists(1)
    engine.apply([
      { kind: 'tenant-removed', tenant: 'gone' },
      { kind: 'user-put', user: 'new', attributes: null },
    ])
    buildAll(engine)
    expect([steps, searchResources(engine, asked, ALL).keys]).toEqual([steps, documents])
  }
})

test('a page contains the resources that roles allow even if the last rule is deleted while the page is read', () => {
  const engine = new ListingEngine(Infinity)
  engine.apply([
    ...STANDING,
    put('d'),
    role('document', 'reader', { can: ['read'] }),
    assign('ann', 'reader', 'document:d'),
    conditionSet('all', {}),
    conditionSet('any', {}, OF_RESOURCES),
    ruleOf('all', 'any'),
  ])
  const find = CandidateFinder.prototype.find
  for (const call of [1, 2, 3]) {
    let calls = 0
    const spy = vi.spyOn(CandidateFinder.prototype, 'find').mockImplementation(function (
      this: CandidateFinder,
      ...given
    ) {
      calls += 1
      if (calls === call) engine.apply([removed(ruleOf('all', 'any'))])
      return find.apply(this, given)
    })
    const { keys, hasMore } = searchResources(engine, asked, ALL)
    spy.mockRestore()
    expect({ call, keys, hasMore }).toEqual({ call, keys: ['d'], hasMore: false })
    engine.apply([ruleOf('all', 'any')])
  }
})

test('a page that tries all candidates ends even if some candidates are deleted in the meantime', () => {
  const engine = new SharedEngine()
  const keys = Array.from({ length: 400 }, (_, n) => `d${1_000 + n}`)
  engine.apply([...STANDING, ...keys.map((key, n) => put(key, { n }))])
  engine.apply([
    conditionSet('all', {}),
    conditionSet('none', { 'resource.n': { 'greater-than': 1_000 } }, OF_RESOURCES),
    ruleOf('all', 'none'),
  ])
  const page = engine.searchResources(asked, { after: null, limit: 100, triedMax: 200 })
  let turns = 0
  for (; turns < 1_000; turns += 1) {
    if (turns === 2) {
      engine.apply(
        keys
          .slice(190, 195)
          .map((key): Change => ({ kind: 'instance-removed', instance: { type: 'document', key } })),
      )
    }
    if (page.next().done === true) break
  }
  expect(turns).toBeLessThan(1_000)
})

test('posting lists for which there was no slot are built when other lists are deleted', () => {
  const engine = new SharedEngine()
  const names = (prefix: string) => Array.from({ length: LISTS_MAX - 3 }, (_, n) => `${prefix}${n}`)
  const sets = [...names('a'), ...names('b')].map(name =>
    conditionSet(name, { [`user.${name}`]: { equals: 1 } }),
  )
  const rules = (prefix: string) => names(prefix).map(name => ruleOf(name, '__autogen_document'))
  engine.apply([...STANDING, ...sets, ...rules('a')])
  buildAll(engine)
  engine.apply([...rules('a').map(removed), ...rules('b')])
  buildAll(engine)
  const { lists } = Regions.attach(engine.writer.handle)
  const ready = names('b').filter(name => readyList(lists, L.USER_TYPE, listOfAttribute(name)) !== 0)
  expect(ready).toEqual(names('b'))
})

test('unreadable request attributes fail a search only if a rule needs them', () => {
  const engine = new ListingEngine(Infinity)
  engine.apply([
    ...STANDING,
    put('d', { owner: 'ann' }),
    conditionSet('all', {}),
    conditionSet('any', {}, OF_RESOURCES),
    ruleOf('all', 'any'),
  ])
  const refused = new AuthzError('LIMIT_EXCEEDED', 'too long')
  const queryContext = {
    readAt: 0,
    sent: () => {
      throw refused
    },
  }
  const search = () => searchResources(engine, { ...asked, queryContext }, ALL).keys
  expect(search()).toEqual(['d'])
  engine.apply([conditionSet('any', { 'resource.owner': { 'equals-ref': 'user.key' } }, OF_RESOURCES)])
  expect(search).toThrow(refused)
})

test.each([
  ['resources', (engine: SharedEngine) => searchResources(engine, asked, ALL).keys, 'd'],
  ['users', (engine: SharedEngine) => searchUsers(engine, { ...asked, key: 'd' }, ALL).keys, 'ann'],
  [
    'actions',
    (engine: SharedEngine) => runAtOnce(engine.reader.searchActions({ ...asked, key: 'd' })),
    'read',
  ],
] as const)(
  'a search for %s finds a result that a role allows before a commit and a rule after it, or the reverse',
  (_, search, found) => {
    const byRole = [tenantRole('viewer', { can: ['document:read'] }), removed(ruleOf('all'))]
    const byRule = [tenantRole('viewer'), ruleOf('all')]
    for (const [before, after] of [
      [byRole, byRule],
      [byRule, byRole],
    ] as const) {
      for (const read of [1, 2, 3, 4]) {
        const engine = SharedEngine.with([...STANDING, put('d'), conditionSet('all', {}), ...byRule])
        engine.apply([assignInTenant('ann', 'viewer', 'default'), ...before])
        const { begin } = ConsistentReads.prototype
        let count = 0
        const spy = vi.spyOn(ConsistentReads.prototype, 'begin').mockImplementation(function (
          this: ConsistentReads,
        ) {
          count += 1
          if (count === read) engine.apply(after)
          begin.call(this)
        })
        try {
          expect(search(engine), `a commit before read ${read}`).toEqual([found])
        } finally {
          spy.mockRestore()
        }
      }
    }
  },
)
