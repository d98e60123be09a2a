/** Integers beyond 2^53: rejected operands, and parsing and writing of JSON. */
import { describe, expect, test } from 'vitest'
import { inexactIntegerIn, parsedJson, TooManyLongNumbersError } from '#model/text/json-numbers.ts'
import { compiledTruth, withTime } from '#testing/engines/compiled-conditions.ts'
import { truth, wrong } from './read.ts'

const NO_INSTANCES = () => undefined

test.each([
  ['{"equals":9007199254740993}', 9007199254740993n],
  ['{"not-equals":{"a":[1,-9007199254740993]}}', -9007199254740993n],
  ['{"less-than":9007199254740993}', 9007199254740993n],
  ['{"between":[0,9007199254740993]}', 9007199254740993n],
  ['{"in":[1,9007199254740993]}', 9007199254740993n],
  ['{"in":[{"ref":"user.b"},9007199254740993]}', 9007199254740993n],
  ['{"array_contains":9007199254740993}', 9007199254740993n],
  ['{"array_subset":[9007199254740993]}', 9007199254740993n],
  ['{"array_len_equals":9007199254740993}', 9007199254740993n],
])('the operand %s is rejected with its digits', (text, integer) => {
  expect(wrong({ 'user.a': parsedJson(text) })).toEqual([
    {
      at: expect.stringMatching(/^conditions \/ user\.a/),
      msg: expect.stringContaining(`got ${integer}: write`),
    },
  ])
})

/** Forms of integers. The first form has all digits. */
const FORMS = [
  ['9007199254740993', '9007199254740993.0', '9.007199254740993e15', '90071992547409930e-1'],
  ['9007199254740992', '9007199254740992.00', '9.007199254740992E+15', '900719925474099200e-2'],
  ['1152921504606847000', '1152921504606847e3', '1.152921504606847e18'],
  ['10000000000000000000000', '1e22', '1.0E22', '100e20'],
  ['100000000000000000000000', '1e23', '10.00e22', '1000e20'],
  ['99999999999999991611392', '9.9999999999999991611392e22', '99999999999999991611392.0'],
  ['1180591620717411303424', '1180591620717411303424.0'],
  ['1180591620717411300000', '1.1805916207174113e21'],
]

test('all notations of an integer are equal, except notations that are inexact', () => {
  const known = FORMS.map(forms => {
    const refused = forms.map(form => wrong({ 'user.a': { equals: parsedJson(form) } }).length)
    expect(new Set(refused).size, forms[0]).toBe(1)
    return refused[0] === 0
  })
  expect(known).toEqual([false, true, false, true, true, false, false, true])
  for (const [of, forms] of FORMS.entries()) {
    for (const [operandOf, operand] of FORMS.map(each => each[0]!).entries()) {
      if (!known[operandOf]) continue
      for (const form of forms) {
        const value = known[of] ? (of === operandOf ? 'true' : 'false') : 'unknown'
        const conditions = { 'user.a': { equals: parsedJson(operand) } }
        const roots = { user: { a: parsedJson(form) }, resource: {}, tenant: {}, context: {}, server: {} }
        expect(truth(conditions, roots), `${form} equals ${operand}`).toBe(value)
        for (const place of ['stored', 'sent', 'both'] as const) {
          const found = compiledTruth(conditions, withTime(roots), NO_INSTANCES, place)
          expect(found, `${form} equals ${operand}, ${place}`).toBe(value)
        }
      }
    }
  }
})

test('the length of a list is compared with an integer beyond 2^53 in every form', () => {
  const operators = {
    array_len_equals: 'false',
    array_len_greater_than: 'false',
    array_len_less_than: 'true',
  }
  for (const [operator, right] of Object.entries(operators)) {
    for (const [integer, expected] of [
      ['9007199254740992', right],
      ['1e22', right],
      ['9007199254740993', 'unknown'],
      ['1e400', 'unknown'],
    ] as const) {
      const number = parsedJson(integer)
      const roots = { user: { a: [1], n: number }, resource: {}, tenant: {}, context: {}, server: {} }
      const forms = [
        { [`${operator}_ref`]: 'user.n' },
        ...(expected === 'unknown' ? [] : [{ [operator]: number }]),
      ]
      for (const form of forms) {
        const conditions = { 'user.a': form }
        expect(truth(conditions, roots), `${operator} ${integer}`).toBe(expected)
        for (const place of ['stored', 'sent', 'both'] as const) {
          const found = compiledTruth(conditions, withTime(roots), NO_INSTANCES, place)
          expect(found, `${operator} ${integer}, ${place}`).toBe(expected)
        }
      }
    }
  }
})

test('an inexact operand within a match is rejected, and an exact one is accepted', () => {
  const match = { any_match: { match: { id: parsedJson('{"equals":9007199254740993}') } } }
  expect(wrong({ 'user.a': match })).toHaveLength(1)
  expect(wrong({ 'user.a': parsedJson('{"equals":9007199254740992}') })).toEqual([])
  expect(wrong({ 'user.a': parsedJson('{"less-than":1152921504606846976}') })).toEqual([])
})

describe('parsed JSON', () => {
  test.each([
    '9007199254740993',
    '[-9007199254740993,9007199254740992,9007199254740991]',
    '{"a":{"b":[12345678901234567890123456789012345678901234567890]}}',
    '{"__proto__":{"id":9007199254740993},"constructor":9007199254740995}',
    '{"text":"1: 9007199254740993","\\": 9007199254740993":"\\\\","n":[9007199254740993]}',
    '[1152921504606846976,0,1e+21,1.5,1e+300]',
    '"9007199254740993"',
  ])('%s is written unchanged', text => {
    expect(JSON.stringify(parsedJson(text))).toBe(text)
  })

  test.each([
    ['[9007199254740993.0,1.5e16]', '[9007199254740993,15000000000000000]'],
    ['[9.007199254740993e15,-90071992547409930e-1]', '[9007199254740993,-9007199254740993]'],
    ['[0.0000009007199254740993e22,900719925474099300000e-5]', '[9007199254740993,9007199254740993]'],
    ['[9007199254740992.5,9007199254740991.6]', '[9007199254740992,9007199254740992]'],
    ['[1.2345678901234568e20,12345678e13]', '[123456789012345680000,123456780000000000000]'],
    ['[1.00000000000000000000001e23,9.9e21]', '[100000000000000000000001,9.9e+21]'],
    ['[-0,1e0300,1E+10,0.1e1]', '[0,1e+300,10000000000,1]'],
    ['[1180591620717411303424.5,1.7976931348623157e308]', '[1.1805916207174113e+21,1.7976931348623157e+308]'],
    ['{"a":1, "a" :\t9007199254740993}', '{"a":9007199254740993}'],
  ])('%s is written as %s', (text, written) => {
    expect(JSON.stringify(parsedJson(text))).toBe(written)
    expect(JSON.stringify(parsedJson(written))).toBe(written)
  })

  test('can have numbers with very many digits or a very large exponent', () => {
    const zeros = '0'.repeat(100_000)
    const text = `[1${zeros}e-100000,0.${zeros}1e100001,9007199254740993${zeros}.0e-100000,9${zeros}.${zeros}1e-99984]`
    expect(parsedJson(text)).toEqual([1, 1, 9007199254740993n, 90000000000000000n])
    expect(parsedJson('[1e-999999999999,0e999999999999,-1e999999999999]')).toEqual([0, 0, -Infinity])
  })

  test.each([
    '[00012345678901234567]',
    '[12345678901234567.]',
    '[12345678901234567e]',
    '[1e300 1]',
    '["12345678901234567]',
    '12345678901234567 1',
    '[9007199254740993a]',
  ])('%s is rejected with the message of JSON.parse', text => {
    expect(() => parsedJson(text)).toThrow(SyntaxError)
    try {
      JSON.parse(text)
    } catch (error) {
      expect(() => parsedJson(text)).toThrow((error as Error).message)
    }
  })

  test('can have long numbers up to the limit', () => {
    expect(parsedJson('[9007199254740993,1,9007199254740993]', 2)).toHaveLength(3)
    expect(() => parsedJson('[9007199254740993,1e20,9007199254740993]', 2)).toThrow(TooManyLongNumbersError)
  })

  test('yields the first integer that no double represents', () => {
    expect(inexactIntegerIn(parsedJson('{"a":[1,9007199254740992,{"b":9007199254740995}]}'))).toBe(
      9007199254740995n,
    )
    expect(inexactIntegerIn(parsedJson('{"a":[1,9007199254740992,"9007199254740995"]}'))).toBeNull()
  })
})
