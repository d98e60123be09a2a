/**
 * Byte reader of `/allowed/bulk`. A body that it reads must be accepted by the parser and the schema, with
 * the same meaning. This is a security boundary, so it is tested with cases, cuts and random bodies.
 */
import { describe, expect, test } from 'vitest'
import { viewOf } from '#http/message/byte-views.ts'
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { QUESTION_FIELDS } from '#http/bytes/question-fields.ts'
import { AllowedQuery } from '#model/wire/decisions/decision.ts'
import { BulkBodies, judge, readOrdinarily } from '#testing/requests/bulk-bodies.ts'

const CHECKS_MAX = 50

function check(user: string, key: string | null, more: object = {}) {
  return { user: { key: user }, action: 'read', resource: { type: 'document', key, ...more } }
}

/** The last members of a check, after its user. */
const REST = '"action":"a","resource":{"type":"t"}'
const OTHER_SCRIPTS = {
  ...check('a', 'b', { attributes: { größe: ['ü', '"\\'], 計: 1 } }),
  sdk: 'ünïcode',
  more: '\t',
}
const TYPICAL = [check('alice', 'plan'), check('bob', 'a:b#c/d'), check('carol', 'x'.repeat(600))]

function newReader(): BulkReader {
  return new BulkReader(CHECKS_MAX, () => 0)
}

/** Whether a new reader reads the text. */
function isRead(text: string): boolean {
  return judge(newReader(), Buffer.from(text))
}

test('the table of a long body is released when the second body after it is read', () => {
  const reader = newReader()
  const lengths = [40, 2, 2].map(count => {
    const body = Array.from({ length: count }, (_, n) => check(`user-${n}`, 'plan'))
    return reader.read(viewOf(Buffer.from(JSON.stringify(body))))!.termsTable.length
  })
  expect(lengths).toEqual([40, 40, 2])
})

describe('a typical body', () => {
  test.each([
    [
      'with all kinds of white space',
      '\r\n\t [ {"user" : {"key":"a"} ,"action":"b","resource":{"type":"c"}}\n]\n',
    ],
    [
      'with escapes in keys',
      '[{"user":{"key":"a\\"\\\\\\/\\b\\f\\n\\r\\t"},"action":"a","resource":{"type":"t"}}]',
    ],
    [
      'with unicode escapes in keys',
      '[{"user":{"key":"\\u0061\\u00eB\\u8a08\\uD83D\\ude00\\u0000"},"action":"a","resource":{"type":"t"}}]',
    ],
    [
      'with the first and last characters of one, two, three and four bytes in keys',
      '[{"user":{"key":"\\u007f\\u0080\\u07ff\\u0800\\ud7ff\\ue000\\uffff\\ud800\\udc00\\udbff\\udfff"},"action":"a","resource":{"type":"t"}}]',
    ],
    [
      'with names and attributes in other scripts, and escapes in attributes',
      JSON.stringify([OTHER_SCRIPTS, OTHER_SCRIPTS]),
    ],
  ])('is read %s', (_, text) => {
    expect(isRead(text)).toBe(true)
  })

  test('is read with the maximum number of checks, even if many have different forms', () => {
    const checks = Array.from({ length: CHECKS_MAX }, (_, n) =>
      n % 3 === 0 ? check(`u${n}`, `k${n}`) : check(`u${n}`, `k${n}`, { tenant: `t${n % 20}` }),
    )
    expect(isRead(JSON.stringify(checks))).toBe(true)
    expect(isRead(JSON.stringify([...checks, check('one', 'more')]))).toBe(false)
  })
})

describe('a body that the byte reader does not support', () => {
  const good = '{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"k"}}'
  test.each([
    ['nothing', ''],
    ['text after the list', `[${good}]]`],
    ['white space that JSON does not allow', `\u000b[${good}]`],
    ['an escape in a name', `[{"user":{"k\\u0065y":"u","key":"v"},${REST}}]`],
    ['an escape in the name of an attribute', `[{"x":{"\\u0061":1},"user":{"key":"u"},${REST}}]`],
    ['an action in another script', '[{"user":{"key":"u"},"action":"é","resource":{"type":"t"}}]'],
    ['a type with an escape', '[{"user":{"key":"u"},"action":"a","resource":{"type":"\\u0074"}}]'],
    [
      'a tenant in another script',
      '[{"user":{"key":"u"},"action":"a","resource":{"type":"t","tenant":"é"}}]',
    ],
    ...[
      ['an unknown escape', '\\x'],
      ['a backslash without a letter', '\\'],
      ['an escape with too few digits', '\\u12'],
      ['an escape with an invalid digit', '\\u12g4'],
      ['a high surrogate at the end', '\\ud83d'],
      ['a high surrogate before a letter', '\\ud83dx'],
      ['a high surrogate before an escape', '\\ud83d\\n'],
      ['a high surrogate before an escaped letter', '\\ud83d\\u0041'],
      ['two high surrogates', '\\ud83d\\ud83d'],
      ['a high surrogate before a private character', '\\ud83d\\ue000'],
      ['the first low surrogate twice', '\\udc00\\udc00'],
      ['two low surrogates', '\\ude00\\ude00'],
      ['only a low surrogate', '\\ude00'],
      ['surrogates in the wrong order', '\\ude00\\ud83d'],
      ['a control character after an escape', '\\n\u0001'],
    ].flatMap(([what, text]) => [
      [`${what} in a key`, `[{"user":{"key":"${text}"},${REST}}]`],
      [`${what} in an attribute`, `[{"x":"${text}","user":{"key":"u"},${REST}}]`],
    ]),
    ['a control character', `[{"user":{"key":"a\u0001"},${REST}}]`],
    ['a key twice', `[{"user":{"key":"u","key":"v"},${REST}}]`],
    ['a key, then null', '[{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"k","key":null}}]'],
    ['a user twice', `[{"user":{"key":"u"},"user":{"key":"v"},${REST}}]`],
    ['a number that is not JSON', `[{"user":{"key":"u"},${REST},"x":01}]`],
    ['deep nesting', `[{"x":${'['.repeat(20)}${']'.repeat(20)},${good.slice(1)}]`],
  ])('is left to the parser if it has %s', (_, text) => {
    expect(isRead(text)).toBe(false)
  })
})

test('a body with invalid UTF-8 at any position is left to the parser each time', () => {
  const places = [
    '[{"user":{"key":"~"},"action":"a","resource":{"type":"t","key":"k"}}]',
    '[{"user":{"key":"a\\n~"},"action":"a","resource":{"type":"t","key":"k"}}]',
    '[{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"k"},"x":"~"}]',
    '[{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"k"},"x":"\\n~"}]',
    '[{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"k"},"~":1}]',
  ]
  for (const place of places) {
    for (const bytes of ['e9', 'c3', 'c3c3', 'a9', 'eda080', 'c080', 'f4908080', 'ff']) {
      const text = Buffer.from(bytes, 'hex').toString('latin1')
      const reader = newReader()
      for (let times = 0; times < 3; times++) {
        const body = Buffer.from(place.replace('~', text), 'latin1')
        expect(judge(reader, body), `${bytes} ${place}`).toBe(false)
      }
      expect(judge(reader, Buffer.from(place.replace('~', 'é')))).toBe(true)
    }
  }
})

test('a key with escapes or other scripts is read up to twice the maximum length of a key', () => {
  const reader = newReader()
  for (let times = 0; times < 2; times++) {
    for (const [letter, bytes] of [
      ['é', 2],
      ['\\u00e9', 6],
    ] as const) {
      for (const [length, isAccepted] of [
        [1_000, true],
        [1_030, false],
      ] as const) {
        const key = letter.repeat(length / bytes)
        const text = `[{"user":{"key":"${key}"},"action":"a","resource":{"type":"t","key":"k"}}]`
        expect(judge(reader, Buffer.from(text))).toBe(isAccepted)
      }
    }
  }
})

test('an unused value is skipped if and only if it is valid JSON', () => {
  const good = '0 -0 7 10 -1.50 1e5 1E+05 0.5e-3 null true false "" [] [1,{}] {"a":[null]}'.split(' ')
  const bad = '01 -01 - +1 .5 1. 1.e5 1e 1e+ 0x1 NaN nul nulll True falsey'.split(' ')
  const worse = `  , [ [1 [1,] [,1] [1\t2] { {"a"} {"a":} {"a":1,} {a:1} 'a' " ]`.split(' ')
  for (const value of [...good, ...bad, ...worse]) {
    for (const blank of ['', ' ']) {
      const rest = `"user":{"key":"u"},${REST}`
      const isGood = good.includes(value)
      expect(isRead(`[{"x":${value}${blank},${rest}}]`), value).toBe(isGood)
      expect(isRead(`[{${rest},"x":${value}${blank}}]`), value).toBe(isGood)
      // The same applies to a value that differed between earlier checks.
      for (const known of [
        ['1', '2'],
        ['"a"', '"b"'],
      ]) {
        const reader = newReader()
        const bodyWith = (x: string) => Buffer.from(`[{"x":${x}${blank},${rest}},{${rest},"x":${x}${blank}}]`)
        for (const x of known) expect(judge(reader, bodyWith(x))).toBe(true)
        expect(judge(reader, bodyWith(value)), value).toBe(isGood)
      }
    }
  }
})

test('checks that differ only in unused values have the same meaning for reader and parser', () => {
  const reader = newReader()
  const values = ['10.0.0.1', '10.0.0.2', '', 'é', '"', '"},"action":"edit', '","key":"other']
  const checks = values.map((ip, risk) => ({
    ...check('alice', 'plan', { attributes: { ip, risk } }),
    context: { risk },
  }))
  expect(judge(reader, Buffer.from(JSON.stringify(checks)))).toBe(true)
  // An attribute with invalid UTF-8 is left to the parser.
  const body = Buffer.from(JSON.stringify(checks.slice(0, 4)))
  expect(judge(reader, body)).toBe(true)
  body[body.indexOf('é')] = 0xff
  expect(judge(reader, body)).toBe(false)
})

test.each([
  ['plain', JSON.stringify(TYPICAL.slice(0, 2))],
  ['escaped', '[{"user":{"key":"\\ud83d\\ude00\\n"},"action":"a","resource":{"type":"t","key":"\\u00e9"}}]'],
  ['in another script', JSON.stringify([check('é😀', '計画')])],
])('a body is not read beyond its end, even if it is cut and other text follows in memory: %s', (_, text) => {
  const whole = Buffer.from(text)
  for (const offset of [0, 1, 2, 3]) {
    const memory = Buffer.concat([Buffer.alloc(offset, '['), whole, Buffer.from(']]]]]]]]')])
    const reader = newReader()
    expect(judge(reader, memory.subarray(offset, offset + whole.length))).toBe(true)
    for (let length = 0; length < whole.length; length++) {
      expect(judge(reader, memory.subarray(offset, offset + length))).toBe(false)
      expect(judge(newReader(), memory.subarray(offset, offset + length))).toBe(false)
    }
  }
})

test('the reader knows every field of the schema, so it skips no field that the schema validates', () => {
  const namesOf = ({ byName }: typeof QUESTION_FIELDS) => byName.map(([name]) => name).toSorted()
  const { user, resource } = AllowedQuery.properties
  expect(namesOf(QUESTION_FIELDS)).toEqual(Object.keys(AllowedQuery.properties).toSorted())
  const inner = (name: string) => {
    const field = QUESTION_FIELDS.byName.find(([known]) => known === name)?.[1]
    return field?.kind === 'object' ? namesOf(field.fields) : []
  }
  expect(inner('user')).toEqual(Object.keys(user.properties).toSorted())
  expect(inner('resource')).toEqual(Object.keys(resource.properties).toSorted())
})

/** Number of random bodies. The long run sets VERDICT_RUNS to test more. */
const BODIES = 4_000 * Number(process.env['VERDICT_RUNS'] ?? 1)

test('random valid and invalid bodies have the same meaning for reader and parser, and most are read', () => {
  const bodies = new BulkBodies(20_261_120)
  let reader = newReader()
  const counts = { read: 0, accepted: 0 }
  for (let count = 0; count < BODIES; count++) {
    if (count % 500 === 0) reader = newReader()
    const body = bodies.next()
    if (judge(reader, body)) counts.read++
    if (readOrdinarily(body) !== null) counts.accepted++
  }
  // The remaining bodies have a field twice, or escapes in unusual places.
  expect(counts.read / counts.accepted).toBeGreaterThan(0.8)
})
