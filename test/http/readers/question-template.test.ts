/** A template that a reader learned from a check, compared byte by byte with the next check. */
import { expect, test } from 'vitest'
import { KEY_RANGE, RANGE_LENGTH, USER_RANGE, RANGE_WORDS } from '#model/packed-queries.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { BodyTexts } from '#http/bytes/body-texts.ts'
import { REFUSED } from '#http/bytes/plain-json.ts'
import { QuestionTemplate } from '#http/bytes/question-template.ts'

const FORM = { type: 't', action: 'a', tenant: null }
const NO_DEFAULTS = new Int32Array(RANGE_WORDS)

/** Text of this length after a key: the closing quote, then arbitrary characters. */
const span = (length: number, seed: number) =>
  `"${Array.from({ length: length - 1 }, (_, at) => String.fromCharCode(0x61 + ((at * 7 + seed) % 26))).join('')}`

/** Returns the end of the check and the positions of its keys, or null if it does not match. */
function matched(template: QuestionTemplate, body: Buffer, at: number): number[] | null {
  const texts = new BodyTexts()
  const limit = texts.begin(viewOf(body))
  const keyRanges = new Int32Array(RANGE_WORDS)
  const end = template.match(viewOf(body), at, limit, keyRanges, 0, NO_DEFAULTS, texts)
  if (end === REFUSED) return null
  return [
    end,
    keyRanges[USER_RANGE]!,
    keyRanges[USER_RANGE + RANGE_LENGTH]!,
    keyRanges[KEY_RANGE]!,
    keyRanges[KEY_RANGE + RANGE_LENGTH]!,
  ]
}

test.each(Array.from({ length: 34 }, (_, index) => index + 1))(
  'a check matches a template with texts of %i bytes only if all bytes of these texts are identical',
  length => {
    const texts = [span(length, 1), span(length, 2), span(length, 3)] as const
    const around = (user: string, key: string) => `${texts[0]}${user}${texts[1]}${key}${texts[2]}`
    const learned = Buffer.from(`..${around('alice', 'plan')}...`)
    const user = { from: 2 + length, to: 2 + length + 5 }
    const key = { from: user.to + length, to: user.to + length + 4 }
    const to = key.to + length
    const question = {
      from: 2,
      to,
      user,
      key,
      terms: FORM,
      skipped: [],
      isWide: false,
      saysAttributes: false,
      attributes: null,
    }
    const template = new QuestionTemplate(learned, question, 1)
    const other = Buffer.from(`.${around('bob', 'minutes-of-2026')}`)
    const places = [other.length, 1 + length, 3, 4 + 2 * length, 15]
    expect(matched(template, other, 1)).toEqual(places)
    expect(matched(template, Buffer.concat([other, Buffer.from(',')]), 1)).toEqual(places)
    const isKey = (at: number) =>
      (at >= 1 + length && at < 4 + length) || (at >= 4 + 2 * length && at < 19 + 2 * length)
    for (let at = 1; at < other.length; at++) {
      if (isKey(at)) continue
      const changed = Buffer.from(other)
      changed[at] = changed[at]! ^ 1
      expect(matched(template, changed, 1), `byte ${at} differs`).toBeNull()
    }
    for (let end = 1; end < other.length; end++) {
      expect(matched(template, Buffer.from(other.subarray(0, end)), 1), `only ${end} bytes`).toBeNull()
    }
  },
)
