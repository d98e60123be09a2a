/** Builds questions by hand, and compares both ways to query an engine. */
import { expect } from 'vitest'
import type { DecisionEngine } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { TextQuestion } from '#model/question.ts'
import { PackedQueries, KEY_RANGE, RANGE_LENGTH, USER_RANGE, RANGE_WORDS } from '#model/packed-queries.ts'

/** Bytes between the keys. They must never affect the result. */
const BETWEEN = '~~~'

/** Packs queries. Keys must not be empty. */
export function packed(queries: readonly Query[]): PackedQueries {
  const keyRanges = new Int32Array(queries.length * RANGE_WORDS)
  let text = ''
  let length = 0
  const put = (key: string, range: number) => {
    keyRanges[range] = length
    keyRanges[range + RANGE_LENGTH] = Buffer.byteLength(key)
    text += key + BETWEEN
    length += Buffer.byteLength(key + BETWEEN)
  }
  for (const [index, { user, key }] of queries.entries()) {
    put(user, index * RANGE_WORDS + USER_RANGE)
    if (key !== null) put(key, index * RANGE_WORDS + KEY_RANGE)
  }
  const bytes = new DataView(new TextEncoder().encode(text).buffer)
  return new PackedQueries(queries.length, bytes, keyRanges, queries)
}

/** Returns the decisions on queries that consist of strings. */
export function evaluateAll(
  engine: Pick<DecisionEngine, 'evaluateAll'>,
  queries: readonly Query[],
): boolean[] {
  const verdicts = engine.evaluateAll(new TextQuestion(queries))
  return queries.map((_, index) => verdicts[index] === 1)
}

export function isPackable({ user, key }: Query): boolean {
  return [user, key ?? 'none'].every(text => text !== '' && text.isWellFormed())
}

/** Returns the results of `evaluateAll`. Expects the same from packed queries, together and one by one. */
export function answersOf(engine: DecisionEngine, queries: readonly Query[]): boolean[] {
  const answers = evaluateAll(engine, queries)
  const all = packed(queries.filter(isPackable))
  const fromBytes = engine.evaluateAll(all)
  const expected = answers.filter((_, index) => isPackable(queries[index]!)).map(Number)
  expect([...fromBytes]).toEqual(expected)
  const alone = all.termsTable.map((terms, index) => {
    const keyRanges = all.keyRanges.subarray(index * RANGE_WORDS)
    return Number(engine.evaluateWithin(new PackedQueries(1, all.bytes, keyRanges, [terms]), Infinity))
  })
  expect(alone).toEqual(expected)
  return answers
}
