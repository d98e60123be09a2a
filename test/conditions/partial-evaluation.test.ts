/** Partial evaluation of conditions over columns (filter.md P38 to P49, and vectors). */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { evaluate } from '#conditions/evaluate.ts'
import { type FoldContext, whenFalse, whenTrue } from '#conditions/plan/fold.ts'
import {
  Column,
  ColumnTest,
  Compound,
  type Formula,
  hasObstacle,
  termsOf,
  type TestValue,
  textOf,
} from '#conditions/plan/formula.ts'
import { PlanValues } from '#conditions/plan/plan-values.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { FALSE, TRUE } from '#conditions/values/truth.ts'
import type { FilterNode } from '#filter/tree.ts'
import { truthOf } from '#testing/oracle/conditions/conditions.ts'
import { mergedRoots } from '#testing/oracle/conditions/roots.ts'
import { rowMatches } from '#testing/oracle/filters.ts'
import * as random from '#testing/oracle/random-columns.ts'
import { PLAN_VECTORS, shownFilter } from '#testing/oracle/plan-vectors.ts'
import { holdsFor } from '../properties/seeded.ts'
import { read, valuesOf } from './read.ts'

const AS_OF = Date.UTC(2026, 10, 26)
const INSTANCES = { a: { x: 'a', owner: 1 }, b: { x: 'b' }, r1: {} } as const

interface Given {
  readonly columns: readonly random.RandomColumn[]
  readonly user?: object
  readonly stored?: object | null
  readonly sent?: object | null
}

function contextOf({ columns, user = {}, stored = null, sent = null }: Given): FoldContext {
  const roots = {
    user: { key: 'r1', roles: ['a'], tenants: ['a', 'b'], ...user },
    tenant: { key: 'a', x: 1 },
    context: { x: 'a' },
    server: { time: new Date(AS_OF).toISOString() },
  } as const
  const others = {
    ...valuesOf(roots as never),
    attributesOf: (type: string, key: string) =>
      type === 'f' && Object.hasOwn(INSTANCES, key) ? INSTANCES[key as 'a'] : undefined,
  }
  const budget = new EvaluationBudget()
  const declared = columns.map(
    ({ name, type, nulls }) =>
      [name, { column: new Column(`attributes.${name}`, type, nulls !== 'never'), nulls }] as const,
  )
  const values = new PlanValues(others, {
    type: 'd',
    tenant: 'a',
    sent: sent as never,
    columns: new Map(declared),
    stored: stored as never,
  })
  return {
    values,
    budget,
    asOf: AS_OF,
    changesAt: () => {},
    matchedKeys: ({ item }) => {
      const keysWith = (wanted: number) =>
        Object.entries(INSTANCES).flatMap(([key, attributes]) =>
          evaluate(item, values, budget, attributes) === wanted ? [key] : [],
        )
      return { isTrue: keysWith(TRUE), isFalse: keysWith(FALSE) }
    },
  }
}

function holds(formula: Formula, row: Readonly<Record<string, unknown>>): boolean {
  return typeof formula === 'boolean' ? formula : rowMatches(JSON.parse(formula.text) as FilterNode, row)
}

test('a folded condition is true, false or unknown for the same rows as the condition itself', () => {
  const met = { true: 0, false: 0, unknown: 0, refused: 0, fields: 0 }
  const cases = random.columns.chain(columns =>
    fc.record({
      columns: fc.constant(columns),
      conditions: random.conditions('f'),
      user: random.attributes,
      stored: fc.option(random.attributes),
      rows: fc.array(random.row(columns), { minLength: 4, maxLength: 4 }),
      sent: fc.constantFrom(null, { sent: 'a' }, { sent: ['a'] }),
    }),
  )
  const least = { true: 50, false: 50, unknown: 50, refused: 5, fields: 5 }
  holdsFor(cases, { runs: 40_000, met, least }, ({ columns, conditions, user, stored, rows, sent }) => {
    const condition = readCondition(conditions, [])
    if (isRefused(condition)) return
    const context = contextOf({ columns, user, stored, sent })
    const [isTrue, isFalse] = [whenTrue(condition, 'x', context), whenFalse(condition, 'x', context)]
    if (hasObstacle(isTrue) || hasObstacle(isFalse)) {
      met.refused += 1
      return
    }
    expectNormal(isTrue)
    expectNormal(isFalse)
    if (textOf(isTrue).includes('{"field":"')) met.fields += 1
    for (const [number, row] of rows.entries()) {
      const key = ['a', 'b', 'r1', 'other'][number]!
      const cells = Object.fromEntries(columns.map(({ name }) => [`attributes.${name}`, row[name]]))
      const sentByRow = Object.fromEntries(
        columns
          .filter(({ name, nulls }) => row[name] !== null || nulls === 'sent')
          .map(({ name }) => [name, row[name]]),
      )
      const roots = mergedRoots({
        computed: {
          user: { key: 'r1', roles: ['a'], tenants: ['a', 'b'] },
          resource: { type: 'd', tenant: 'a', key },
          tenant: { key: 'a' },
          server: { time: new Date(AS_OF).toISOString() },
        },
        request: {
          user: null,
          resource: { attributes: { ...sent, ...sentByRow } },
          tenant: null,
          context: { x: 'a' },
        },
        stored: {
          user: { attributes: user as never },
          resource: stored === null ? null : { attributes: stored as never },
          tenant: { attributes: { x: 1 } },
        },
      } as never)
      const truth = truthOf(conditions, roots, (type, name) =>
        type === 'f' && Object.hasOwn(INSTANCES, name) ? INSTANCES[name as 'a'] : undefined,
      )
      met[truth] += 1
      expect({
        isTrue: holds(isTrue, { key, ...cells }),
        isFalse: holds(isFalse, { key, ...cells }),
      }).toEqual({ isTrue: truth === 'true', isFalse: truth === 'false' })
    }
  })
})

/** Expects the normal form of filter.md P45, P48 and P49. */
function expectNormal(formula: Formula): void {
  for (const term of termsOf(formula)) {
    if (term.kind === 'test') {
      if (Array.isArray(term.value)) expect(inOrder(term.value as string[])).toEqual(term.value)
      if (term.operator === 'in' || term.operator === 'nin') {
        expect((term.value as readonly unknown[]).length).toBeGreaterThan(1)
      }
      continue
    }
    if (term.kind === 'obstacle') continue
    expect(term.items.length).toBeGreaterThan(1)
    expect(term.items.map(({ kind }) => kind)).not.toContain(term.kind)
    const texts = term.items.map(({ text }) => Buffer.from(text))
    expect(texts.toSorted(Buffer.compare)).toEqual(texts)
    expect(new Set(term.items.map(({ text }) => text)).size).toBe(term.items.length)
    expectMerged(term)
  }
}

/** Numbers by value, texts by their bytes. */
function inOrder(values: readonly (string | number)[]): readonly (string | number)[] {
  return values.toSorted((one, other) =>
    typeof one === 'number'
      ? one - (other as number)
      : Buffer.compare(Buffer.from(one), Buffer.from(other as string)),
  )
}

const LISTED: ReadonlySet<string> = new Set(['eq', 'ne', 'in', 'nin'])

/** Expects that tests of a field are merged, and that no item absorbs another one. */
function expectMerged({ kind, items }: Compound): void {
  const compounds = items.filter(item => item instanceof Compound).map(item => item.items)
  const absorbed = compounds.filter(whole =>
    [...items.map(item => [item]), ...compounds].some(
      part => part !== whole && part.every(({ text }) => whole.some(item => item.text === text)),
    ),
  )
  expect(absorbed).toEqual([])
  const tests = items.filter(item => item instanceof ColumnTest)
  for (const { field } of new Set(tests.map(({ column }) => column))) {
    const ofField = tests.filter(({ column }) => column.field === field)
    const listed = ofField.filter(({ operator, value }) => LISTED.has(operator) && !isReference(value))
    expect(listed.length).toBeLessThan(2)
    const present = ofField.filter(({ operator, value }) => operator === 'exists' && value === true)
    const others = ofField.filter(({ operator }) => kind === 'and' || operator !== 'exists')
    if (present.length > 0) expect(others.filter(each => !present.includes(each))).toEqual([])
  }
}

function isReference(value: TestValue): boolean {
  return typeof value === 'object' && 'field' in value
}

/** Shows a formula as in the vectors of filter.md. */
function shown(formula: Formula): string {
  return shownFilter(typeof formula === 'boolean' ? formula : (JSON.parse(formula.text) as FilterNode))
}

test.each(PLAN_VECTORS)('vector %s: a column of %s with %j', (_, column, says, isTrue, isFalse) => {
  const [type, nulls] = column.split(' ') as ['string', 'sent']
  const context = contextOf({ columns: [{ name: 'c', type, nulls }] })
  const condition = read({ 'resource.c': says })
  expect([shown(whenTrue(condition, 'x', context)), shown(whenFalse(condition, 'x', context))]).toEqual([
    isTrue,
    isFalse,
  ])
})

const [IS_X, IS_Y] = [{ 'resource.c': { equals: 'x' } }, { 'resource.c': { equals: 'y' } }]
const IS_ANY = { 'resource.c': { exists: true } }
const OTHER = { 'resource.d': { contains: 'z' } }

test.each<[says: object, filter: string]>([
  // UTF-16 has the opposite order.
  [{ 'resource.c': { in: ['\u{10000}', '\uffff'] } }, 'c in ["\uffff","\u{10000}"]'],
  [{ anyOf: [IS_X, { allOf: [IS_X, OTHER] }] }, 'c eq "x"'],
  [{ allOf: [IS_X, { anyOf: [IS_X, OTHER] }] }, 'c eq "x"'],
  [{ anyOf: [IS_X, IS_Y] }, 'c in ["x","y"]'],
  [{ allOf: [IS_X, IS_Y] }, 'denied'],
  [{ allOf: [IS_ANY, { anyOf: [IS_X, OTHER] }] }, '(d contains "z" or c eq "x") and c exists true'],
  [
    { allOf: [IS_ANY, { anyOf: [IS_X, { allOf: [IS_Y, OTHER] }] }] },
    '(d contains "z" and c eq "y") or c eq "x"',
  ],
  [{ allOf: [{ not: IS_X }, { not: IS_Y }, IS_ANY, OTHER] }, 'd contains "z" and c nin ["x","y"]'],
])('the normal form of %j is %s', (says, filter) => {
  const columns = ['c', 'd'].map(name => ({ name, type: 'string', nulls: 'missing' }) as const)
  expect(shown(whenTrue(read(says), 'x', contextOf({ columns })))).toBe(filter)
})
