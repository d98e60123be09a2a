/** Questions as bytes, packed by hand, and engines asked in both forms. */
import { expect } from 'vitest'
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { PackedQueries, SPOT_KEY, SPOT_LENGTH, SPOT_USER, SPOT_WORDS } from '#model/packed-queries.ts'

/** Bytes that are no key's, wherever a key ends: those behind it must not count. */
const BETWEEN = '~~~'

/** Keys must be texts and not empty. */
export function packed(queries: readonly Query[]): PackedQueries {
  const spots = new Int32Array(queries.length * SPOT_WORDS)
  let text = ''
  let length = 0
  const put = (key: string, spot: number) => {
    spots[spot] = length
    spots[spot + SPOT_LENGTH] = Buffer.byteLength(key)
    text += key + BETWEEN
    length += Buffer.byteLength(key + BETWEEN)
  }
  for (const [index, { user, key }] of queries.entries()) {
    put(user, index * SPOT_WORDS + SPOT_USER)
    if (key !== null) put(key, index * SPOT_WORDS + SPOT_KEY)
  }
  const bytes = new DataView(new TextEncoder().encode(text).buffer)
  return new PackedQueries(queries.length, bytes, spots, queries)
}

export function isPackable({ user, key }: Query): boolean {
  return [user, key ?? 'none'].every(text => text !== '' && text.isWellFormed())
}

/** The answers of `evaluateAll`, after a look that the questions that can be packed are answered alike as bytes, all and each. */
export function answersOf(engine: DecisionEngine, queries: readonly Query[]): boolean[] {
  const answers = engine.evaluateAll(queries)
  const all = packed(queries.filter(isPackable))
  const fromBytes = engine.evaluatePacked(all)
  const expected = answers.filter((_, index) => isPackable(queries[index]!)).map(Number)
  expect([...fromBytes]).toEqual(expected)
  const alone = all.forms.map((form, index) => {
    const spots = all.spots.subarray(index * SPOT_WORDS)
    return Number(engine.evaluateFirst(new PackedQueries(1, all.bytes, spots, [form])))
  })
  expect(alone).toEqual(expected)
  return answers
}
