/** Conditions that are rejected when a client writes them, and the findings (conditions.md 3.4 and 11). */
import { describe, expect, test } from 'vitest'
import { findMisfits, type DeclaredType } from '#conditions/declared-types.ts'
import { DEPTH_MAX, LEAVES_MAX, OPERAND_ELEMENTS_MAX } from '#conditions/read-condition.ts'
import { CONDITION_BYTES_MAX } from '#model/limits.ts'
import { placed, read, wrong } from './read.ts'

const is = { equals: 1 }

describe('an empty or invalid condition', () => {
  test.each<[unknown, string, RegExp]>([
    [null, 'conditions', /expected an object of conditions, got null/u],
    [[], 'conditions', /got a list/u],
    ['true', 'conditions', /got a string/u],
    [{ age: is }, 'age', /expected an attribute such as user.department/u],
    [{ 'users.age': is }, 'users.age', /expected one of user, subject/u],
    [{ 'role.level': is }, 'role.level', /attributes of roles cannot be read/u],
    [{ 'server.host': is }, 'server.host', /server.time, the only attribute/u],
    [{ 'user.': is }, 'user.', /is empty/u],
    [{ 'user.a..b': is }, 'user.a..b', /is empty/u],
    [{ 'user.a\u0000': is }, 'user.a\u0000', /control characters/u],
    [{ 'user.a\u0085': is }, 'user.a\u0085', /control characters/u],
    [{ 'user.a': {} }, 'user.a', /without an operator/u],
    [{ 'user.a': 5 }, 'user.a', /expected a test .* got a number/u],
    [{ 'user.a': { equals: 1, in: [1] } }, 'user.a', /one comparison, got 2: combine them with allOf/u],
    [{ 'user.a': { is: 1 } }, 'user.a / is', /no operator "is"/u],
    [{ 'user.a': { Equals: 1 } }, 'user.a / Equals', /no operator/u],
    [{ 'user.x': { not: ['part-time'] } }, 'user.x / not / 0', /expected a test .* got a string/u],
    [
      { allOf: [{ anyOf: [{ 'user.a': { like: 1 } }] }] },
      'allOf / 0 / anyOf / 0 / user.a / like',
      /no operator/u,
    ],
    [{ allOf: ['user.a'] }, 'allOf / 0', /expected an object of conditions/u],
    [{ 'user.a': { equals: { ref: 'who.b' } } }, 'user.a / equals / ref', /expected one of user/u],
    [{ 'user.a': { equals: { ref: 5 } } }, 'user.a / equals / ref', /expected the path .* got a number/u],
    [{ 'user.a': { in: ['x', { ref: 'y' }] } }, 'user.a / in / 1 / ref', /expected an attribute/u],
    [{ 'user.a': { 'equals-ref': { x: 1 } } }, 'user.a / equals-ref', /expected the path/u],
    [{ 'user.a': { 'match-ref': 'user.b' } }, 'user.a / match-ref', /no operator/u],
    [{ 'user.a': { between: [1] } }, 'user.a / between', /expected two bounds/u],
    [{ 'user.a': { between: [1, 2, 3] } }, 'user.a / between', /expected two bounds/u],
    [{ 'user.a': { between: [2, 1] } }, 'user.a / between', /lower bound first, got 2 before 1$/u],
    [{ 'user.a': { between: ['2026-01-02', '2026-01-01'] } }, 'user.a / between', /the lower bound first/u],
    [{ 'user.a': { between: [1, '2026-01-01'] } }, 'user.a / between', /got a number and a time$/u],
    [{ 'user.a': { between: [1, 'x'] } }, 'user.a / between', /expected two bounds/u],
    [{ 'user.a': { between: '1,2' } }, 'user.a / between', /expected a list of values/u],
    [{ 'user.a': { in: 'a,b' } }, 'user.a / in', /expected a list of values, or a ref, got a string/u],
    [{ 'user.a': { array_subset: 'a' } }, 'user.a / array_subset', /expected a list/u],
    [{ 'user.a': { 'less-than': true } }, 'user.a / less-than', /got a bool/u],
    [{ 'user.a': { 'less-than': null } }, 'user.a / less-than', /got null/u],
    [{ 'user.a': { 'less-than': [1] } }, 'user.a / less-than', /got a list/u],
    [{ 'user.a': { 'less-than': { a: 1 } } }, 'user.a / less-than', /got an object/u],
    [{ 'user.a': { 'less-than': '17' } }, 'user.a / less-than', /RFC 3339/u],
    [{ 'user.a': { 'less-than': '17:00' } }, 'user.a / less-than', /RFC 3339/u],
    [{ 'user.a': { 'less-than': '2026-11-26T10:00:00' } }, 'user.a / less-than', /with its zone/u],
    [{ 'user.a': { contains: 5 } }, 'user.a / contains', /expected a string/u],
    [{ 'user.a': { array_len_equals: -1 } }, 'user.a / array_len_equals', /or a ref, got -1$/u],
    [{ 'user.a': { array_len_equals: 1.5 } }, 'user.a / array_len_equals', /non-negative integer/u],
    [{ 'user.a': { exists: 'yes' } }, 'user.a / exists', /expected true or false/u],
    [{ 'user.a': { match: 5 } }, 'user.a / match', /expected a glob/u],
    [{ 'user.a': { match: '[a' } }, 'user.a / match', /lacks the \]/u],
    [{ 'user.a': { object_match: { k: is } } }, 'user.a / object_match', /expected \{"match"/u],
    [{ 'user.a': { any_match: [] } }, 'user.a / any_match', /expected \{"match"/u],
    [{ 'user.a': { any_match: { match: { k: 1 } } } }, 'user.a / any_match / match / k', /expected a test/u],
    [{ 'user.a': { any_match: { match: {}, fk: 'x' } } }, 'user.a / any_match / fk', /nothing else/u],
    [
      { 'user.a': { any_match: { match: {}, fk_resource_type: 5 } } },
      'user.a / any_match / fk_resource_type',
      /key of a resource/u,
    ],
  ])('is rejected: %j', (raw, at, msg) => {
    const place = at === 'conditions' ? at : `conditions / ${at}`
    expect(wrong(raw)).toEqual([{ at: place, msg: expect.stringMatching(msg) }])
  })

  test('is rejected with a lookup within a lookup, but not with two lookups next to each other', () => {
    const lookup = (match: object) => ({ any_match: { match, fk_resource_type: 'folder' } })
    expect(wrong({ 'user.a': lookup({ b: lookup({}) }) })).toEqual([
      {
        at: 'conditions / user.a / any_match / match / b / any_match / fk_resource_type',
        msg: expect.stringMatching(/cannot contain another such match/u),
      },
    ])
    expect(wrong({ 'user.a': lookup({}), 'user.b': lookup({}) })).toEqual([])
    expect(wrong({ 'user.a': { any_match: { match: { b: lookup({}) } } } })).toEqual([])
  })

  test('is rejected with at most twenty findings', () => {
    const bad = (count: number) => ({ allOf: Array.from({ length: count }, () => ({ 'user.a': { is: 1 } })) })
    expect(wrong(bad(3))).toHaveLength(3)
    expect(wrong(bad(30))).toHaveLength(20)
  })
})

describe('a condition above a limit', () => {
  const tooDeep = /must not be nested deeper than 16 levels/u
  const repeated = (value: unknown, count: number): unknown[] => Array(count).fill(value)
  const nested = (depth: number): object => (depth === 1 ? { 'user.a': is } : { not: nested(depth - 1) })
  const nestedTest = (depth: number): object => (depth === 1 ? is : { not: nestedTest(depth - 1) })
  const nestedMatch = (depth: number): object =>
    depth === 1 ? is : { object_match: { match: { k: nestedMatch(depth - 1) } } }

  test.each<[string, (size: number) => object, number, RegExp]>([
    ['depth of nodes', nested, DEPTH_MAX, tooDeep],
    ['depth of tests', depth => ({ 'user.a': nestedTest(depth) }), DEPTH_MAX, tooDeep],
    ['depth of matches', depth => ({ 'user.a': nestedMatch(depth) }), DEPTH_MAX, tooDeep],
    ['tests', count => ({ allOf: repeated({ 'user.a': is }, count) }), LEAVES_MAX, /at most 1000 tests/u],
    [
      'elements',
      count => ({ 'user.a': { in: repeated(1, count) } }),
      OPERAND_ELEMENTS_MAX,
      /at most 10000 elements/u,
    ],
    [
      'bytes',
      bytes => ({ 'user.a': { equals: 'x'.repeat(bytes - '{"user.a":{"equals":""}}'.length) } }),
      CONDITION_BYTES_MAX,
      /at most 262144 bytes/u,
    ],
    ['bytes of a glob', bytes => ({ 'user.a': { match: 'x'.repeat(bytes) } }), 512, /at most 512 bytes/u],
    ['asterisks', count => ({ 'user.a': { match: '*'.repeat(count) } }), 16, /at most 16 asterisks/u],
    ['names of a path', count => ({ [`user${'.a'.repeat(count)}`]: is }), 8, /at most 8 names/u],
    ['bytes of a name', bytes => ({ [`user.${'x'.repeat(bytes)}`]: is }), 255, /at most 255 bytes/u],
  ])('is rejected: %s', (_, raw, max, msg) => {
    expect(wrong(raw(max - 1))).toEqual([])
    expect(wrong(raw(max))).toEqual([])
    expect(wrong(raw(max + 1))).toEqual([{ at: expect.any(String), msg: expect.stringMatching(msg) }])
  })
})

describe('the declared type of an attribute', () => {
  const lookup = { match: {}, fk_resource_type: 'folder' }
  test.each<[DeclaredType, object]>([
    ['string', { equals: ['private'] }],
    ['number', { 'not-equals': [1] }],
    ['bool', { equals: [{ ref: 'user.b' }] }],
    ['bool', { 'less-than': 5 }],
    ['json', { between: [1, 2] }],
    ['array', { 'greater-than': 5 }],
    ['number', { contains: '5' }],
    ['array', { contains: 'a' }],
    ['number', { match: '*' }],
    ['string', { array_contains: 'a' }],
    ['time', { array_subset: ['a'] }],
    ['object', { array_len_equals: 1 }],
    ['array', { object_match: { match: {} } }],
    ['object', { any_match: { match: {} } }],
    ['number', { object_match: lookup }],
  ])('is used to reject a test that never matches values of type %s: %j', (type, raw) => {
    const misfits = findMisfits(read({ not: [{ 'user.a': { allOf: [raw] } }] }), () => type)
    const operator = Object.keys(raw)[0]
    expect(misfits.map(placed)).toEqual([
      {
        at: `conditions / not / 0 / user.a / allOf / 0 / ${operator}`,
        msg: `${operator} never matches user.a, which is declared as ${type}`,
      },
    ])
    expect(findMisfits(read({ 'user.a': raw }), () => null)).toEqual([])
    // Only the type of the whole attribute is declared.
    expect(findMisfits(read({ 'user.a.b': raw }), () => type)).toEqual([])
  })

  test.each<[DeclaredType, object]>([
    ['array', { equals: ['private'] }],
    ['string', { in: ['private'] }],
    ['time', { 'less-than': '2026-01-01' }],
    ['number', { between: [1, 2] }],
    ['json', { array_contains: 'a' }],
    ['object_array', { any_match: { match: {} } }],
    ['object', { object_match: { match: {} } }],
    ['string', { object_match: lookup }],
    ['bool', { exists: false }],
  ])('is used to accept a test that can match values of type %s: %j', (type, raw) => {
    expect(findMisfits(read({ 'user.a': raw }), () => type)).toEqual([])
  })
})
