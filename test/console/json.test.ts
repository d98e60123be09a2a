/** Numbers in JSON that the console displays, parses and sends keep their digits. */
import { describe, expect, test } from 'vitest'
import { attributesIn, attributesText } from '../../console/src/interface/attributes.ts'
import { parsedJson } from '../../console/src/interface/json.ts'

describe('numbers in JSON', () => {
  const kept = [
    ['an integer beyond 2^53', '9007199254740993', '9007199254740993'],
    [
      'a negative integer of thirty digits',
      '-123456789012345678901234567890',
      '-123456789012345678901234567890',
    ],
    ['an integer of more digits than a double can have', '1'.repeat(400), '1'.repeat(400)],
    ['a large integer with a fraction', '9007199254740993.0', '9007199254740993.0'],
    ['a large integer with an exponent', '9.007199254740993e15', '9.007199254740993e15'],
    ['a number beyond the range of doubles, which the service rejects', '1e400', '1e400'],
    ['a small integer', '42', '42'],
    ['a fraction', '0.5', '0.5'],
    ['a number with an exponent', '1e300', '1e300'],
    ['a number as the service writes it', '1e+300', '1e+300'],
  ]

  test.each(kept)('keep the digits of %s', (_what, number, expected) => {
    const text = `{"a": [${number}, {"b":${number}}], "s": "${number}"}`
    const same = `{"a":[${expected},{"b":${expected}}],"s":"${number}"}`

    expect(JSON.stringify(attributesIn(text))).toBe(same)
    expect(attributesText(attributesIn(text)).replaceAll(/\s/g, '')).toBe(same)
    expect(JSON.stringify(parsedJson(text))).toBe(same)
  })
})
