/**
 * The bytes path of `/allowed/bulk`: whatever it reads, the ordinary parser and the schema accept, and they read the
 * same. A security boundary, so it is held to that by cases, by cuts and by random bodies.
 */
import { describe, expect, test } from 'vitest'
import { viewOf } from '#http/message/byte-views.ts'
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { QUESTION_FIELDS } from '#http/bytes/question-fields.ts'
import { AllowedQuery } from '#model/wire/decision.ts'
import { BulkBodies, judge, readOrdinarily } from '#testing/requests/bulk-bodies.ts'

const CHECKS_MAX = 50

function check(user: string, key: string | null, more: object = {}) {
  return { user: { key: user }, action: 'read', resource: { type: 'document', key, ...more } }
}

const USUAL = [check('alice', 'plan'), check('bob', 'a:b#c/d'), check('carol', 'x'.repeat(600))]

function newReader(): BulkReader {
  return new BulkReader(CHECKS_MAX)
}

/** Whether a reader who has seen nothing yet takes the text. */
function isRead(text: string): boolean {
  return judge(newReader(), Buffer.from(text))
}

test('what a long body asked is let go of with the second one after it', () => {
  const reader = newReader()
  const lengths = [40, 2, 2].map(count => {
    const body = Array.from({ length: count }, (_, n) => check(`user-${n}`, 'plan'))
    return reader.read(viewOf(Buffer.from(JSON.stringify(body))), null)!.termsTable.length
  })
  expect(lengths).toEqual([40, 40, 2])
})

describe('a body of the usual kind is read', () => {
  test.each([
    [
      'with every kind of blank around everything',
      '\r\n\t [ {"user" : {"key":"a"} ,"action":"b","resource":{"type":"c"}}\n]\n',
    ],
    [
      'with escapes in keys',
      '[{"user":{"key":"a\\"\\\\\\/\\b\\f\\n\\r\\t"},"action":"a","resource":{"type":"t"}}]',
    ],
    [
      'with keys in the digits of their characters',
      '[{"user":{"key":"\\u0061\\u00eB\\u8a08\\uD83D\\ude00\\u0000"},"action":"a","resource":{"type":"t"}}]',
    ],
    [
      'with keys at the ends of what one, two, three and four bytes can say',
      '[{"user":{"key":"\\u007f\\u0080\\u07ff\\u0800\\ud7ff\\ue000\\uffff\\ud800\\udc00\\udbff\\udfff"},"action":"a","resource":{"type":"t"}}]',
    ],
    [
      'with names and attributes in other scripts, and escapes in attributes',
      JSON.stringify([
        { ...check('a', 'b', { attributes: { größe: ['ü', '"\\'], 計: 1 } }), sdk: 'ünïcode', more: '\t' },
        { ...check('a', 'b', { attributes: { größe: ['ü', '"\\'], 計: 1 } }), sdk: 'ünïcode', more: '\t' },
      ]),
    ],
  ])('%s', (_, text) => {
    expect(isRead(text)).toBe(true)
  })

  test('up to the most checks a bulk may have, however many look different', () => {
    const checks = Array.from({ length: CHECKS_MAX }, (_, n) =>
      n % 3 === 0 ? check(`u${n}`, `k${n}`) : check(`u${n}`, `k${n}`, { tenant: `t${n % 20}` }),
    )
    expect(isRead(JSON.stringify(checks))).toBe(true)
    expect(isRead(JSON.stringify([...checks, check('one', 'more')]))).toBe(false)
  })
})

describe('a body is left to the ordinary parser', () => {
  const good = '{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"k"}}'
  test.each([
    ['nothing', ''],
    ['garbage behind a list', `[${good}]]`],
    ['a blank JSON does not know', `\u000b[${good}]`],
    ['an escape in a name', '[{"user":{"k\\u0065y":"u","key":"v"},"action":"a","resource":{"type":"t"}}]'],
    [
      'an escape in the name of an attribute',
      '[{"x":{"\\u0061":1},"user":{"key":"u"},"action":"a","resource":{"type":"t"}}]',
    ],
    ['an action in another script', '[{"user":{"key":"u"},"action":"é","resource":{"type":"t"}}]'],
    ['a type with an escape', '[{"user":{"key":"u"},"action":"a","resource":{"type":"\\u0074"}}]'],
    [
      'a tenant in another script',
      '[{"user":{"key":"u"},"action":"a","resource":{"type":"t","tenant":"é"}}]',
    ],
    ...[
      ['an unknown escape', '\\x'],
      ['an escape without its letter', '\\'],
      ['too few digits', '\\u12'],
      ['digits that are none', '\\u12g4'],
      ['half a surrogate', '\\ud83d'],
      ['half a surrogate before a letter', '\\ud83dx'],
      ['half a surrogate before an escape', '\\ud83d\\n'],
      ['half a surrogate before a character', '\\ud83d\\u0041'],
      ['two first halves', '\\ud83d\\ud83d'],
      ['a first half before what is none', '\\ud83d\\ue000'],
      ['the second half of the first twice', '\\udc00\\udc00'],
      ['two second halves', '\\ude00\\ude00'],
      ['the second half alone', '\\ude00'],
      ['halves that are none of one', '\\ude00\\ud83d'],
      ['a control character behind an escape', '\\n\u0001'],
    ].flatMap(([what, text]) => [
      [`${what} in a key`, `[{"user":{"key":"${text}"},"action":"a","resource":{"type":"t"}}]`],
      [
        `${what} in an attribute`,
        `[{"x":"${text}","user":{"key":"u"},"action":"a","resource":{"type":"t"}}]`,
      ],
    ]),
    ['a control character', '[{"user":{"key":"a\u0001"},"action":"a","resource":{"type":"t"}}]'],
    ['a key twice', '[{"user":{"key":"u","key":"v"},"action":"a","resource":{"type":"t"}}]'],
    ['a key, then null', '[{"user":{"key":"u"},"action":"a","resource":{"type":"t","key":"k","key":null}}]'],
    ['a user twice', '[{"user":{"key":"u"},"user":{"key":"v"},"action":"a","resource":{"type":"t"}}]'],
    ['a number JSON does not know', '[{"user":{"key":"u"},"action":"a","resource":{"type":"t"},"x":01}]'],
    ['deep nesting', `[{"x":${'['.repeat(20)}${']'.repeat(20)},${good.slice(1)}]`],
  ])('%s', (_, text) => {
    expect(isRead(text)).toBe(false)
  })
})

test('what is no UTF-8 is left to the ordinary parser, wherever it stands and however often it has come', () => {
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
        expect(judge(reader, Buffer.from(place.replace('~', text), 'latin1')), `${bytes} ${place}`).toBe(
          false,
        )
      }
      expect(judge(reader, Buffer.from(place.replace('~', 'é')))).toBe(true)
    }
  }
})

test('a key that is not plain is read up to twice the length of the longest, and no further', () => {
  const reader = newReader()
  for (let times = 0; times < 2; times++) {
    for (const [letter, bytes] of [
      ['é', 2],
      ['\\u00e9', 6],
    ] as const) {
      for (const [length, isTaken] of [
        [1_000, true],
        [1_030, false],
      ] as const) {
        const key = letter.repeat(length / bytes)
        const text = `[{"user":{"key":"${key}"},"action":"a","resource":{"type":"t","key":"k"}}]`
        expect(judge(reader, Buffer.from(text))).toBe(isTaken)
      }
    }
  }
})

test('a value nobody asks for is skipped exactly if it is JSON', () => {
  const good = '0 -0 7 10 -1.50 1e5 1E+05 0.5e-3 null true false "" [] [1,{}] {"a":[null]}'.split(' ')
  const bad = '01 -01 - +1 .5 1. 1.e5 1e 1e+ 0x1 NaN nul nulll True falsey'.split(' ')
  const worse = `  , [ [1 [1,] [,1] [1\t2] { {"a"} {"a":} {"a":1,} {a:1} 'a' " ]`.split(' ')
  for (const value of [...good, ...bad, ...worse]) {
    for (const blank of ['', ' ']) {
      const rest = '"user":{"key":"u"},"action":"a","resource":{"type":"t"}'
      const isGood = good.includes(value)
      expect(isRead(`[{"x":${value}${blank},${rest}}]`), value).toBe(isGood)
      expect(isRead(`[{${rest},"x":${value}${blank}}]`), value).toBe(isGood)
      // Where a number or a text has differed before, too.
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

test('questions that differ only in what nobody reads ask what the parser reads, however it is put together', () => {
  const reader = newReader()
  const values = ['10.0.0.1', '10.0.0.2', '', 'é', '"', '"},"action":"edit', '","key":"other']
  const checks = values.map((ip, risk) => ({
    ...check('alice', 'plan', { attributes: { ip, risk } }),
    context: { risk },
  }))
  expect(judge(reader, Buffer.from(JSON.stringify(checks)))).toBe(true)
  // Where the text of an attribute is no UTF-8 at all, too.
  const body = Buffer.from(JSON.stringify(checks.slice(0, 4)))
  expect(judge(reader, body)).toBe(true)
  body[body.indexOf('é')] = 0xff
  expect(judge(reader, body)).toBe(false)
})
test.each([
  ['plain', JSON.stringify(USUAL.slice(0, 2))],
  ['escaped', '[{"user":{"key":"\\ud83d\\ude00\\n"},"action":"a","resource":{"type":"t","key":"\\u00e9"}}]'],
  ['in another script', JSON.stringify([check('é😀', '計画')])],
])(
  'a body is not read beyond its end, wherever it is cut and whatever stands behind it in memory: %s',
  (_, text) => {
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
  },
)

test('the reader knows every field of the schema, so that it skips none that the schema checks', () => {
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

/** A few bodies in every run, ten times as many in the long one. */
const BODIES = 4_000 * Number(process.env['VERDICT_RUNS'] ?? 1)

test('random bodies, whole and broken, are read as the parser reads them, and most that are plain are read', () => {
  const bodies = new BulkBodies(20_261_120)
  let reader = newReader()
  const counts = { read: 0, accepted: 0 }
  for (let count = 0; count < BODIES; count++) {
    if (count % 500 === 0) reader = newReader()
    const body = bodies.next()
    if (judge(reader, body)) counts.read++
    if (readOrdinarily(body) !== null) counts.accepted++
  }
  // The rest has a field twice, or escapes where nobody writes them.
  expect(counts.read / counts.accepted).toBeGreaterThan(0.8)
})
