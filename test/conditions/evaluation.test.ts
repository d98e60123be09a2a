/** Cost of evaluation, merging of attributes, and explanations. `test/oracle` tests values of conditions. */
import { describe, expect, test } from 'vitest'
import { decisive, explain } from '#conditions/explain.ts'
import { evaluate } from '#conditions/evaluate.ts'
import { EvaluationBudget, LOOKUPS_MAX, STEPS_MAX } from '#conditions/values/evaluation-budget.ts'
import { Glob } from '#conditions/values/globs.ts'
import { readInstant } from '#conditions/values/instants.ts'
import { mergedValueAt } from '#conditions/merged-attributes.ts'
import { nameOfTruth } from '#conditions/values/truth.ts'
import { read, valuesOf } from './read.ts'

describe('the limits of a check', () => {
  const TRUE = { value: 'true', isExceeded: false }
  const EXCEEDED = { value: 'unknown', isExceeded: true }
  const LEAVES = 1_000
  const valueWithin = (raw: object, user: Record<string, unknown>, instances = {}) => {
    const budget = new EvaluationBudget()
    const value = nameOfTruth(evaluate(read(raw), valuesOf({ user }, instances), budget))
    return { value, isExceeded: budget.isExceeded }
  }

  test('make the result unknown if there are more lookups than the limit', () => {
    const raw = { 'user.a': { all_match: { match: {}, fk_resource_type: 'folder' } } }
    const keys = (count: number) => Array(count).fill('f')
    const instances = { 'folder:f': {} }
    for (const count of [LOOKUPS_MAX - 1, LOOKUPS_MAX]) {
      expect(valueWithin(raw, { a: keys(count) }, instances)).toEqual(TRUE)
    }
    expect(valueWithin(raw, { a: keys(LOOKUPS_MAX + 1) }, instances)).toEqual(EXCEEDED)
  })

  test('make the result of an expensive glob unknown', () => {
    const raw = { 'user.a': { match: '**a'.repeat(8) } }
    expect(valueWithin(raw, { a: 'a'.repeat(1_000) })).toEqual(TRUE)
    const text = 'a'.repeat(STEPS_MAX / 4)
    expect(valueWithin(raw, { a: text })).toEqual(EXCEEDED)
    expect(valueWithin({ not: raw }, { a: text })).toEqual(EXCEEDED)
  })

  test('make the result of an expensive search in a long text unknown', () => {
    // The comparison at each position of the text fails at the 16,001st character.
    const raw = { 'user.a': { contains: `${'a'.repeat(16_000)}b${'a'.repeat(16_000)}` } }
    expect(valueWithin(raw, { a: 'a'.repeat(65_000) })).toEqual(EXCEEDED)
    expect(valueWithin({ 'user.a': { contains: 'b' } }, { a: `${'a'.repeat(65_000)}b` })).toEqual(TRUE)
  })

  test.each<[string, object]>([
    [
      'of missing attributes',
      { allOf: Array.from({ length: LEAVES }, () => ({ 'user.none': { equals: 1 } })) },
    ],
    ['of existence', { anyOf: Array.from({ length: LEAVES }, () => ({ 'user.none': { exists: true } })) }],
    ['without conditions', { allOf: Array.from({ length: LEAVES }, () => ({})) }],
  ])('count tests %s, in any number of sets', (_, raw) => {
    const condition = read(raw)
    const budget = new EvaluationBudget()
    for (let set = 0; set <= STEPS_MAX / LEAVES; set++) evaluate(condition, valuesOf({ user: {} }), budget)
    expect(budget.isExceeded).toBe(true)
    expect(nameOfTruth(evaluate(read({}), valuesOf({ user: {} }), budget))).toBe('unknown')
  })

  const numbers = Array.from({ length: 5_000 }, (_, n) => n)
  const objects = Array.from({ length: 1_000 }, (_, n) => ({ k: n, w: `w${n}` }))
  test.each<[string, number, object, Record<string, unknown>]>([
    ['array_intersect', 900, { array_intersect: { ref: 'user.b' } }, { a: numbers, b: [-1] }],
    [
      'array_intersect of objects',
      50,
      { array_intersect: { ref: 'user.b' } },
      { a: objects, b: [{ k: -1 }] },
    ],
    ['any_match', 490, { any_match: { match: { k: { equals: -1 } } } }, { a: objects }],
    ['equals', 300, { equals: { ref: 'user.b' } }, { a: objects, b: [...objects.slice(1), 1] }],
    ['equals of a small and a large value', 300, { equals: { ref: 'user.b' } }, { a: {}, b: objects }],
    ['in a small list', 300, { in: { ref: 'user.b' } }, { a: objects, b: [[]] }],
    ['array_contains', 300, { array_contains: { ref: 'user.b' } }, { a: [[]], b: objects }],
    ['in', 50, { in: { ref: 'user.b' } }, { a: -1, b: numbers.concat(numbers) }],
    ['contains', 100, { contains: 'ab' }, { a: 'a'.repeat(60_000) }],
    ['less-than', 9_000, { 'less-than': '2020-01-01' }, { a: `2026-11-26T10:00:00.${'7'.repeat(200)}Z` }],
  ])('end the evaluation of %s before it takes tens of milliseconds', (_, tests, test_, user) => {
    const condition = read({ 'user.a': test_ })
    const values = valuesOf({ user })
    const budget = new EvaluationBudget()
    let evaluated = 0
    while (evaluated < tests && !budget.isExceeded) {
      evaluate(condition, values, budget)
      evaluated += 1
    }
    expect(budget.isExceeded).toBe(true)
    expect(evaluated).toBeLessThan(tests)
  })

  test('make only those tests unknown that are evaluated after a limit is exceeded', () => {
    const costly = { 'user.list': { array_subset: [1] } }
    const user = { a: 1, list: Array.from({ length: STEPS_MAX }, () => 1) }
    expect(valueWithin({ anyOf: [{ 'user.a': { equals: 1 } }, costly] }, user).value).toBe('true')
    expect(valueWithin({ anyOf: [costly, { 'user.a': { equals: 1 } }] }, user)).toEqual(EXCEEDED)
  })
})

describe('globs', () => {
  const matches = (glob: string, text: string) =>
    nameOfTruth((Glob.read(glob) as Glob).truthOf(text, new EvaluationBudget()))

  test.each(['[a', '[', '[]', '[z-a]', '{a', '{a,b', 'a\\', '[a\\'])('%j is not valid', glob => {
    expect(Glob.read(glob)).toBeTypeOf('string')
  })

  test('a glob with exponential backtracking takes steps proportional to the text', () => {
    expect(matches('*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(5_000))).toBe('false')
  })
})

test('an instant with hundreds of digits is not valid', () => {
  expect(readInstant(`2026-01-01T10:00:00.${'0'.repeat(300)}Z`)).toBeNull()
})

describe('the merged value of an attribute', () => {
  const layers = [
    { name: 'sent', address: { city: 'Bern' }, tags: ['a'], gone: null, deep: { a: { x: 1 } } },
    {
      name: 'stored',
      address: { city: 'Basel', zip: '3000' },
      tags: ['b'],
      gone: 5,
      deep: { a: { y: 2 }, b: 3 },
    },
    { address: 'street', only: 1, 'address.zip': 'dotted' },
  ]
  test.each<[string, unknown]>([
    ['name', 'sent'],
    ['address.city', 'Bern'],
    ['address', { city: 'Bern', zip: '3000' }],
    ['address.zip', 'dotted'],
    ['tags', ['a']],
    ['gone', null],
    ['only', 1],
    ['deep', { a: { x: 1, y: 2 }, b: 3 }],
    ['deep.a.y', 2],
    ['deep.none', undefined],
    ['name.x', undefined],
    ['none', undefined],
  ])('combines all layers for %s', (path, expected) => {
    expect(mergedValueAt(layers, path.split('.'))).toEqual(expected)
  })
})

describe('an explanation of a condition', () => {
  const why = (raw: object, user: Record<string, unknown>) =>
    decisive(explain(read(raw), valuesOf({ user }), new EvaluationBudget()))

  test('names the first decisive test and the value it found', () => {
    const raw = {
      allOf: [{ 'user.level': { 'greater-than': 3 } }, { 'user.department': { equals: 'sales' } }],
    }
    expect(why(raw, { level: 5 })).toEqual({
      path: 'user.department',
      operator: 'equals',
      operand: 'sales',
      found: 'missing',
      isMissing: true,
      value: 'unknown',
    })
    expect(why(raw, { level: 2 })).toMatchObject({ path: 'user.level', operand: 3, found: 2, value: 'false' })
    expect(why({ not: raw }, { level: 2 })).toMatchObject({ path: 'user.level', value: 'false' })
    expect(
      why({ anyOf: [raw, { 'user.level': { in: [1, { ref: 'user.x' }] } }] }, { level: 2 }),
    ).toMatchObject({
      operand: [1, { ref: 'user.x' }],
      value: 'unknown',
    })
    expect(why({}, {})).toBeNull()
  })

  test('has the whole tree', () => {
    const raw = { anyOf: [{ 'user.a': { equals: 1 } }, { not: { 'user.b': { exists: true } } }] }
    expect(explain(read(raw), valuesOf({ user: { a: 1 } }), new EvaluationBudget())).toEqual({
      connective: 'any-of',
      value: 'true',
      items: [
        { path: 'user.a', operator: 'equals', operand: 1, found: 1, value: 'true' },
        {
          connective: 'not',
          value: 'true',
          items: [
            {
              path: 'user.b',
              operator: 'exists',
              operand: true,
              found: 'missing',
              isMissing: true,
              value: 'false',
            },
          ],
        },
      ],
    })
  })
})
