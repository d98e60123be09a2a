/** A lookup costs steps for each byte of attributes, charged before they are parsed. No clock is used. */
import { afterEach, expect, test, vi } from 'vitest'
import { STEPS_MAX } from '#conditions/values/evaluation-budget.ts'
import { PARSED_BYTE_STEPS } from '#conditions/values/step-costs.ts'
import type { Change } from '#model/change.ts'
import { type Query, withoutAttributes } from '#model/decision.ts'
import { TextQuestion } from '#model/question.ts'
import { ruleOf, conditionSet, resourceType, tenant } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

const LONG = 'x'.repeat(30_000)
const AT_ONCE = 100_000
const QUERY: Query = {
  user: 'ann',
  action: 'read',
  type: 'document',
  key: null,
  tenant: 'default',
  queryContext: withoutAttributes(0),
}
const ONE = TextQuestion.single(QUERY)

afterEach(() => {
  vi.restoreAllMocks()
})

function parsedBytes(work: () => void): number {
  const parse = JSON.parse
  let bytes = 0
  vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
    bytes += text.length
    return parse(text) as unknown
  })
  work()
  vi.restoreAllMocks()
  return bytes
}

const matching = (match: object) => ({ any_match: { fk_resource_type: 'document', match } })

/** The attributes of Ann name `count` instances with long attributes. Only the last instance is open. */
function engineWith(
  count: number,
  conditions: Readonly<Record<string, unknown>>,
  more: object = {},
): SharedEngine {
  const engine = new SharedEngine()
  const keys = Array.from({ length: count }, (_, n) => `d${n}`)
  const instances = keys.map((key, n): Change => ({
    kind: 'instance-put',
    instance: { type: 'document', key },
    tenant: 'default',
    attributes: { long: LONG, next: [`d${n + 1}`], ...more, ...(n === count - 1 && { open: true }) },
  }))
  engine.apply([
    resourceType('document', 'read'),
    tenant('default'),
    { kind: 'user-put', user: 'ann', attributes: { documents: keys, first: ['d0'] } },
    ...instances,
    conditionSet('open', conditions),
    ruleOf('open'),
  ])
  return engine
}

const OPEN = { 'user.documents': matching({ open: { equals: true } }) }

test('attributes that exceed the steps of a check are neither copied nor parsed, and the check is denied', () => {
  const few = engineWith(5, OPEN)
  expect(few.evaluate(QUERY)).toBe(true)
  const many = engineWith(200, OPEN)
  let isAllowed = true
  const bytes = parsedBytes(() => (isAllowed = many.evaluate(QUERY)))
  expect(isAllowed).toBe(false)
  expect(bytes).toBeLessThan(STEPS_MAX / PARSED_BYTE_STEPS + 100_000)
  expect(evaluateAll(many, [QUERY, QUERY])).toEqual([false, false])
})

test('a test of an attribute that is too expensive to read is unknown, so its negation is not true', () => {
  const absent = engineWith(200, { 'user.documents': matching({ none: { exists: true } }) })
  const negated = engineWith(200, { not: { 'user.documents': matching({ none: { exists: true } }) } })
  expect(absent.evaluate(QUERY)).toBe(false)
  expect(negated.evaluate(QUERY)).toBe(false)
})

test('all lookups of a chain share the steps of one check, although each evaluates the condition again', () => {
  let match: object = { none: { equals: true } }
  for (let depth = 0; depth < 6; depth++) match = { next: matching(match) }
  const engine = engineWith(12, { 'user.documents': matching(match) })
  const bytes = parsedBytes(() => engine.evaluate(QUERY))
  expect(bytes).toBeLessThan(STEPS_MAX / PARSED_BYTE_STEPS + 100_000)
})

test('a check that needs more steps than allowed is left undecided, alone and in a batch', () => {
  const engine = engineWith(5, OPEN)
  const bytes = parsedBytes(() => expect(engine.evaluateWithin(ONE, AT_ONCE)).toBeNull())
  expect(bytes).toBeLessThan(AT_ONCE / PARSED_BYTE_STEPS + LONG.length)
  const other = { ...QUERY, action: 'none' }
  const verdicts = new Uint8Array(3)
  expect(engine.evaluateSome(new TextQuestion([other, QUERY, other]), AT_ONCE, verdicts)).toBe(1)
  expect(engine.evaluateSome(new TextQuestion([QUERY, other]), AT_ONCE, verdicts)).toBe(0)
  expect(engine.evaluateSome(new TextQuestion([QUERY, other]), Infinity, verdicts)).toBe(2)
  expect([...verdicts.subarray(0, 2)]).toEqual([1, 0])
})

test('a check that reads its conditions in several calls has the same decision as in one call', () => {
  const engine = new SharedEngine()
  const sets = Array.from({ length: 400 }, (_, n) =>
    conditionSet(`s${n}`, { 'user.mail': { match: `*@${n}.example` } }),
  )
  const rules = sets.map(({ set }): Change => ruleOf(set))
  engine.apply([
    resourceType('document', 'read'),
    tenant('default'),
    { kind: 'user-put', user: 'ann', attributes: { mail: 'a@399.example' } },
    ...sets,
    ...rules,
  ])
  let attempts = 1
  while (engine.evaluateWithin(ONE, AT_ONCE * 2) === null) attempts += 1
  expect(attempts).toBeGreaterThan(1)
  expect(engine.evaluateWithin(ONE, AT_ONCE * 2)).toBe(true)
  expect(engine.evaluate(QUERY)).toBe(true)
})
