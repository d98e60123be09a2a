/** Searches with rules find the same results with posting lists, by keys, and by trying all candidates. */
import { describe, expect, test, vi } from 'vitest'
import { ruleOf } from '#testing/engines/changes.ts'
import type { Engine } from '#engine/engine.ts'
import { CandidateFinder } from '#engine/shared-index/ruled-search/candidates.ts'
import type { Change } from '#model/change.ts'
import { withoutAttributes } from '#model/decision.ts'
import { type Page, searchResources, searchUsers } from '#testing/engines/listed.ts'
import { ListingEngine, SharedEngine } from '#testing/engines/shared-engine.ts'

type Conditions = Readonly<Record<string, unknown>>

/** 30 documents in two tenants. Three users alternate as `owner`, and every tenth document is public. */
const DOCUMENTS = Array.from({ length: 30 }, (_, n) => ({
  key: `d${String(n).padStart(2, '0')}`,
  tenant: n % 2 === 0 ? 'acme' : 'beta',
  attributes: {
    owner: ['ann', 'bob', 'eve'][n % 3]!,
    tags: [n % 2 === 0 ? 'even' : 'odd', n],
    level: n,
    ...(n % 10 === 0 && { isPublic: true }),
  },
}))
const USERS = ['ann', 'bob', 'eve', 'ian', 'joe'].map((key, n) => ({
  key,
  attributes: { team: n < 2 ? 'red' : 'blue', tags: ['odd'], best: `d0${n}`, many: ['ann', 'eve'] },
}))

const STANDING: readonly Change[] = [
  { kind: 'type-put', type: 'document', actions: ['read'] },
  { kind: 'type-put', type: 'folder', actions: ['read'] },
  ...['default', 'acme', 'beta'].map((tenant): Change => ({ kind: 'tenant-put', tenant, attributes: null })),
  ...USERS.map(({ key, attributes }): Change => ({ kind: 'user-put', user: key, attributes })),
  ...DOCUMENTS.map(({ key, tenant, attributes }): Change => {
    return { kind: 'instance-put', instance: { type: 'document', key }, tenant, attributes }
  }),
  // An instance of another type with the same values, which searches must not find.
  {
    kind: 'instance-put',
    instance: { type: 'folder', key: 'f' },
    tenant: 'acme',
    attributes: { owner: 'ann' },
  },
]

const ENGINES: readonly (readonly [string, () => Engine])[] = [
  ['the shared index', () => new SharedEngine()],
  ['the shared index with posting lists', () => new ListingEngine(Infinity)],
]

function ruled(engine: Engine, sets: { readonly user?: Conditions; readonly resource?: Conditions }): void {
  const put = (side: 'user' | 'resource', conditions: Conditions): Change => {
    return { kind: 'condition-set-put', set: `of ${side}`, side, type: null, parent: null, conditions }
  }
  engine.apply([
    ...STANDING,
    put('user', sets.user ?? {}),
    put('resource', sets.resource ?? {}),
    ruleOf('of user', 'of resource'),
  ])
}

function documents(isIt: (document: (typeof DOCUMENTS)[number], n: number) => boolean): string[] {
  return DOCUMENTS.filter(isIt).map(({ key }) => key)
}

const asked = { action: 'read', type: 'document', tenant: null }
const ALL: Page = { after: null, limit: 100 }

/** `by` counts the posting lists and the keys that the search uses. If null, it tries all candidates. */
const RESOURCES: readonly {
  readonly name: string
  readonly user?: Conditions
  readonly resource: Conditions
  readonly found: readonly string[]
  readonly by: readonly [ranges: number, keys: number] | null
}[] = [
  {
    name: 'an attribute that equals the key of the user',
    resource: { 'resource.owner': { 'equals-ref': 'user.key' } },
    found: documents((_, n) => n % 3 === 0),
    by: [1, 0],
  },
  {
    name: 'an attribute that equals the key of the user, reversed',
    resource: { 'user.key': { equals: { ref: 'resource.owner' } } },
    found: documents((_, n) => n % 3 === 0),
    by: [1, 0],
  },
  {
    name: 'an attribute that equals a constant',
    resource: { 'resource.isPublic': { equals: true } },
    found: ['d00', 'd10', 'd20'],
    by: [1, 0],
  },
  {
    name: 'an attribute that equals one of several constants',
    resource: { 'resource.owner': { in: ['bob', 'eve', 'nobody'] } },
    found: documents((_, n) => n % 3 !== 0),
    by: [3, 0],
  },
  {
    name: 'an attribute that is an element of a list of the user',
    resource: { 'resource.owner': { in: { ref: 'user.many' } } },
    found: documents((_, n) => n % 3 !== 1),
    by: [2, 0],
  },
  {
    name: 'a list that contains a constant',
    resource: { 'resource.tags': { array_contains: 7 } },
    found: ['d07'],
    by: [1, 0],
  },
  {
    name: 'the key itself',
    resource: { 'resource.key': { 'equals-ref': 'user.best' } },
    found: ['d00'],
    by: [0, 1],
  },
  {
    name: 'the most selective of several conditions',
    resource: {
      allOf: [{ 'resource.tags': { array_contains: 'even' } }, { 'resource.isPublic': { equals: true } }],
    },
    found: ['d00', 'd10', 'd20'],
    by: [1, 0],
  },
  {
    name: 'any of several conditions',
    resource: {
      anyOf: [{ 'resource.tags': { array_contains: 7 } }, { 'resource.isPublic': { equals: true } }],
    },
    found: ['d00', 'd07', 'd10', 'd20'],
    by: [2, 0],
  },
  {
    name: 'a condition with and one without a posting list',
    resource: { 'resource.owner': { 'equals-ref': 'user.key' }, 'resource.level': { 'less-than': 10 } },
    found: ['d00', 'd03', 'd06', 'd09'],
    by: [1, 0],
  },
  {
    name: 'a condition without a posting list',
    resource: { 'resource.level': { 'less-than': 3 } },
    found: ['d00', 'd01', 'd02'],
    by: null,
  },
  {
    name: 'any of two conditions, one of them without a posting list',
    resource: {
      anyOf: [{ 'resource.isPublic': { equals: true } }, { 'resource.level': { 'less-than': 3 } }],
    },
    found: ['d00', 'd01', 'd02', 'd10', 'd20'],
    by: null,
  },
  {
    name: 'a user condition that does not match',
    user: { 'user.team': { equals: 'blue' } },
    resource: {},
    found: [],
    by: [0, 0],
  },
  {
    name: 'an attribute that the user does not have',
    resource: { 'resource.owner': { 'equals-ref': 'user.nothing' } },
    found: [],
    by: [0, 0],
  },
]

/** Runs the work and returns the sources of candidates that the engine used for it. */
function spied<Answer>(work: () => Answer): { readonly answer: Answer; readonly by: unknown[] } {
  const spy = vi.spyOn(CandidateFinder.prototype, 'find')
  try {
    const answer = work()
    const by = spy.mock.results.map(({ value }) => {
      if (value === 'all') return null
      if (value === 'nobody') return [0, 0]
      // For each attribute, one more list contains the entities whose values are not indexed.
      const { ranges, keys } = value as Exclude<ReturnType<CandidateFinder['find']>, string>
      return [ranges.length - new Set(ranges.map(({ name }) => name)).size, keys.length]
    })
    return { answer, by }
  } finally {
    spy.mockRestore()
  }
}

describe.each(ENGINES)('%s', (name, newEngine) => {
  test.each(RESOURCES)('finds resources by $name', ({ user, resource, found, by }) => {
    const engine = newEngine()
    ruled(engine, { ...(user && { user }), resource })
    const search = (page: Page) => searchResources(engine, { ...asked, user: 'ann' }, page)
    const { answer, by: foundBy } = spied(() => search(ALL))
    expect(answer).toEqual({ keys: found, hasMore: false, last: answer.last, total: null })
    if (name.endsWith('posting lists'))
      expect(new Set(foundBy.map(each => JSON.stringify(each)))).toEqual(new Set([JSON.stringify(by)]))
    expect(search({ ...ALL, after: found[0] ?? null }).keys).toEqual(found.slice(1))
    const inTenant = searchResources(engine, { ...asked, user: 'ann', tenant: 'beta' }, ALL).keys
    expect(inTenant).toEqual(found.filter(key => Number(key.slice(1)) % 2 === 1))
  })

  test.each([
    [
      'an attribute that equals a constant',
      { user: { 'user.team': { equals: 'red' } } },
      ['ann', 'bob'],
      [1, 0],
    ],
    [
      'the key in an attribute of the resource',
      { resource: { 'resource.owner': { 'equals-ref': 'user.key' } } },
      ['bob'],
      [0, 1],
    ],
    [
      'a list that contains a constant',
      { user: { 'user.tags': { array_contains: 'odd' } } },
      USERS.map(({ key }) => key),
      [1, 0],
    ],
    [
      'an element of a list of the resource',
      { resource: { 'user.team': { in: { ref: 'resource.tags' } } } },
      [],
      [2, 0],
    ],
    [
      'a resource condition that does not match',
      { resource: { 'resource.isPublic': { equals: true } } },
      [],
      [0, 0],
    ],
    [
      'a condition without a posting list',
      { user: { 'user.team': { match: 'b*' } } },
      ['eve', 'ian', 'joe'],
      null,
    ],
  ] as const)('finds users by %s', (_, sets, found, by) => {
    const engine = newEngine()
    ruled(engine, sets)
    const { answer, by: foundBy } = spied(() => searchUsers(engine, { ...asked, key: 'd01' }, ALL))
    expect(answer).toMatchObject({ keys: found, hasMore: false, total: null })
    if (name.endsWith('posting lists'))
      expect(new Set(foundBy.map(each => JSON.stringify(each)))).toEqual(new Set([JSON.stringify(by)]))
  })

  test('a search uses user attributes and context of the request, and its resource attributes for each candidate', () => {
    const engine = newEngine()
    ruled(engine, {
      user: { 'user.team': { equals: 'green' }, 'context.day': { equals: 1 } },
      resource: { 'resource.owner': { equals: 'zoe' } },
    })
    const sent = { user: { team: 'green' }, resource: null, tenant: null, context: { day: 1 } }
    const search = (attributes: typeof sent | object) => {
      const queryContext = { readAt: 0, sent: () => ({ ...sent, ...attributes }) }
      return searchResources(engine, { ...asked, user: 'nobody', queryContext }, ALL).keys
    }
    expect(search({})).toEqual([])
    expect(search({ resource: { owner: 'zoe' } })).toEqual(DOCUMENTS.map(({ key }) => key))
    expect(search({ resource: { owner: 'zoe' }, context: null })).toEqual([])
    const bare = { ...asked, user: 'ann', queryContext: withoutAttributes(0) }
    expect(searchResources(engine, bare, ALL).keys).toEqual([])
  })

  test('a page ends at its limit of tried candidates, and the next page continues after the last one', () => {
    const engine = newEngine()
    ruled(engine, { resource: { 'resource.level': { 'greater-than': 25 } } })
    const pages: unknown[] = []
    let tried = 0
    for (let after: string | null = null, hasMore = true; hasMore;) {
      const page = searchResources(engine, { ...asked, user: 'ann' }, { after, limit: 3, triedMax: 10 })
      pages.push(page.keys)
      ;({ last: after, hasMore } = page)
      tried += 1
    }
    expect(pages.flat()).toEqual(['d26', 'd27', 'd28', 'd29'])
    expect(tried).toBeGreaterThan(3)
  })
})
