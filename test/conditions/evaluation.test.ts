/** How values are found and compared where the vectors say nothing (conditions, sections 3 to 5). */
import { describe, expect, test } from 'vitest'
import { decisive, explain } from '#conditions/explain.ts'
import { evaluate } from '#conditions/evaluate.ts'
import { EvaluationBudget, LOOKUPS_MAX, STEPS_MAX } from '#conditions/evaluation-budget.ts'
import { Glob } from '#conditions/globs.ts'
import { compareInstants, readInstant } from '#conditions/instants.ts'
import { mergedValueAt } from '#conditions/merged-attributes.ts'
import { nameOfTruth } from '#conditions/truth.ts'
import { read, truth, valuesOf } from './read.ts'

describe('spellings', () => {
  test.each<[string, object, object]>([
    ['subject is user', { 'subject.a': { equals: 1 } }, { user: { a: 1 } }],
    ['environment is context', { 'environment.a': { equals: 1 } }, { context: { a: 1 } }],
    [
      'and, or',
      { and: [{ or: [{ 'user.a': { equals: 1 } }, { 'user.a': { equals: 2 } }] }] },
      { user: { a: 1 } },
    ],
    ['one object for a list of one', { allOf: { anyOf: { 'user.a': { equals: 1 } } } }, { user: { a: 1 } }],
    ['several members hold together', { 'user.a': { equals: 1 }, anyOf: [{}] }, { user: { a: 1 } }],
    ['underscores', { 'user.a': { not_equals: 2 } }, { user: { a: 1 } }],
    ['hyphens', { 'user.a': { 'array-len-greater-than': 0 } }, { user: { a: [1] } }],
    ['string_contains', { 'user.a': { string_contains: 'b' } }, { user: { a: 'abc' } }],
    ['-ref', { 'user.a': { 'less-than-ref': 'resource.b' } }, { user: { a: 1 }, resource: { b: 2 } }],
    ['_ref', { 'user.a': { array_contains_ref: 'context.b' } }, { user: { a: ['x'] }, context: { b: 'x' } }],
    [
      'attribute first',
      { 'user.a': { or: [{ between: [15, 18] }, { 'greater-than': 40 }] } },
      { user: { a: 41 } },
    ],
    [
      'attribute first, not',
      { 'user.a': { not: { anyOf: [{ equals: 1 }, { equals: 2 }] } } },
      { user: { a: 3 } },
    ],
    [
      'a list with refs',
      { 'user.a': { in: ['x', { ref: 'context.b' }] } },
      { user: { a: 'y' }, context: { b: 'y' } },
    ],
    [
      'between refs',
      { 'user.a': { between: [{ ref: 'context.l' }, 9] } },
      { user: { a: 5 }, context: { l: 4 } },
    ],
    [
      'server.time',
      { 'server.time': { 'greater-than': '2026-01-01' } },
      { server: { time: '2026-01-01T00:00:00.1Z' } },
    ],
  ])('%s', (_, raw, roots) => {
    expect(truth(raw, roots)).toBe('true')
    expect(truth(raw)).toBe('unknown')
  })
})

describe('names', () => {
  test('lead into objects, never through anything else', () => {
    const raw = { 'user.address.city': { equals: 'Bern' } }
    expect(truth(raw, { user: { address: { city: 'Bern' } } })).toBe('true')
    for (const address of ['Bern', null, ['city'], 5])
      expect(truth(raw, { user: { address } })).toBe('unknown')
  })

  test('an attribute whose own name has dots comes first', () => {
    const raw = { 'user.a.b.c': { equals: 1 } }
    expect(truth(raw, { user: { 'a.b.c': 1, a: { b: { c: 2 } } } })).toBe('true')
    expect(truth(raw, { user: { 'a.b': { c: 1 }, a: { b: { c: 2 } } } })).toBe('true')
    expect(truth(raw, { user: { a: { 'b.c': 1 } } })).toBe('unknown')
  })

  test('of no object are inherited', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(truth({ [`user.${name}`]: { exists: true } })).toBe('false')
      expect(truth({ [`user.a.${name}`]: { exists: true } }, { user: { a: {} } })).toBe('false')
    }
    const user = JSON.parse('{"__proto__": {"a": 1}}') as Record<string, unknown>
    expect(truth({ 'user.__proto__.a': { equals: 1 } }, { user })).toBe('true')
    expect(truth({ 'user.a': { exists: true } }, { user })).toBe('false')
  })
})

describe('comparing', () => {
  test.each<[unknown, object, string]>([
    [-0, { equals: 0 }, 'true'],
    [2 ** 53, { equals: Number('9007199254740993') }, 'true'],
    ['\u00e9', { equals: 'e\u0301' }, 'false'],
    [[1, { b: [2] }], { equals: [1, { b: [2] }] }, 'true'],
    [{ a: 1 }, { equals: { a: 1, b: 2 } }, 'false'],
    [[[1]], { array_contains: [1] }, 'true'],
    [[{ a: 1, b: 2 }], { array_contains: { b: 2, a: 1 } }, 'true'],
    [[{ a: 1, b: 2 }, '1'], { array_subset: ['1', { b: 2, a: 1 }] }, 'true'],
    [['1'], { array_subset: [1] }, 'false'],
    [['["a"]'], { array_intersect: [['a']] }, 'false'],
    [[1, 1], { array_superset: [1, 1, 1] }, 'true'],
    [[], { in: [[]] }, 'true'],
    [null, { in: [null] }, 'true'],
    [null, { in: [1] }, 'false'],
    ['a😀b', { contains: '😀' }, 'true'],
    ['a😀b', { contains: '\ud83d' }, 'false'],
    ['a😀b', { contains: '\ude00b' }, 'false'],
    ['\ud83d😀', { contains: '\ud83d' }, 'true'],
    ['2026-11-26', { 'greater-than-equals': '2026-11-26T00:00:00Z' }, 'true'],
    ['2026-11-26T10:00:00.10Z', { between: ['2026-11-26T10:00:00.1Z', '2026-11-26T10:00:00.1Z'] }, 'true'],
    ['2026-11-26T10:00:00', { 'less-than': '2027-01-01' }, 'unknown'],
    [1_700_000_000, { 'less-than': '2027-01-01' }, 'unknown'],
  ])('%j %j is %s', (a, test_, expected) => {
    expect(truth({ 'user.a': test_ }, { user: { a } })).toBe(expected)
  })

  test('an operand that is missing makes every test unknown, also within a list', () => {
    const missing = { ref: 'context.none' }
    const tests = [
      { equals: missing },
      { 'not-equals': missing },
      { equals: ['x', missing] },
      { 'less-than': missing },
      { between: [1, missing] },
      { between: [9, missing] },
      { contains: missing },
      { in: missing },
      { in: ['x', missing] },
      { array_contains: missing },
      { array_subset: missing },
      { array_superset: missing },
      { array_intersect: missing },
      { array_len_equals: missing },
    ]
    for (const each of tests) {
      for (const a of ['x', 5, ['x']]) expect(truth({ 'user.a': each }, { user: { a } })).toBe('unknown')
    }
  })
})

describe('matches', () => {
  const any = (match: object, more = {}) => ({ 'user.a': { any_match: { match, ...more } } })
  test('paths without a root begin at the member, refs at the roots', () => {
    const raw = any({ 'owner.name': { equals: { ref: 'user.name' } }, level: { 'greater-than': 2 } })
    const a = [
      { owner: { name: 'ann' }, level: 1 },
      { owner: { name: 'ann' }, level: 3, name: 'no' },
    ]
    expect(truth(raw, { user: { a, name: 'ann' } })).toBe('true')
    expect(truth(raw, { user: { a, name: 'bob' } })).toBe('false')
  })

  test('an element that is no object is unknown, and decides only where nothing else does', () => {
    expect(truth(any({ k: { equals: 1 } }), { user: { a: [5, { k: 1 }] } })).toBe('true')
    expect(truth(any({ k: { equals: 1 } }), { user: { a: [5, { k: 2 }] } })).toBe('unknown')
  })

  test('keys of instances are looked up, and what is no such key is unknown', () => {
    const raw = any({ open: { equals: true } }, { fk_resource_type: 'folder' })
    const instances = { 'folder:f1': { open: true }, 'folder:f2': { open: false }, 'file:f3': { open: true } }
    expect(truth(raw, { user: { a: ['f2', 'f1'] } }, instances)).toBe('true')
    expect(truth(raw, { user: { a: ['f2'] } }, instances)).toBe('false')
    expect(truth(raw, { user: { a: ['f2', 'f3'] } }, instances)).toBe('unknown')
    expect(truth(raw, { user: { a: [{ open: true }] } }, instances)).toBe('unknown')
  })
})

describe('what a question may cost', () => {
  const LEAVES = 1_000
  const valueWithin = (raw: object, user: Record<string, unknown>, instances = {}) => {
    const budget = new EvaluationBudget()
    const value = nameOfTruth(evaluate(read(raw), valuesOf({ user }, instances), budget))
    return { value, isExceeded: budget.isExceeded }
  }

  test('lookups below, at and above the ceiling', () => {
    const raw = { 'user.a': { all_match: { match: {}, fk_resource_type: 'folder' } } }
    const keys = (count: number) => Array(count).fill('f')
    const instances = { 'folder:f': {} }
    for (const count of [LOOKUPS_MAX - 1, LOOKUPS_MAX]) {
      expect(valueWithin(raw, { a: keys(count) }, instances)).toEqual({ value: 'true', isExceeded: false })
    }
    expect(valueWithin(raw, { a: keys(LOOKUPS_MAX + 1) }, instances)).toEqual({
      value: 'unknown',
      isExceeded: true,
    })
  })

  test('a glob that would hold the thread is unknown', () => {
    const raw = { 'user.a': { match: '**a'.repeat(8) } }
    expect(valueWithin(raw, { a: 'a'.repeat(1_000) })).toEqual({ value: 'true', isExceeded: false })
    const text = 'a'.repeat(STEPS_MAX / 4)
    expect(valueWithin(raw, { a: text })).toEqual({ value: 'unknown', isExceeded: true })
    expect(valueWithin({ not: raw }, { a: text })).toEqual({ value: 'unknown', isExceeded: true })
  })

  test('a text that is looked for in a long one is unknown where that would hold the thread', () => {
    // All but the last of so many characters are the same at every place.
    const raw = { 'user.a': { contains: `${'a'.repeat(16_000)}b${'a'.repeat(16_000)}` } }
    expect(valueWithin(raw, { a: 'a'.repeat(65_000) })).toEqual({ value: 'unknown', isExceeded: true })
    expect(valueWithin({ 'user.a': { contains: 'b' } }, { a: `${'a'.repeat(65_000)}b` })).toEqual({
      value: 'true',
      isExceeded: false,
    })
  })

  test.each<[string, object]>([
    ['what is missing', { allOf: Array.from({ length: LEAVES }, () => ({ 'user.none': { equals: 1 } })) }],
    [
      'whether something is there',
      { anyOf: Array.from({ length: LEAVES }, () => ({ 'user.none': { exists: true } })) },
    ],
    ['nothing', { allOf: Array.from({ length: LEAVES }, () => ({})) }],
  ])('tests of %s count, too, in whatever number of sets they stand', (_, raw) => {
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
  ])('%s: so many tests as take tens of milliseconds are not all evaluated', (_, tests, test_, user) => {
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

  test('so is what comes behind it', () => {
    const costly = { 'user.list': { array_subset: [1] } }
    const user = { a: 1, list: Array.from({ length: STEPS_MAX }, () => 1) }
    expect(valueWithin({ anyOf: [{ 'user.a': { equals: 1 } }, costly] }, user).value).toBe('true')
    expect(valueWithin({ anyOf: [costly, { 'user.a': { equals: 1 } }] }, user)).toEqual({
      value: 'unknown',
      isExceeded: true,
    })
  })
})

describe('globs', () => {
  const matches = (glob: string, text: string) =>
    nameOfTruth((Glob.read(glob) as Glob).truthOf(text, new EvaluationBudget()))

  test.each<[string, string, boolean]>([
    ['', '', true],
    ['', 'a', false],
    ['a?c', 'abc', true],
    ['a?c', 'a.c', false],
    ['a?c', 'a😀c', true],
    ['*', 'a.b', false],
    ['*.*', 'a.b', true],
    ['**', 'a.b.c', true],
    ['a**c', 'ac', true],
    ['a***c', 'a.b.c', true],
    ['[abc]', 'b', true],
    ['[!a-c]', 'b', false],
    ['[!a-c]', 'd', true],
    ['[a-]', '-', true],
    ['[\\]]', ']', true],
    ['{eu,us}-*', 'us-1', true],
    ['{eu,us}-*', 'ap-1', false],
    ['{a,b{c,d}}e', 'bde', true],
    ['{,x}a', 'a', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a,b', 'a,b', true],
    ['A', 'a', false],
  ])('%j on %j: %s', (glob, text, expected) => {
    expect(matches(glob, text)).toBe(expected ? 'true' : 'false')
  })

  test.each(['[a', '[', '[]', '[z-a]', '{a', '{a,b', 'a\\', '[a\\'])('%j is none', glob => {
    expect(Glob.read(glob)).toBeTypeOf('string')
  })

  test('a glob that backtracking would take for ever for takes steps in proportion to the text', () => {
    expect(matches('*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(5_000))).toBe('false')
  })
})

describe('instants', () => {
  const at = (text: string) => readInstant(text)!
  test.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T02:00:00+02:00'],
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01t00:00:00z', '2025-12-31T16:00:00-08:00'],
    ['0001-01-01', '0001-01-01T00:00:00Z'],
    ['2026-06-30T23:59:60Z', '2026-07-01T00:00:00Z'],
    ['2026-01-01T00:00:00.12Z', '2026-01-01T00:00:00.120000000000000000000000Z'],
  ])('%s is %s', (left, right) => {
    expect(compareInstants(at(left), at(right))).toBe(0)
  })

  test.each([
    ['2026-01-01T00:00:00.9Z', '2026-01-01T00:00:00.10Z'],
    ['2026-01-01T00:00:00.0000000000000001Z', '2026-01-01T00:00:00Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59.4Z'],
    ['2024-02-29', '2024-02-28'],
  ])('%s is after %s', (left, right) => {
    expect(compareInstants(at(left), at(right))).toBeGreaterThan(0)
    expect(compareInstants(at(right), at(left))).toBeLessThan(0)
  })

  test.each([
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-00-01',
    '2026-1-1',
    '2026-01-01T24:00:00Z',
    '2026-01-01T10:60:00Z',
    '2026-01-01T10:00:61Z',
    '2026-01-01T10:00:00',
    '2026-01-01T10:00Z',
    '2026-01-01 10:00:00Z',
    '2026-01-01T10:00:00+25:00',
    '2026-01-01T10:00:00.Z',
    ' 2026-01-01',
    '2026-01-01\n',
    '',
    `2026-01-01T10:00:00.${'0'.repeat(300)}Z`,
  ])('%j is none', text => {
    expect(readInstant(text)).toBeNull()
  })
})

describe('merging', () => {
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
  ])('%s', (path, expected) => {
    expect(mergedValueAt(layers, path.split('.'))).toEqual(expected)
  })
})

describe('explaining', () => {
  const why = (raw: object, user: Record<string, unknown>) =>
    decisive(explain(read(raw), valuesOf({ user }), new EvaluationBudget()))

  test('names the first test that gave the condition its value, with what was found', () => {
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

  test('shows the whole tree', () => {
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
