/** Integers beyond 2^53: operands that are refused, and how JSON with them is read and written. */
import { describe, expect, test } from 'vitest'
import { inexactIntegerIn, parsedJson, TooManyLongNumbersError } from '#model/json-numbers.ts'
import { wrong } from './read.ts'

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
])('the operand %s is refused with its digits', (text, integer) => {
  expect(wrong({ 'user.a': parsedJson(text) })).toEqual([
    {
      at: expect.stringMatching(/^conditions \/ user\.a/),
      msg: expect.stringContaining(`got ${integer}: write`),
    },
  ])
})

test('an operand within a match is refused, and one that a double represents is accepted', () => {
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
  ])('%s is written again as it was', text => {
    expect(JSON.stringify(parsedJson(text))).toBe(text)
  })

  test.each([
    ['[9007199254740993.0,1.5e16]', '[9007199254740992,15000000000000000]'],
    ['[1.2345678901234568e20,12345678e13]', '[123456789012345683968,123456780000000000000]'],
    ['[-0,1e0300,1E+10,0.1e1]', '[0,1e+300,10000000000,1]'],
    ['{"a":1, "a" :\t9007199254740993}', '{"a":9007199254740993}'],
  ])('%s is written as %s', (text, written) => {
    expect(JSON.stringify(parsedJson(text))).toBe(written)
    expect(JSON.stringify(parsedJson(written))).toBe(written)
  })

  test.each([
    '[00012345678901234567]',
    '[12345678901234567.]',
    '[12345678901234567e]',
    '[1e300 1]',
    '["12345678901234567]',
    '12345678901234567 1',
    '[9007199254740993a]',
  ])('%s is refused as before', text => {
    expect(() => parsedJson(text)).toThrow(SyntaxError)
    try {
      JSON.parse(text)
    } catch (error) {
      expect(() => parsedJson(text)).toThrow((error as Error).message)
    }
  })

  test('has at most as many long numbers as it may', () => {
    expect(parsedJson('[9007199254740993,1,9007199254740993]', 2)).toHaveLength(3)
    expect(() => parsedJson('[9007199254740993,1e20,9007199254740993]', 2)).toThrow(TooManyLongNumbersError)
  })

  test('tells the first integer that no double represents', () => {
    expect(inexactIntegerIn(parsedJson('{"a":[1,9007199254740992,{"b":9007199254740995}]}'))).toBe(
      9007199254740995n,
    )
    expect(inexactIntegerIn(parsedJson('{"a":[1,9007199254740992,"9007199254740995"]}'))).toBeNull()
  })
})
