/** Compiled condition sets and rules: shared parts, attributes that checks read, and recompilation. */
import { describe, expect, test } from 'vitest'
import { hashOfScalar, ValueWords } from '#engine/shared-index/memory/values.ts'
import { LEAF, LOOKUP_WORDS, PLAN } from '#engine/shared-index/rules/rule-code.ts'
import type { PlanView, RulesView } from '#engine/shared-index/rules/rules-view.ts'
import type { Change, ConditionSetPut, RuleChange } from '#model/change.ts'
import { type QueryContext, NOTHING_SENT } from '#model/decision.ts'
import { conditionSet as set, resourceType, tenant, user } from '#testing/engines/changes.ts'
import { CompiledRules } from '#testing/engines/compiled-rules.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

function rule(userSet: string, action = 'read'): RuleChange {
  return { userSet, type: 'document', action, resourceSet: '__autogen_document' }
}

function rulePut(of: RuleChange): Change {
  return { kind: 'rule-put', ...of }
}

function following(sets: readonly ConditionSetPut[], rules: readonly RuleChange[]): CompiledRules {
  const all = new CompiledRules()
  for (const each of sets) all.book.putSet(each)
  for (const each of rules) all.book.putRule(each)
  return all
}

function compiled(sets: readonly ConditionSetPut[], rules: readonly RuleChange[]): RulesView {
  return following(sets, rules).compile().view!
}

function countsOf({ view, at }: PlanView) {
  const { program } = view
  return { lookups: program[at + PLAN.lookups]!, others: program[at + PLAN.others]! }
}

describe('compiled rules', () => {
  test('contain equal leaves only once, and a path only once for all its spellings', () => {
    const view = compiled(
      [
        set('a', { 'user.level': { equals: 1 } }),
        set('b', { not: { 'subject.level': { equals: 1.0 } } }),
        set('c', { anyOf: [{ 'user.level': { equals: 1 } }, { 'user.level': { equals: '1' } }] }),
      ],
      [rule('a'), rule('b'), rule('c')],
    )
    expect([view.leafFrom.length, view.paths]).toEqual([2, 1])
  })

  test('have one lookup for all sets that differ only in the constant of an equality', () => {
    const sets = Array.from({ length: 1_000 }, (_, n) =>
      set(`in-${n}`, {
        allOf: [{ 'user.active': { equals: true } }, { 'user.group': { equals: `g-${n}` } }],
      }),
    )
    const plan = compiled(
      sets,
      sets.map(each => rule(each.set)),
    ).planOf('document', 'read')!
    expect(countsOf(plan)).toEqual({ lookups: 1, others: 0 })
    const path = plan.view.program[plan.view.program[plan.at + PLAN.lookupsAt]!]!
    expect(plan.view.path(path).text).toBe('user.group')
    expect(LOOKUP_WORDS).toBe(2)
  })

  test('are evaluated by each check if they can match without an equality', () => {
    const sets = [
      set('any', { anyOf: [{ 'user.group': { equals: 'a' } }, { 'user.group': { equals: 'b' } }] }),
      set('not', { not: { 'user.group': { equals: 'a' } } }),
      set('other', { 'user.group': { 'not-equals': 'a' } }),
      set('listed', { 'user.group': { in: ['a', 'b'] } }),
      set('below', { 'user.level': { 'less-than': 3 } }, { parent: 'listed' }),
    ]
    const plan = compiled(
      sets,
      sets.map(each => rule(each.set)),
    ).planOf('document', 'read')!
    expect(countsOf(plan)).toEqual({ lookups: 1, others: 3 })
  })

  test('contain common leaves without their text, and rare leaves with it', () => {
    const everyday = [
      { 'user.a': { equals: 'x' } },
      { 'user.a': { 'not-equals': { ref: 'resource.a' } } },
      { 'user.a': { in: ['x', 1, null] } },
      { 'user.a': { in: { ref: 'context.a' } } },
      { 'user.a': { 'less-than': '2026-01-01' } },
      { 'user.a': { between: [1, 2] } },
      { 'user.a': { array_contains: 'x' } },
      { 'user.roles': { array_contains: { ref: 'context.role' } } },
      { 'user.a': { exists: false } },
      { 'user.a': { array_len_equals: 2 } },
    ]
    const rare = [{ 'user.a': { match: 'x*' } }, { 'user.a': { any_match: { match: { k: { equals: 1 } } } } }]
    const kinds = (all: readonly object[]): readonly boolean[] =>
      all.map(conditions => {
        const { leafFrom, program } = compiled([set('s', conditions)], [rule('s')])
        return Array.from(leafFrom).some(at => program[at] === LEAF.tree)
      })
    expect(kinds(everyday)).toEqual(everyday.map(() => false))
    expect(kinds(rare)).toEqual(rare.map(() => true))
  })
})

describe('a recompilation after a change', () => {
  /** Half of the sets have rules that are found by a value. Rules of the other half are not. */
  function filled(sets: number, actions: number): CompiledRules {
    const puts = Array.from({ length: sets }, (_, n) =>
      set(`s-${n}`, n % 2 === 0 ? { 'user.group': { equals: n } } : { 'user.level': { 'greater-than': n } }),
    )
    const rules = Array.from({ length: actions }, (_, a) => puts.map(each => rule(each.set, `a-${a}`)))
    const all = following(puts, rules.flat())
    all.compile()
    return all
  }

  function workOf({ compiler }: CompiledRules, change: () => void) {
    const { setsRead, rulesPlanned } = compiler
    change()
    return { sets: compiler.setsRead - setsRead, rules: compiler.rulesPlanned - rulesPlanned }
  }

  test.each([
    ['few rules', 20, 5],
    ['very many rules', 5_000, 10],
  ])('does not cost more because of other rules, with %s', (_, sets, actions) => {
    const all = filled(sets, actions)
    const work = (change: () => unknown) => workOf(all, () => [change(), all.compile()])
    const own = (group: string) => set('own', { 'user.group': { equals: group } })
    expect(work(() => all.book.putSet(own('own')))).toEqual({ sets: 1, rules: 0 })
    expect(work(() => all.book.putRule(rule('own', 'a-1')))).toEqual({ sets: 0, rules: 1 })
    // This change affects how the rule is found, so the rule is planned again. The next change does not.
    expect(work(() => all.book.putSet(own('other')))).toEqual({ sets: 1, rules: 1 })
    const level = (above: number) => set('s-1', { 'user.level': { 'greater-than': above } })
    expect(work(() => all.book.putSet(level(7)))).toEqual({ sets: 1, rules: 0 })
    expect(work(() => all.book.removeRule(rule('own', 'a-1')))).toEqual({ sets: 0, rules: 0 })
    expect(work(() => all.book.removeSet('s-0'))).toEqual({ sets: 0, rules: 0 })
  })

  test('removes leaves, paths and words that no set uses', () => {
    const all = following([set('s', {})], [rule('s')])
    for (let n = 0; n < 5_000; n++) {
      all.book.putSet(set('s', { [`user.a${n}`]: { equals: n } }))
      all.compile()
    }
    const { view } = all.compile()
    expect(Math.max(view!.leafFrom.length, view!.paths)).toBeLessThan(1_100)
    expect(view!.program.length).toBeLessThan(50_000)
  })

  test('removes the words of deleted rules', () => {
    const all = filled(1_000, 1)
    const before = all.compile().view!.program.length
    for (let n = 0; n < 3_000; n++) {
      const value = set(`s-${n % 1_000}`, { 'user.group': { equals: `g-${n}` } })
      all.book.putSet(value)
      all.book.removeRule(rule(value.set, 'a-0'))
      all.book.putRule(rule(value.set, 'a-0'))
      if (n % 10 === 0) all.compile()
    }
    expect(all.compile().view!.program.length).toBeLessThan(4 * before)
  })

  test('plans rules like a complete compilation', () => {
    const changed = filled(100, 1)
    for (let n = 100; n < 400; n++) {
      changed.book.putSet(
        set(`s-${n}`, { allOf: [{ 'user.is': { equals: 1 } }, { 'user.group': { equals: n } }] }),
      )
      changed.book.putRule(rule(`s-${n}`, 'a-0'))
      changed.compile()
    }
    const plan = changed.compile().view!.planOf('document', 'a-0')!
    expect(countsOf(plan)).toEqual({ lookups: 1, others: 50 })
  })

  test('deletes the plan of a permission that has no rules, and keeps the plans of other permissions', () => {
    const all = filled(4, 200)
    for (let a = 0; a < 200; a += 2) {
      for (let n = 0; n < 4; n++) all.book.removeRule(rule(`s-${n}`, `a-${a}`))
      if (a % 50 === 0) all.compile()
    }
    all.book.putRule(rule('s-1', 'new'))
    const view = all.compile().view!
    const planned = Array.from({ length: 200 }, (_, a) => view.planOf('document', `a-${a}`) !== null)
    expect(planned).toEqual(planned.map((_, a) => a % 2 === 1))
    expect(view.permissions()).toHaveLength(101)
    expect(countsOf(view.planOf('document', 'new')!)).toEqual({ lookups: 0, others: 1 })
  })
})

describe('a check with rules', () => {
  const standing: readonly Change[] = [
    resourceType('document', 'read', 'write'),
    tenant('default'),
    user('alice'),
  ]
  const query = { user: 'alice', action: 'read', type: 'document', key: null, tenant: null }

  function looking(values: Readonly<Record<string, unknown>>): {
    readonly queryContext: QueryContext
    readonly looks: Record<string, number>
  } {
    const looks: Record<string, number> = {}
    const context = Object.defineProperties(
      {},
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          { get: () => ((looks[name] = (looks[name] ?? 0) + 1), value), enumerable: true },
        ]),
      ),
    )
    const sent = { user: null, resource: null, tenant: null, context }
    return { queryContext: { readAt: 0, sent: () => sent }, looks }
  }

  test('reads an attribute only once for all sets and rules, and no attribute that no rule needs', () => {
    const engine = new SharedEngine()
    const sets = Array.from({ length: 20 }, (_, n) =>
      set(`s-${n}`, {
        'context.group': { equals: `g-${n}` },
        'context.level': { 'greater-than': n },
        [`context.only${n}`]: { equals: true },
      }),
    )
    engine.apply([...standing, ...sets, ...sets.map(each => rulePut(rule(each.set)))])
    const only = Object.fromEntries(sets.map((_, n) => [`only${n}`, true]))
    const { queryContext, looks } = looking({ group: 'g-3', level: 10, ...only })
    expect(engine.evaluate({ ...query, queryContext })).toBe(true)
    expect(looks).toEqual({ group: 1, level: 1, only3: 1 })
    const other = looking({ group: 'g-3', level: 3, ...only })
    expect(engine.evaluate({ ...query, queryContext: other.queryContext })).toBe(false)
    expect(other.looks).toEqual({ group: 1, level: 1 })
  })

  test('reads no attributes if the action has no rules', () => {
    const engine = new SharedEngine()
    const all = set('all', { 'context.group': { equals: 'a' } })
    engine.apply([...standing, all, rulePut(rule('all'))])
    const queryContext: QueryContext = {
      readAt: 0,
      sent: () => {
        throw new Error('must not be read')
      },
    }
    expect(engine.evaluate({ ...query, action: 'write', queryContext })).toBe(false)
    expect(() => engine.evaluate({ ...query, queryContext })).toThrow('must not be read')
  })
})

test('an object from the request and from storage is merged before a comparison', () => {
  const engine = SharedEngine.with([
    resourceType('document', 'read'),
    tenant('default'),
    { kind: 'user-put', user: 'alice', attributes: { home: { zip: '3000', city: 'Bern' } } },
    set('same', { 'user.home': { equals: { ref: 'context.home' } } }),
    rulePut(rule('same')),
  ])
  const reads = (home: object): boolean =>
    engine.evaluate({
      user: 'alice',
      action: 'read',
      type: 'document',
      key: null,
      tenant: null,
      queryContext: {
        readAt: 0,
        sent: () => ({ user: { home: { city: 'Basel' } }, resource: null, tenant: null, context: { home } }),
      },
    })
  expect(reads({ city: 'Basel', zip: '3000' })).toBe(true)
  expect(reads({ city: 'Basel' })).toBe(false)
})

test('rules that were compiled before a name received its number find values with this name afterwards', () => {
  const engine = SharedEngine.with([
    resourceType('document', 'read'),
    tenant('default'),
    user('alice'),
    set('late', { 'user.late': { equals: 1 } }),
    set('deep', { 'user.a.b': { equals: 1 } }),
    rulePut(rule('late')),
    rulePut(rule('deep')),
  ])
  const query = { user: 'alice', action: 'read', type: 'document', key: null, tenant: null }
  const reads = (attributes: Readonly<Record<string, unknown>>): boolean => {
    engine.apply([{ kind: 'user-put', user: 'alice', attributes }])
    const answer = engine.evaluate(query)
    expect(evaluateAll(engine, [query])).toEqual([answer])
    return answer
  }
  expect(reads({})).toBe(false)
  expect(reads({ late: 1 })).toBe(true)
  expect(reads({ late: 2, a: { b: 2 } })).toBe(false)
  expect(reads({ late: 2, a: { b: 1 } })).toBe(true)
  // The attribute `a.b`, whose name contains a dot, has precedence over the member `b` of the attribute `a`.
  expect(reads({ 'a.b': 2, a: { b: 1 } })).toBe(false)
})

function allows(engine: SharedEngine, action: string, n: number): boolean {
  return engine.evaluate({
    user: 'u',
    action,
    type: 'document',
    key: null,
    tenant: null,
    queryContext: { readAt: 0, sent: () => ({ ...NOTHING_SENT, user: { n } }) },
  })
}

describe('constants with colliding hashes', () => {
  /** Numbers whose hashes share a prefix. They collide in tables of up to a thousand slots. */
  const colliding: number[] = []
  const words = new ValueWords()
  for (let number = 0; colliding.length < 300; number++) {
    words.length = 0
    const head = words.scalar(number)
    if (hashOfScalar(head, words.words, 0) >>> 22 === 0) colliding.push(number)
  }

  test('are found, as values of equalities and in a list of values', () => {
    const engine = SharedEngine.with([
      resourceType('document', 'read', 'write'),
      tenant('default'),
      user('u'),
      ...colliding.map(number => set(`is-${number}`, { 'user.n': { equals: number } })),
      ...colliding.map(number => rulePut(rule(`is-${number}`))),
      set('any', { 'user.n': { in: colliding } }),
      rulePut(rule('any', 'write')),
    ])
    for (const action of ['read', 'write']) {
      expect(colliding.filter(number => !allows(engine, action, number))).toEqual([])
      expect(allows(engine, action, colliding.at(-1)! + 1)).toBe(false)
    }
  })

  test('are found and removed when their rules are created and deleted one by one', () => {
    const engine = SharedEngine.with([
      resourceType('document', 'read'),
      tenant('default'),
      user('u'),
      ...colliding.map(number => set(`is-${number}`, { 'user.n': { equals: number } })),
    ])
    for (const number of colliding) engine.apply([rulePut(rule(`is-${number}`))])
    expect(colliding.filter(number => !allows(engine, 'read', number))).toEqual([])
    const gone = colliding.filter((_, n) => n % 3 > 0)
    for (const number of gone)
      engine.apply([{ ...rulePut(rule(`is-${number}`)), kind: 'rule-removed' } as Change])
    expect(colliding.filter(number => allows(engine, 'read', number))).toEqual(
      colliding.filter(number => !gone.includes(number)),
    )
  })
})

test('a list of values in a condition matches exactly its values, and never if it is empty', () => {
  const engine = new SharedEngine()
  const many = Array.from({ length: 100 }, (_, n) => n)
  engine.apply([
    resourceType('document', 'read', 'write'),
    tenant('default'),
    set('nobody', { 'user.n': { in: [] } }),
    set('many', { 'user.n': { in: many } }),
    rulePut(rule('nobody')),
    rulePut(rule('many', 'write')),
  ])
  const answers = [allows(engine, 'read', 1), allows(engine, 'write', 99), allows(engine, 'write', 100)]
  expect(answers).toEqual([false, true, false])
})
