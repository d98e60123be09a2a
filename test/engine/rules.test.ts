/** Decisions by rules (conditions.md 1.5, 4 and 6), by every engine and the oracle. */
import { describe, expect, test } from 'vitest'
import type { Attributes, Change, ConditionSetPut, RuleChange } from '#model/change.ts'
import { type Path, readPath } from '#conditions/values/paths.ts'
import { ValuesOfQuestion } from '#conditions/question-values.ts'
import { STEPS_MAX } from '#conditions/values/evaluation-budget.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import type { QueryContext, Query, SentAttributes } from '#model/decision.ts'
import {
  assignInTenant,
  conditionSet as set,
  instance,
  removed,
  resourceType,
  role,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { ENGINES } from './engines.ts'
import { JUDGES } from './world.ts'
import { TextQuestion } from '#model/question.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

const READ_AT = Date.UTC(2026, 10, 26, 9, 30)

function resourceSet(key: string, conditions: object, more: Partial<ConditionSetPut> = {}): ConditionSetPut {
  return set(key, conditions, { side: 'resource', ...more })
}

function rule(userSet: string, resources = '__autogen_document', action = 'read', type = 'document') {
  return { kind: 'rule-put', userSet, type, action, resourceSet: resources } as const satisfies Change &
    RuleChange
}

const known = (key: string, attributes: Attributes): Change => ({ kind: 'user-put', user: key, attributes })
const document = (key: string, attributes: Attributes, inTenant = 'default'): Change => ({
  ...instance(`document:${key}`, inTenant),
  attributes,
})

const standing: readonly Change[] = [
  resourceType('document', 'read', 'write'),
  resourceType('folder', 'read'),
  tenantRole('member'),
  role('document', 'viewer', { can: ['read'] }),
  tenant('default'),
  tenant('other'),
  ...['alice', 'bob'].map(user),
  instance('document:plan'),
]

const ALICE_READS = { user: 'alice', action: 'read', type: 'document', key: 'plan', tenant: null }

function queryContext(sent: Partial<SentAttributes>): QueryContext {
  return {
    readAt: READ_AT,
    sent: () => ({ user: null, resource: null, tenant: null, context: null, ...sent }),
  }
}

describe.each(JUDGES)('$name', ({ newJudge }) => {
  const judge = (...changes: readonly Change[]) => {
    const engine = newJudge()
    engine.apply(standing)
    engine.apply(changes)
    const reads = (name: string, more: Partial<Query> = {}): boolean =>
      engine.evaluate({ user: name, action: 'read', type: 'document', key: 'plan', tenant: null, ...more })
    return { engine, reads }
  }

  test('a rule allows only if both its user set and its resource set match', () => {
    const { reads } = judge(
      known('alice', { department: 'sales' }),
      known('bob', { department: 'law' }),
      document('plan', { public: true }),
      document('secret', { public: false }),
      set('sales', { 'user.department': { equals: 'sales' } }),
      resourceSet('public', { 'resource.public': { equals: true } }),
      rule('sales', 'public'),
    )
    expect(reads('alice')).toBe(true)
    expect(reads('bob')).toBe(false)
    expect(reads('alice', { key: 'secret' })).toBe(false)
    expect(reads('alice', { action: 'write' })).toBe(false)
    expect(reads('alice', { action: 'no such' })).toBe(false)
    // An instance that is not stored has no attributes.
    expect(reads('alice', { key: 'none' })).toBe(false)
  })

  test('request attributes have precedence over stored attributes, and objects are merged', () => {
    const { reads } = judge(
      known('alice', { home: { city: 'Bern', zip: '3000' }, level: 1 }),
      set('here', { 'user.home.city': { equals: 'Basel' }, 'user.home.zip': { equals: '3000' } }),
      rule('here'),
    )
    expect(reads('alice')).toBe(false)
    const sent = { user: { home: { city: 'Basel' } } }
    expect(reads('alice', { queryContext: queryContext(sent) })).toBe(true)
    expect(reads('alice', { queryContext: queryContext({ user: { home: null } }) })).toBe(false)
    // A user that is not stored has only the attributes of the request.
    expect(reads('nobody', { queryContext: queryContext(sent) })).toBe(false)
    expect(
      reads('nobody', { queryContext: queryContext({ user: { home: { city: 'Basel', zip: '3000' } } }) }),
    ).toBe(true)
  })

  test('stored or request attributes cannot override computed attributes', () => {
    const forged = { key: 'root', roles: ['member'], tenants: ['default', 'other'] }
    const { reads } = judge(
      known('alice', forged),
      document('plan', { type: 'folder', tenant: 'other', key: 'other' }),
      set('root', {
        anyOf: [{ 'user.key': { equals: 'root' } }, { 'user.roles': { array_contains: 'member' } }],
      }),
      set('everywhere', { 'user.tenants': { array_len_greater_than: 0 } }),
      resourceSet('elsewhere', {
        anyOf: [{ 'resource.type': { equals: 'folder' } }, { 'resource.tenant': { equals: 'other' } }],
      }),
      set('all', {}),
      rule('root'),
      rule('everywhere'),
      rule('all', 'elsewhere'),
    )
    const sent = queryContext({ user: forged, resource: { type: 'folder', tenant: 'other' } })
    expect([reads('alice'), reads('alice', { queryContext: sent })]).toEqual([false, false])
  })

  test('roles, tenants and tenant attributes are available only for users with a tenant role in the tenant', () => {
    const { reads, engine } = judge(
      { kind: 'tenant-put', tenant: 'default', attributes: { plan: 'gold' } },
      set('members', { 'user.roles': { array_contains: 'member' } }),
      set('here', { 'user.tenants': { array_contains: { ref: 'tenant.key' } } }),
      set('gold', { 'tenant.plan': { equals: 'gold' } }),
      rule('members', '__autogen_document', 'read'),
      rule('gold', '__autogen_document', 'write'),
      rule('here', '__autogen_folder', 'read', 'folder'),
    )
    const all = () => [
      reads('alice'),
      reads('alice', { action: 'write' }),
      reads('alice', { type: 'folder', key: null }),
    ]
    expect(all()).toEqual([false, false, false])
    engine.apply([assignInTenant('alice', 'member', 'other')])
    expect(all()).toEqual([false, false, false])
    engine.apply([assignInTenant('alice', 'member', 'default')])
    expect(all()).toEqual([true, true, true])
    engine.apply([removed(tenantRole('member'))])
    expect(all()).toEqual([false, false, false])
  })

  test('a role can take the place of a user set, and a type that of a resource set', () => {
    const { reads, engine } = judge(assignInTenant('alice', 'member', 'default'), rule('__autogen_member'))
    expect([reads('alice'), reads('bob'), reads('alice', { key: null })]).toEqual([true, false, true])
    expect(reads('alice', { tenant: 'other', key: null })).toBe(false)
    engine.apply([removed(rule('__autogen_member'))])
    expect(reads('alice')).toBe(false)
  })

  test('a set matches only if all its ancestors match, and only resources of its type', () => {
    const { reads } = judge(
      known('alice', { a: 1, b: 2 }),
      known('bob', { b: 2 }),
      set('top', { 'user.a': { equals: 1 } }),
      set('low', { 'user.b': { equals: 2 } }, { parent: 'top' }),
      resourceSet('folders', {}, { type: 'folder' }),
      rule('low'),
      // The set has another type, so the rule is ignored.
      rule('low', 'folders', 'write'),
    )
    expect([reads('alice'), reads('bob')]).toEqual([true, false])
    expect(reads('alice', { action: 'write' })).toBe(false)
  })

  test('rules deny in a tenant that is not stored, and in a tenant other than that of the instance', () => {
    const { reads, engine } = judge(set('all', {}), rule('all'))
    expect([
      reads('alice'),
      reads('alice', { tenant: 'other' }),
      reads('alice', { tenant: 'none', key: null }),
    ]).toEqual([true, false, false])
    engine.apply([{ kind: 'tenant-removed', tenant: 'default' }])
    expect(reads('alice')).toBe(false)
  })

  test('the service sets the time of a check, and conditions on a missing time are unknown', () => {
    const { reads } = judge(
      set('hours', { 'server.time': { between: ['2026-11-26T09:00:00Z', '2026-11-26T17:00:00Z'] } }),
      rule('hours'),
    )
    const sent = { user: { time: '2026-11-26T10:00:00Z' } }
    expect(reads('alice')).toBe(false)
    expect(reads('alice', { queryContext: queryContext(sent) })).toBe(true)
    const late = { ...queryContext(sent), readAt: READ_AT + 24 * 3_600_000 }
    expect(reads('alice', { queryContext: late })).toBe(false)
  })

  test('instances are looked up by the keys in attributes, only in the tenant of the check', () => {
    const match = { open: { equals: true } }
    const { reads } = judge(
      known('alice', { folders: ['f1'] }),
      known('bob', { folders: ['f2', 'f3'] }),
      { ...instance('folder:f1'), attributes: { open: true } },
      { ...instance('folder:f2', 'other'), attributes: { open: true } },
      instance('folder:f3'),
      set('open', { 'user.folders': { any_match: { match, fk_resource_type: 'folder' } } }),
      rule('open'),
    )
    expect([reads('alice'), reads('bob')]).toEqual([true, false])
  })

  test('sets and rules are deleted with the entities they reference, and are not restored with them', () => {
    const rules: readonly Change[] = [
      set('all', {}),
      set('below', {}, { parent: 'all' }),
      resourceSet('documents', {}, { type: 'document' }),
    ]
    const removals: readonly (readonly [Change, Change, RuleChange & Change])[] = [
      [removed(set('all', {})), set('all', {}), rule('all')],
      [removed(set('all', {})), set('all', {}), rule('below')],
      [
        removed(resourceSet('documents', {})),
        resourceSet('documents', {}, { type: 'document' }),
        rule('all', 'documents'),
      ],
      [removed(resourceType('document')), resourceType('document', 'read'), rule('all')],
      [resourceType('document', 'write'), resourceType('document', 'read'), rule('all')],
      [removed(tenantRole('member')), tenantRole('member'), rule('__autogen_member')],
    ]
    for (const [removal, again, ruled] of removals) {
      const { reads, engine } = judge(...rules, assignInTenant('alice', 'member', 'default'), ruled)
      expect(reads('alice', { key: null })).toBe(true)
      engine.apply([removal])
      engine.apply([again, assignInTenant('alice', 'member', 'default')])
      expect(reads('alice', { key: null })).toBe(false)
    }
  })
})

test.each(ENGINES)(
  '$name explains a rule with the first decisive test and the value that it found',
  ({ newEngine }) => {
    const engine = newEngine()
    engine.apply([
      ...standing,
      known('alice', { department: 'sales', level: 1 }),
      set('sales', {
        allOf: [{ 'user.department': { equals: 'sales' } }, { 'user.level': { 'greater-than': 2 } }],
      }),
      resourceSet('public', { 'resource.public': { equals: true } }),
      rule('sales', 'public'),
      rule('__autogen_member'),
    ])
    const why = (name: string, sent?: Partial<SentAttributes>) =>
      runAtOnce(
        engine.explain(
          { ...ALICE_READS, user: name, ...(sent && { queryContext: queryContext(sent) }) },
          1_000,
        ),
      )
    const missing = { operator: 'equals', found: 'missing', value: 'unknown' }
    expect(why('alice')).toMatchObject({
      allow: false,
      rules: {
        allow: false,
        hasMore: false,
        rules: [
          {
            userSet: 'sales',
            resourceSet: 'public',
            allows: false,
            user: { value: 'false', leaf: { path: 'user.level', operand: 2, found: 1, value: 'false' } },
            resource: { value: 'unknown', leaf: { path: 'resource.public', ...missing } },
          },
          {
            userSet: '__autogen_member',
            resourceSet: '__autogen_document',
            allows: false,
            user: { value: 'false', leaf: null },
            resource: { value: 'true', leaf: null },
          },
        ],
      },
    })
    expect(why('bob').rules.rules[0]!.user.leaf).toMatchObject({ path: 'user.department', ...missing })
    expect(why('alice', { user: { level: 3 }, resource: { public: true } })).toMatchObject({
      allow: true,
      path: [],
      rules: { allow: true, rules: [{ userSet: 'sales', allows: true }, {}] },
    })
  },
)

test('an attribute with several sources is merged once per check, and request attributes are not read for the time', () => {
  let looked = 0
  const values = new ValuesOfQuestion(
    {
      user: 'alice',
      type: 'document',
      key: null,
      tenant: 'default',
      queryContext: {
        readAt: READ_AT,
        sent: () => {
          looked++
          return { user: { home: { city: 'Bern' } }, resource: null, tenant: null, context: null }
        },
      },
    },
    {
      userRoles: () => [],
      userTenants: () => [],
      userAttributes: () => ({ home: { zip: '3000' } }),
      instanceAttributes: () => null,
      tenantAttributes: () => null,
      attributesOf: () => undefined,
    },
  )
  expect(values.valueOf(readPath('server.time') as Path)).toBe('2026-11-26T09:30:00.000Z')
  expect(looked).toBe(0)
  const home = values.valueOf(readPath('user.home') as Path)
  expect(home).toEqual({ city: 'Bern', zip: '3000' })
  expect(values.valueOf(readPath('user.home') as Path)).toBe(home)
  expect(looked).toBe(1)
})

test.each(JUDGES)('$name accepts a user from an older release without attributes', ({ newJudge }) => {
  const engine = newJudge()
  engine.apply([...standing, set('unknown', { 'user.level': { exists: false } }), rule('unknown')])
  // Format in the log of a node that is not upgraded. Two users are needed for the commit to be prepared.
  const older = JSON.parse(
    '[{"kind":"user-put","user":"carol"},{"kind":"user-put","user":"alice"}]',
  ) as Change[]
  engine.apply(older)
  const query = { action: 'read', type: 'document', key: 'plan', tenant: null }
  expect(['alice', 'carol'].map(each => engine.evaluate({ ...query, user: each }))).toEqual([true, true])
})

/** An index with 120 rules, of which Alice matches one. */
function withManyRules(): SharedEngine {
  const engine = new SharedEngine()
  const sets = Array.from({ length: 120 }, (_, n) => set(`level-${n}`, { 'user.level': { equals: n } }))
  engine.apply([...standing, known('alice', { level: 110 }), ...sets, ...sets.map(each => rule(each.set))])
  return engine
}

test('the shared index explains at most 100 rules, beginning with rules that allow, and sets `hasMore` if there are more', () => {
  const engine = withManyRules()
  const query = ALICE_READS
  const { allow, rules } = runAtOnce(engine.explain(query, 1_000))
  expect([allow, rules.rules.length, rules.hasMore, rules.rules[0]!.userSet]).toEqual([
    true,
    100,
    true,
    'level-110',
  ])
})

test('an explanation in slices is not affected by checks between the slices', () => {
  const engine = withManyRules()
  engine.apply([
    known('bob', { level: 7 }),
    // A rule with a role instead of a user set is evaluated last.
    assignInTenant('alice', 'member', 'default'),
    rule('__autogen_member'),
  ])
  const query = ALICE_READS
  const atOnce = runAtOnce(engine.explain(query, 1_000))
  const explaining = engine.explain(query, 1_000)
  let slices = 0
  for (;;) {
    const step = explaining.next()
    if (step.done) {
      expect(step.value).toEqual(atOnce)
      break
    }
    slices += 1
    engine.evaluate({ ...query, user: 'bob' })
    if (slices % 32 === 1) runAtOnce(engine.explain({ ...query, user: 'bob' }, 1_000))
  }
  expect(slices).toBeGreaterThan(10)
  expect(atOnce.rules.userSets).toEqual(['level-110', '__autogen_member'])
})

test.each(ENGINES)('$name does not decide by roles alone while rules exist', ({ newEngine }) => {
  const engine = newEngine()
  engine.apply([...standing, set('everybody', { 'user.banned': { exists: false } }), rule('everybody')])
  const question = TextQuestion.single(ALICE_READS)
  const verdicts = engine.evaluateAll(question)
  expect([...verdicts]).toEqual([1])
  expect(engine.evaluateWithoutRules(question, verdicts)).toBe(false)
  expect([...engine.evaluateAll(question)]).toEqual([1])
  engine.apply([removed(rule('everybody'))])
  expect(engine.evaluateWithoutRules(question, verdicts)).toBe(true)
  expect([...verdicts]).toEqual([0])
})

test.each(ENGINES)(
  '$name uses the tenant roles of each user in each tenant in one bulk check',
  ({ newEngine }) => {
    const engine = newEngine()
    engine.apply([
      ...standing,
      tenantRole('clerk'),
      assignInTenant('alice', 'member', 'default'),
      assignInTenant('bob', 'clerk', 'other'),
      assignInTenant('alice', 'clerk', 'other'),
      set('at_home', { 'user.tenants': { array_contains: { ref: 'tenant.key' } } }),
      set('members', { 'user.roles': { array_contains: 'member' } }),
      rule('at_home'),
      rule('members', '__autogen_document', 'write'),
      rule('__autogen_clerk', '__autogen_folder', 'read', 'folder'),
    ])
    const cases = (
      [
        ['alice', 'read', 'document', 'default', true],
        ['bob', 'read', 'document', 'default', false],
        ['bob', 'read', 'document', 'other', true],
        ['alice', 'read', 'document', 'other', true],
        ['alice', 'write', 'document', 'default', true],
        ['alice', 'write', 'document', 'other', false],
        ['bob', 'write', 'document', 'other', false],
        ['alice', 'read', 'folder', 'default', false],
        ['alice', 'read', 'folder', 'other', true],
        ['bob', 'read', 'folder', 'default', false],
      ] as const
    ).map(([name, action, type, inTenant, isAllowed]) => {
      return { query: { user: name, action, type, key: null, tenant: inTenant }, isAllowed }
    })
    const queries = cases.map(({ query }) => query)
    expect(evaluateAll(engine, queries)).toEqual(cases.map(({ isAllowed }) => isAllowed))
    expect(queries.map(query => engine.evaluate(query))).toEqual(cases.map(({ isAllowed }) => isAllowed))
  },
)

test('an explanation has the result of the check, even if its condition trees need more steps than a check', () => {
  const engine = new SharedEngine()
  const listed = 10_000
  const sets = Array.from({ length: Math.ceil(STEPS_MAX / listed) + 2 }, (_, number) => `s${number}`)
  engine.apply(standing)
  engine.apply(
    sets.map((key, number) =>
      set(key, { 'user.n': { in: Array.from({ length: listed }, (_, at) => number * listed + at) } }),
    ),
  )
  engine.apply(sets.map(key => rule(key)))
  const query = {
    ...ALICE_READS,
    queryContext: queryContext({ user: { n: sets.length * listed - 1 } }),
  }
  expect(engine.evaluate(query)).toBe(true)
  expect(runAtOnce(engine.explain(query, 1_000, 'none')).allow).toBe(true)
})
