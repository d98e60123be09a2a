/** The tables of conditions.md 5: values of tests of one attribute, for each implementation. */
import { parsedJson } from '#model/text/json-numbers.ts'
import type { JsonObject, Roots } from '#testing/oracle/conditions/roots.ts'
import type { Truth } from '#testing/oracle/conditions/truth.ts'

export interface TableCase {
  /** `MISSING` if the attribute is missing. */
  readonly attribute: unknown
  readonly test: JsonObject
  readonly value: Truth
  /** Attributes of the context, from which refs read. */
  readonly context: JsonObject
}

export const MISSING = Symbol('missing')

/** Instances of type `doc` that keys in an attribute can name. */
export const STORED: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['open', { state: 'open', pages: 3 }],
  ['closed', { state: 'closed' }],
  ['bare', {}],
])

export const NO_ROOTS: Roots = { user: {}, resource: {}, tenant: {}, context: {}, server: {} }

/** Condition and roots of a case: the attribute is `user.a`. */
export function questionOf({ attribute, test, context }: TableCase): {
  conditions: JsonObject
  roots: Roots
} {
  const user = attribute === MISSING ? {} : { a: attribute }
  return { conditions: { 'user.a': test }, roots: { ...NO_ROOTS, user, context } }
}

export function titleOf({ attribute, test, value, context }: TableCase): string {
  const left = attribute === MISSING ? 'missing' : JSON.stringify(attribute)
  const refs = Object.keys(context).length > 0 ? ` where context is ${JSON.stringify(context)}` : ''
  return `${left} ${JSON.stringify(test)} is ${value}${refs}`
}

type Row = readonly [attribute: unknown, test: JsonObject, value: Truth, context?: JsonObject]

const T = 'true'
const F = 'false'
const U = 'unknown'

const toRef = { ref: 'context.x' }
/** Parses JSON like a request, so that `__proto__` is a name like any other. */
const fromText = (text: string): unknown => parsedJson(text)
/** An integer that a parser with doubles would round to 2^53. */
const INEXACT = fromText('9007199254740993')
const EXACT = fromText('9007199254740992')
const withK = (test: JsonObject): JsonObject => ({ match: { k: test } })
const k = withK({ equals: 1 })
const onDoc = (match: JsonObject): JsonObject => ({ match, fk_resource_type: 'doc' })
const isOpen = onDoc({ state: { equals: 'open' } })

const MISSING_AND_NULL: readonly Row[] = [
  [MISSING, { equals: null }, U],
  [MISSING, { 'not-equals': null }, U],
  [MISSING, { equals: 'x' }, U],
  [MISSING, { 'not-equals': 'x' }, U],
  [MISSING, { 'less-than': 5 }, U],
  [MISSING, { 'greater-than-equals': 5 }, U],
  [MISSING, { between: [1, 5] }, U],
  [MISSING, { contains: '' }, U],
  [MISSING, { match: '**' }, U],
  [MISSING, { in: [null] }, U],
  [MISSING, { in: [] }, U],
  [MISSING, { array_contains: 'x' }, U],
  [MISSING, { array_subset: ['x'] }, U],
  [MISSING, { array_superset: [] }, U],
  [MISSING, { array_intersect: [] }, U],
  [MISSING, { array_len_equals: 0 }, U],
  [MISSING, { object_match: { match: {} } }, U],
  [MISSING, { any_match: k }, U],
  [MISSING, { all_match: k }, U],
  [MISSING, { exists: true }, F],
  [MISSING, { exists: false }, T],
  [null, { equals: null }, T],
  [null, { 'not-equals': null }, F],
  [null, { equals: 'x' }, F],
  [null, { 'not-equals': 'x' }, T],
  [null, { 'less-than': 5 }, U],
  [null, { between: [1, 5] }, U],
  [null, { contains: '' }, U],
  [null, { match: '**' }, U],
  [null, { in: ['x', null] }, T],
  [null, { in: ['x', 'null', 0, false] }, F],
  [null, { array_contains: null }, U],
  [null, { array_subset: [null] }, U],
  [null, { array_superset: [] }, U],
  [null, { array_intersect: [null] }, U],
  [null, { array_len_equals: 0 }, U],
  [null, { object_match: { match: {} } }, U],
  [null, { any_match: k }, U],
  [null, { all_match: k }, U],
  [null, { exists: true }, T],
  [null, { exists: false }, F],
  ['x', { equals: null }, F],
  ['x', { 'not-equals': null }, T],
  ['x', { exists: true }, T],
  ['x', { exists: false }, F],
  // Refs.
  ['x', { equals: toRef }, U],
  ['x', { 'not-equals': toRef }, U],
  [null, { equals: toRef }, T, { x: null }],
  ['x', { equals: toRef }, F, { x: null }],
  [5, { 'less-than': toRef }, U, { x: null }],
  ['a', { in: ['a', toRef] }, U],
  ['a', { in: ['a', toRef] }, T, { x: null }],
  [['a'], { array_subset: ['a', toRef] }, U],
  [['a'], { equals: ['a', toRef] }, U],
  [20, { between: [toRef, 18] }, U],
]

const SCALARS = [true, false, 0, 1, -1, 1.5, 2 ** 53, null]
const STRINGS = ['', '0', '1', 'true', 'null', 'x', 'X', ' x', '\u00e9', 'e\u0301', '😀', '\ud83d', '\ude00']
const TIMES = ['2026-01-01T00:00:00Z', '2026-01-01T02:00:00+02:00']
const ARRAYS = [[], [1], [1, 2], [2, 1], [1, 1], ['1'], [[1]], [null], [{}]]
const PLAIN_OBJECTS = [{}, { x: 1 }, { x: 1, y: 2 }, { x: 2, y: 1 }, { x: null }, { x: { y: 1 } }, { 0: 1 }]
const ODD_NAMES: readonly object[] = [{ length: 0 }, { constructor: {} }, { toString: 1 }]
const PROTOTYPES = ['{"__proto__": {}}', '{"__proto__": {"x": 1}}', '{"__proto__": null}'].map(fromText)
/** Values of which each is equal only to itself. */
const UNEQUAL: readonly unknown[] = [
  ...SCALARS,
  ...STRINGS,
  ...TIMES,
  ...ARRAYS,
  ...PLAIN_OBJECTS,
  ...ODD_NAMES,
  ...PROTOTYPES,
]

const EQUALITY: readonly Row[] = [
  ...UNEQUAL.flatMap((left, at) =>
    UNEQUAL.flatMap((right, other): Row[] => [
      [left, { equals: structuredClone(right) }, at === other ? T : F],
      [left, { 'not-equals': toRef }, at === other ? F : T, { x: right }],
    ]),
  ),
  [1, { equals: fromText('1.0') }, T],
  [1, { equals: fromText('1e0') }, T],
  [0, { equals: -0 }, T],
  [[-0], { equals: [0] }, T],
  ...[EXACT, 2 ** 53].flatMap((other): Row[] => [
    [INEXACT, { equals: other }, U],
    [INEXACT, { 'not-equals': other }, U],
    [other, { equals: toRef }, U, { x: INEXACT }],
    [INEXACT, { equals: toRef }, U, { x: INEXACT }],
    [other, { equals: EXACT }, T],
    [{ a: [other] }, { equals: { a: [2 ** 53] } }, T],
    [{ a: [INEXACT] }, { equals: { a: [other] } }, U],
    [{ a: [INEXACT] }, { 'not-equals': { a: [other] } }, U],
  ]),
  [INEXACT, { equals: 'x' }, U],
  [INEXACT, { exists: true }, T],
  [INEXACT, { exists: false }, F],
  [[INEXACT], { equals: 1 }, F],
  [fromText('1e400'), { equals: 1 }, U],
  [fromText('9007199254740993.0'), { equals: EXACT }, U],
  [fromText('9.007199254740993e15'), { equals: EXACT }, U],
  [fromText('9007199254740992.0'), { equals: EXACT }, T],
  [fromText('9007199254740992.5'), { equals: EXACT }, T],
  [fromText('1.2345678901234568e20'), { equals: 1.2345678901234568e20 }, U],
  [fromText('1e23'), { equals: 1e23 }, T],
  [fromText('100000000000000000000000'), { equals: 1e23 }, T],
  [fromText('99999999999999991611392'), { equals: 1e23 }, U],
  [{ x: 1, y: [{ z: 2 }] }, { equals: { y: [{ z: 2 }], x: 1 } }, T],
  // An element of an array can be a ref. At deeper levels, refs are literal values.
  [['a', 'b'], { equals: ['a', toRef] }, T, { x: 'b' }],
  [['a', ['b']], { equals: ['a', [toRef]] }, F, { x: 'b' }],
  [[[toRef]], { equals: [[toRef]] }, T, { x: 'b' }],
  [{ y: toRef }, { equals: { y: toRef } }, T, { x: 'b' }],
  [{ ref: 'context.x', y: 1 }, { equals: { ref: 'context.x', y: 1 } }, T],
  // If the value that a ref reads has the form of a ref, this value is literal.
  [{ ref: 'context.y' }, { equals: toRef }, T, { x: { ref: 'context.y' }, y: 1 }],
  [[{ ref: 'context.y' }], { equals: toRef }, T, { x: [{ ref: 'context.y' }], y: 1 }],
]

const MIDNIGHT = '2026-11-26T00:00:00Z'
const ONE_INSTANT = [
  '2026-11-26',
  '2026-11-26t00:00:00z',
  '2026-11-26T00:00:00.000Z',
  '2026-11-26T00:00:00+00:00',
  '2026-11-26T00:00:00-00:00',
  '2026-11-26T02:00:00+02:00',
  '2026-11-25T20:30:00-03:30',
  '2026-11-26T23:59:00+23:59',
  '2026-11-25T23:59:60Z',
  '2026-11-25T22:59:60-01:00',
]
/** Instants in ascending order. */
const INSTANTS_IN_ORDER = [
  '0000-01-01',
  '0000-02-29T23:59:59Z',
  '0000-03-01',
  '0001-01-01',
  '0099-12-31',
  '1900-02-28',
  '1900-03-01',
  '1969-12-31T23:59:59.9999999999Z',
  '1970-01-01',
  '2000-02-29',
  '2024-02-29T23:59:59Z',
  '2024-02-29T23:59:59.5Z',
  '2024-03-01',
  MIDNIGHT,
  '2026-11-26T00:00:00.0000000000000000001Z',
  '2026-11-26T00:00:00.00000000000000000011Z',
  '2026-11-26T00:00:00.1Z',
  '2026-11-26T00:00:00.12Z',
  '2026-11-26T00:00:00.2Z',
  '2026-11-26T00:00:59.999Z',
  '2026-11-26T00:01:00Z',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:59-23:59',
]
const NO_INSTANTS = [
  '',
  'soon',
  '17',
  '17:00',
  '2026',
  '2026-11',
  '2026-1-1',
  '2026-02-29',
  '2026-02-30',
  '1900-02-29',
  '2026-04-31',
  '2026-00-10',
  '2026-13-10',
  '2026-11-00',
  '2026-11-26T10:00:00',
  '2026-11-26T10:00Z',
  '2026-11-26 10:00:00Z',
  '2026-11-26T24:00:00Z',
  '2026-11-26T10:60:00Z',
  '2026-11-26T10:00:61Z',
  '2026-11-26T10:00:00.Z',
  '2026-11-26T10:00:00,5Z',
  '2026-11-26T10:00:00+0200',
  '2026-11-26T10:00:00+02',
  '2026-11-26T10:00:00+24:00',
  '2026-11-26T10:00:00+02:60',
  '2026-11-26Z',
  '+2026-11-26',
  '-2026-11-26',
  '12026-11-26',
  ' 2026-11-26',
  '2026-11-26\n',
  '٢٠٢٦-11-26',
]

const ORDERINGS: readonly Row[] = [
  [17, { 'less-than': 17 }, F],
  [17, { 'less-than-equals': 17 }, T],
  [17, { 'greater-than': 17 }, F],
  [17, { 'greater-than-equals': 17 }, T],
  [16, { 'less-than': 17 }, T],
  [16, { 'less-than-equals': 17 }, T],
  [16, { 'greater-than': 17 }, F],
  [16, { 'greater-than-equals': 17 }, F],
  [-0, { 'less-than': 0 }, F],
  [9, { 'less-than': 17 }, T],
  [5e-324, { 'greater-than': 0 }, T],
  [INEXACT, { 'greater-than': 0 }, U],
  [2 ** 53, { 'less-than': toRef }, U, { x: INEXACT }],
  [EXACT, { 'less-than': 2 ** 53 + 2 }, T],
  [EXACT, { between: [2 ** 53, 2 ** 53] }, T],
  [INEXACT, { between: [0, 2 ** 60] }, U],
  [17, { 'less-than': toRef }, T, { x: 18 }],
  ...ONE_INSTANT.flatMap((text): Row[] => [
    [MIDNIGHT, { 'less-than-equals': text }, T],
    [MIDNIGHT, { 'greater-than-equals': text }, T],
    [text, { 'less-than': MIDNIGHT }, F],
    [text, { 'greater-than': MIDNIGHT }, F],
  ]),
  ...INSTANTS_IN_ORDER.slice(1).flatMap((later, index): Row[] => {
    const earlier = INSTANTS_IN_ORDER[index]!
    return [
      [earlier, { 'less-than': later }, T],
      [later, { 'less-than-equals': earlier }, F],
      [later, { 'greater-than': earlier }, T],
      [earlier, { 'greater-than-equals': later }, F],
    ]
  }),
  ...NO_INSTANTS.flatMap((text): Row[] => [
    [text, { 'less-than': MIDNIGHT }, U],
    [MIDNIGHT, { 'greater-than-equals': toRef }, U, { x: text }],
    [text, { 'less-than-equals': toRef }, U, { x: text }],
  ]),
  [5, { 'less-than': MIDNIGHT }, U],
  ['5', { 'less-than': 17 }, U],
  [MIDNIGHT, { 'greater-than': 17 }, U],
  ...[true, [], [5], {}, null].flatMap((other): Row[] => [
    [other, { 'less-than': 5 }, U],
    [other, { 'greater-than': MIDNIGHT }, U],
    [5, { 'less-than-equals': toRef }, U, { x: other }],
    [MIDNIGHT, { 'greater-than-equals': toRef }, U, { x: other }],
    [other, { 'less-than-equals': toRef }, U, { x: other }],
  ]),
  [15, { between: [15, 18] }, T],
  [18, { between: [15, 18] }, T],
  [16.5, { between: [15, 18] }, T],
  [14.9, { between: [15, 18] }, F],
  [18.5, { between: [15, 18] }, F],
  ['16', { between: [15, 18] }, U],
  [MIDNIGHT, { between: ['2026-11-26', '2026-11-26'] }, T],
  ['2026-11-27', { between: ['2026-11-25', '2026-11-26'] }, F],
  ['soon', { between: ['2026-11-25', '2026-11-26'] }, U],
  [16, { between: [toRef, 18] }, T, { x: 15 }],
  [16, { between: [15, toRef] }, F, { x: 15 }],
  // The value is false if one comparison is false, even if the other bound is unknown.
  [16, { between: [toRef, 18] }, U, { x: 'a' }],
  [20, { between: [toRef, 18] }, F, { x: 'a' }],
]

const MEMBERSHIP: readonly Row[] = [
  [['a', 'b'], { array_contains: 'b' }, T],
  [['a', 'b'], { array_contains: 'c' }, F],
  [['1'], { array_contains: 1 }, F],
  [[[1]], { array_contains: [1] }, T],
  [[{ x: 1 }], { array_contains: { x: 1 } }, T],
  [[{ x: 1, y: 2 }], { array_contains: { x: 1 } }, F],
  [[null], { array_contains: null }, T],
  [['a'], { array_contains: toRef }, T, { x: 'a' }],
  ['b', { array_contains: 'b' }, U],
  [{ b: 1 }, { array_contains: 'b' }, U],
  [[], { array_contains: 'b' }, F],

  [['a', 'a'], { array_subset: ['b', 'a'] }, T],
  [['a', 'c'], { array_subset: ['a', 'b'] }, F],
  ['a', { array_subset: ['a'] }, U],
  [['a'], { array_subset: toRef }, U, { x: 'a' }],
  [['a'], { array_subset: toRef }, T, { x: ['a', 'b'] }],
  [[], { array_subset: ['a'] }, T],
  [[], { array_subset: [] }, T],
  [['a'], { array_subset: [] }, F],

  [['b', 'a'], { array_superset: ['a', 'a'] }, T],
  [['a'], { array_superset: ['a', 'b'] }, F],
  ['a', { array_superset: ['a'] }, U],
  ['a', { array_superset: [] }, U],
  [['a'], { array_superset: toRef }, U, { x: {} }],
  [[], { array_superset: ['a'] }, F],
  [[], { array_superset: [] }, T],
  [['a'], { array_superset: [] }, T],

  [['a', 'b'], { array_intersect: ['z', 'b'] }, T],
  [['a'], { array_intersect: ['b'] }, F],
  ['a', { array_intersect: ['a'] }, U],
  [['a'], { array_intersect: toRef }, U, { x: 5 }],
  [[], { array_intersect: ['a'] }, F],
  [['a'], { array_intersect: [] }, F],
  [['a'], { array_intersect: [toRef] }, T, { x: 'a' }],

  [['a', 'b'], { array_len_equals: 2 }, T],
  [['a', 'b'], { array_len_equals: 1 }, F],
  [['a', 'b'], { array_len_greater_than: 1 }, T],
  [['a', 'b'], { array_len_greater_than: 2 }, F],
  [['a', 'b'], { array_len_less_than: 3 }, T],
  [['a', 'b'], { array_len_less_than: 2 }, F],
  [[], { array_len_equals: 0 }, T],
  [[], { array_len_less_than: 0 }, F],
  ['ab', { array_len_equals: 2 }, U],
  [{ length: 2 }, { array_len_equals: 2 }, U],
  [['a', 'b'], { array_len_equals: toRef }, T, { x: 2 }],
  [['a', 'b'], { array_len_equals: toRef }, U, { x: '2' }],

  ['b', { in: ['a', 'b'] }, T],
  ['c', { in: ['a', 'b'] }, F],
  [1, { in: ['1', true] }, F],
  [0, { in: [-0] }, T],
  [['a', 'b'], { in: [['a', 'b']] }, T],
  [['a', 'b'], { in: ['a', 'b'] }, F],
  [{ x: 1 }, { in: [{ x: 1 }] }, T],
  ['a', { in: toRef }, T, { x: ['a'] }],
  ['a', { in: toRef }, U, { x: 'a' }],
  ['a', { in: toRef }, U, { x: { a: 1 } }],
  ['b', { in: ['a', toRef] }, T, { x: 'b' }],
  [['b'], { in: ['a', toRef] }, T, { x: ['b'] }],
  [[], { in: [[]] }, T],
  [[], { in: ['a'] }, F],
  ['a', { in: [] }, F],
  [[], { in: [] }, F],
]

const TEXTS: readonly Row[] = [
  ['abc', { contains: 'b' }, T],
  ['abc', { contains: 'abc' }, T],
  ['abc', { contains: 'abcd' }, F],
  ['abc', { contains: 'ac' }, F],
  ['abc', { contains: 'B' }, F],
  ['abc', { contains: '' }, T],
  ['', { contains: '' }, T],
  ['', { contains: 'a' }, F],
  ['aab', { contains: 'ab' }, T],
  ['a😀b', { contains: '😀' }, T],
  ['a😀b', { contains: '\ud83d' }, F],
  ['a😀b', { contains: '\ude00' }, F],
  ['a\ud83d', { contains: '\ud83d' }, T],
  ['e\u0301', { contains: '\u00e9' }, F],
  ['abc', { contains: toRef }, T, { x: 'bc' }],
  ['abc', { contains: toRef }, U, { x: 5 }],
  ['abc', { contains: toRef }, U, { x: null }],
  ...[['b'], 5, true, {}].map((other): Row => [other, { contains: 'b' }, U]),

  ...[5, true, ['a'], {}].map((other): Row => [other, { match: '**' }, U]),
  ['john@example.org', { match: '*@example.org' }, T],
  ['john.smith@example.org', { match: '*@example.org' }, F],
  ['john.smith@example.org', { match: '**@example.org' }, T],
  ['eu-west-1', { match: 'eu-*' }, T],
  ['', { match: '' }, T],
  ['a', { match: '' }, F],
  ['', { match: '*' }, T],
  ['', { match: '?' }, F],
  ['abc', { match: 'b' }, F],
  ['abc', { match: 'ABC' }, F],
  ['abab', { match: '*ab' }, T],
  ['a.b', { match: 'a*b' }, F],
  ['a.b', { match: 'a**b' }, T],
  ['a.b.c', { match: '*.*.*' }, T],
  ['a.b', { match: 'a?b' }, F],
  ['a-b', { match: 'a?b' }, T],
  ['a\nb', { match: 'a?b' }, T],
  ['😀', { match: '?' }, T],
  ['😀', { match: '??' }, F],
  ['😁', { match: '[😀-😂]' }, T],
  ['\ud83d', { match: '[😀-😂]' }, F],
  ['b', { match: '[abc]' }, T],
  ['d', { match: '[abc]' }, F],
  ['', { match: '[abc]' }, F],
  ['b', { match: '[a-c]' }, T],
  ['-', { match: '[a-c]' }, F],
  ['-', { match: '[a-]' }, T],
  ['-', { match: '[a\\-c]' }, T],
  ['b', { match: '[a\\-c]' }, F],
  ['b', { match: '[!abc]' }, F],
  ['d', { match: '[!abc]' }, T],
  ['D', { match: '[!a-z]' }, T],
  ['', { match: '[!a]' }, F],
  ['.', { match: '[!a]' }, T],
  ['.', { match: '[.]' }, T],
  ['*', { match: '[*]' }, T],
  ['a', { match: '[*]' }, F],
  [']', { match: '[\\]]' }, T],
  ['x', { match: '{x,y}' }, T],
  ['y', { match: '{x,y}' }, T],
  ['z', { match: '{x,y}' }, F],
  ['x,y', { match: '{x,y}' }, F],
  ['a', { match: 'a{,b}' }, T],
  ['ab', { match: 'a{,b}' }, T],
  ['a.b', { match: '{x,*}.b' }, T],
  ['bc', { match: '{a,{b,c}c}' }, T],
  [',', { match: '{\\,,a}' }, T],
  ['}', { match: '{[}],a}' }, T],
  ['a,b', { match: 'a,b' }, T],
  ['*', { match: '\\*' }, T],
  ['a', { match: '\\*' }, F],
  ['{a}', { match: '\\{a\\}' }, T],
  ['\\', { match: '\\\\' }, T],
  ['(a+)', { match: '(a+)' }, T],
  ['a'.repeat(60), { match: '{a,a}'.repeat(60) }, T],
  ['a'.repeat(60), { match: `${'*a'.repeat(16)}b` }, F],
]

const OBJECTS: readonly Row[] = [
  ...['x', 5, true, null, [{ k: 1 }]].map((other): Row => [other, { object_match: k }, U]),
  [{}, { object_match: k }, U],
  [{}, { object_match: withK({ exists: false }) }, T],
  [{}, { object_match: withK({ exists: true }) }, F],
  [{ k: 1 }, { object_match: k }, T],
  [{ k: 2 }, { object_match: k }, F],
  [{ k: 2 }, { object_match: { match: { k: { equals: 1 }, l: { equals: 1 } } } }, F],
  [{ k: 1 }, { object_match: { match: { k: { equals: 1 }, l: { equals: 1 } } } }, U],
  [{ k: 1 }, { object_match: withK({ anyOf: [{ equals: 1 }, { equals: 2 }] }) }, T],
  [{ k: 1 }, { object_match: withK({ not: { equals: 1 } }) }, F],
  [{ k: { l: 1 } }, { object_match: withK({ object_match: { match: { l: { equals: 1 } } } }) }, T],
  // For names with dots, the longest own name of the object takes precedence.
  [{ k: { l: 1 } }, { object_match: { match: { 'k.l': { equals: 1 } } } }, T],
  [{ 'k.l': 2, k: { l: 1 } }, { object_match: { match: { 'k.l': { equals: 1 } } } }, F],
  [{ k: { 'l.m': 1 } }, { object_match: { match: { 'k.l.m': { equals: 1 } } } }, U],
  [fromText('{"__proto__": 1}'), { object_match: fromText('{"match": {"__proto__": {"equals": 1}}}') }, T],
  [{}, { object_match: { match: { toString: { exists: true } } } }, F],
  // Refs begin at the roots, never at the object.
  [{ k: 1, x: 2 }, { object_match: withK({ equals: toRef }) }, T, { x: 1 }],
  [{ k: 1, x: 1 }, { object_match: withK({ equals: toRef }) }, U],

  ...['x', 5, true, null, { k: 1 }].map((other): Row => [other, { any_match: k }, U]),
  [[], { any_match: k }, F],
  [[{ k: 2 }, { k: 1 }], { any_match: k }, T],
  [[{ k: 2 }, { k: 3 }], { any_match: k }, F],
  [[{ k: 2 }, {}], { any_match: k }, U],
  [[{ k: 1 }, {}], { any_match: k }, T],
  [['x', { k: 1 }], { any_match: k }, T],
  [['x', { k: 2 }], { any_match: k }, U],
  [['x'], { any_match: withK({ exists: false }) }, U],
  [[{}], { any_match: withK({ exists: false }) }, T],
  // All tests must match the same element.
  [
    [
      { k: 1, l: 2 },
      { k: 2, l: 1 },
    ],
    { any_match: { match: { k: { equals: 1 }, l: { equals: 1 } } } },
    F,
  ],

  ...['x', 5, true, null, { k: 1 }].map((other): Row => [other, { all_match: k }, U]),
  [[], { all_match: k }, T],
  [[{ k: 1 }, { k: 1 }], { all_match: k }, T],
  [[{ k: 1 }, { k: 2 }], { all_match: k }, F],
  [[{ k: 1 }, {}], { all_match: k }, U],
  [[{ k: 2 }, {}], { all_match: k }, F],
  [['x', { k: 1 }], { all_match: k }, U],
  [['x', { k: 2 }], { all_match: k }, F],
  [[null], { all_match: withK({ exists: false }) }, U],

  ['open', { object_match: isOpen }, T],
  ['closed', { object_match: isOpen }, F],
  ['bare', { object_match: isOpen }, U],
  ['nobody', { object_match: isOpen }, U],
  ['constructor', { object_match: isOpen }, U],
  ['bare', { object_match: onDoc({ state: { exists: false } }) }, T],
  ['nobody', { object_match: onDoc({ state: { exists: false } }) }, U],
  ['open', { object_match: { ...isOpen, fk_resource_type: 'page' } }, U],
  ['open', { object_match: onDoc({ pages: { 'greater-than': toRef } }) }, T, { x: 2 }],
  ...[5, null, ['open'], { state: 'open' }].map((other): Row => [other, { object_match: isOpen }, U]),
  [['closed', 'open'], { any_match: isOpen }, T],
  [['closed', 'nobody'], { any_match: isOpen }, U],
  [['closed', { state: 'open' }], { any_match: isOpen }, U],
  [['closed'], { any_match: isOpen }, F],
  ['open', { any_match: isOpen }, U],
  [[], { any_match: isOpen }, F],
  [['open', 'closed'], { all_match: isOpen }, F],
  [['open', 'nobody'], { all_match: isOpen }, U],
  [['open', 'open'], { all_match: isOpen }, T],
  [[], { all_match: isOpen }, T],
  // Without a type, a key is not an object.
  [['open'], { any_match: { match: { state: { equals: 'open' } } } }, U],
]

const LONG_INTEGERS: readonly Row[] = [
  [[INEXACT, 1], { array_contains: 1 }, T],
  [[INEXACT], { array_contains: 2 ** 53 }, U],
  [[INEXACT], { array_contains: 'x' }, U],
  [[1], { array_contains: toRef }, U, { x: INEXACT }],
  [[EXACT], { array_contains: 2 ** 53 }, T],
  [[[INEXACT]], { array_contains: [1] }, U],
  [[[INEXACT]], { array_contains: 1 }, F],
  [INEXACT, { in: [1] }, U],
  [INEXACT, { in: [] }, U],
  [1, { in: [1, toRef] }, T, { x: INEXACT }],
  [2, { in: [1, toRef] }, U, { x: INEXACT }],
  [EXACT, { in: [2 ** 53] }, T],
  [[INEXACT], { array_subset: [] }, F],
  [[INEXACT], { array_subset: [1] }, U],
  [[INEXACT, 2], { array_subset: [1] }, F],
  [[INEXACT, 1], { array_superset: [1] }, T],
  [[INEXACT], { array_superset: [1] }, U],
  [[INEXACT, 1], { array_intersect: [1] }, T],
  [[INEXACT], { array_intersect: [1] }, U],
  [[{ x: INEXACT }], { array_intersect: [{ x: 1 }] }, U],
  [[{ x: INEXACT }], { array_intersect: [1] }, F],
  [[INEXACT], { array_len_equals: 1 }, T],
  [[{ k: INEXACT }], { any_match: k }, U],
  [[{ k: INEXACT }, { k: 1 }], { any_match: k }, T],
  [{ k: EXACT }, { object_match: withK({ equals: 2 ** 53 }) }, T],
  [INEXACT, { contains: '9' }, U],
  [INEXACT, { match: '*' }, U],
]

export const TABLES: readonly { readonly about: string; readonly cases: readonly TableCase[] }[] = [
  { about: 'missing, null (5.2)', rows: MISSING_AND_NULL },
  { about: 'equals, not-equals (5.3)', rows: EQUALITY },
  { about: 'orderings, between (5.4)', rows: ORDERINGS },
  { about: 'membership (5.5)', rows: MEMBERSHIP },
  { about: 'contains, match (5.6)', rows: TEXTS },
  { about: 'object_match, any_match, all_match (5.7)', rows: OBJECTS },
  { about: 'integers beyond 2^53 that no double represents', rows: LONG_INTEGERS },
].map(({ about, rows }) => ({
  about,
  cases: rows.map(([attribute, test, value, context = {}]) => ({ attribute, test, value, context })),
}))
