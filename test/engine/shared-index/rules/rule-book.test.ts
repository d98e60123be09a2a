/** Removals from the rule book find dependent sets and rules by the removed name, without a scan. */
import { describe, expect, test } from 'vitest'
import { RuleBook } from '#engine/shared-index/rules/rule-book.ts'
import type { RuleChange } from '#model/change.ts'
import { conditionSet } from '#testing/engines/changes.ts'

const OTHERS = 1_000

/** A schema in which every name exists. It counts lookups. */
class CountingSchema {
  lookups = 0

  hasType(): boolean {
    return this.#count()
  }

  hasAction(): boolean {
    return this.#count()
  }

  hasTenantRole(): boolean {
    return this.#count()
  }

  #count(): boolean {
    this.lookups += 1
    return true
  }
}

function rule(userSet: string, type: string, action: string, resourceSet = `__autogen_${type}`): RuleChange {
  return { userSet, type, action, resourceSet }
}

/** Many sets and rules on pages, and few on papers. */
function filled() {
  const schema = new CountingSchema()
  const book = new RuleBook(schema)
  for (let n = 0; n < OTHERS; n++) {
    book.putSet(conditionSet(`other-${n}`, {}))
    book.putRule(rule(`other-${n}`, 'page', 'read'))
  }
  book.putSet(conditionSet('staff', {}))
  book.putSet(conditionSet('sales', {}, { parent: 'staff' }))
  book.putSet(conditionSet('papers', {}, { side: 'resource', type: 'paper' }))
  book.putSet(conditionSet('public', {}, { side: 'resource', type: 'paper', parent: 'papers' }))
  const few = [
    rule('sales', 'paper', 'read'),
    rule('staff', 'paper', 'write', 'public'),
    rule('__autogen_member', 'paper', 'write'),
    rule('sales', 'page', 'read'),
  ]
  for (const each of few) book.putRule(each)
  schema.lookups = 0
  const left = () => {
    const { sets, rules } = book.save()
    const named = ({ userSet, type, action, resourceSet }: RuleChange) =>
      `${userSet} ${type}:${action} ${resourceSet}`
    return {
      sets: sets.map(({ set }) => set).filter(set => !set.startsWith('other-')),
      rules: rules.filter(({ userSet }) => !userSet.startsWith('other-')).map(named),
      others: rules.filter(({ userSet }) => userSet.startsWith('other-')).length,
    }
  }
  return { schema, book, left }
}

const ALL = {
  sets: ['staff', 'sales', 'papers', 'public'],
  rules: [
    'sales paper:read __autogen_paper',
    'staff paper:write public',
    '__autogen_member paper:write __autogen_paper',
    'sales page:read __autogen_page',
  ],
  others: OTHERS,
}

const rulesAt = (...places: readonly number[]) => ({ rules: places.map(n => ALL.rules[n]!) })

describe('a removal from the rule book', () => {
  test.each<[string, (book: RuleBook) => boolean, Partial<typeof ALL>]>([
    [
      'a set with its descendants and their rules',
      book => book.removeSet('staff'),
      { sets: ['papers', 'public'], rules: [ALL.rules[2]!] },
    ],
    [
      'a set with a parent and its rules',
      book => book.removeSet('public'),
      { sets: ['staff', 'sales', 'papers'], rules: [ALL.rules[0]!, ...ALL.rules.slice(2)] },
    ],
    [
      'a type with its sets and rules',
      book => book.removeType('paper', ['read', 'write']),
      { sets: ['staff', 'sales'], rules: [ALL.rules[3]!] },
    ],
    ['an action with its rules', book => book.removeActions('paper', ['write']), rulesAt(0, 3)],
    ['a tenant role with its rules', book => book.removeTenantRole('member'), rulesAt(0, 1, 3)],
    ['a rule', book => book.removeRule(rule('sales', 'paper', 'read')), { rules: ALL.rules.slice(1) }],
  ])('deletes %s without lookups for other rules', (_what, remove, then) => {
    const { schema, book, left } = filled()
    expect(left()).toEqual(ALL)
    expect(remove(book)).toBe(true)
    expect(left()).toEqual({ ...ALL, ...then })
    expect(schema.lookups).toBe(0)
    expect(remove(book)).toBe(false)
  })

  test('looks up only descendants and rules of a set that is limited to another type', () => {
    const { schema, book, left } = filled()
    expect(book.putSet(conditionSet('papers', {}, { side: 'resource', type: 'page' }))).toBe(true)
    expect(left()).toEqual({ ...ALL, sets: ['staff', 'sales', 'papers'], ...rulesAt(0, 2, 3) })
    expect(schema.lookups).toBeLessThan(10)
  })
})

test('putting an existing rule again changes nothing', () => {
  const { book } = filled()
  expect(book.putRule(rule('sales', 'paper', 'read'))).toBe(false)
  expect(book.putRule(rule('sales', 'paper', 'write'))).toBe(true)
})

test('removals from a restored rule book have the same effect as removals from the saved one', () => {
  const { book } = filled()
  const restored = new RuleBook(new CountingSchema())
  restored.restore(book.save())
  for (const each of [book, restored]) {
    each.removeSet('staff')
    each.removeType('paper', ['read', 'write'])
  }
  expect(restored.save()).toEqual(book.save())
})

test('the removal of a name with many rules in steps is invisible to operations between the steps', () => {
  const many = () => {
    const { book, left } = filled()
    book.putSet(conditionSet('pages', {}, { side: 'resource', type: 'page' }))
    for (let n = 0; n < OTHERS; n++) book.putRule(rule(`other-${n}`, 'page', 'read', 'pages'))
    expect(left().others).toBe(2 * OTHERS)
    book.removeSet('pages')
    return { book, left }
  }
  const [inSteps, atOnce] = [many(), many()]
  expect([...inSteps.book.settle()].length).toBeGreaterThan(2)
  const begun = atOnce.book.settle()
  begun.next()
  for (const { book, left } of [inSteps, atOnce]) {
    expect(book.putRule(rule('other-1', 'page', 'write'))).toBe(true)
    expect(left()).toEqual({ ...ALL, others: OTHERS + 1 })
  }
  expect(begun.next().done).toBe(true)
  expect(atOnce.left()).toEqual(inSteps.left())
})
