/**
 * Columns compared with attributes of the context, on either side of each operator, for values of every kind:
 * the filter selects the rows that checks allow (filter.md P40 and P42).
 */
import { expect, test } from 'vitest'
import { table, toPredicate } from '#filter/adapters.ts'
import type { AccessPlan, ColumnType } from '#filter/tree.ts'
import type { FilterTable } from '#filter/table.ts'
import { COLUMN_TYPES } from '#filter/tree.ts'
import type { Change } from '#model/change.ts'
import { askRoutes } from '#testing/engines/ask-routes.ts'
import * as made from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { rowMatches } from '#testing/oracle/filters.ts'

const NOON = '2026-01-02T12:00:00.000Z'
/** JSON has other digits than this number, so a check cannot read it. */
const LOST = 2 ** 60
const ROWS: Readonly<Record<ColumnType, readonly unknown[]>> = {
  string: ['x', 'xy', '', NOON],
  number: [1, 0, 2, 1.5, LOST],
  bool: [true, false],
  time: [NOON, '2026-01-02T12:00:00.001Z'],
  date: ['2026-01-02', '2026-01-03'],
  string_array: [['x'], [], ['x', 'y']],
  number_array: [[1], [], [1, 2], [LOST], [1, LOST]],
}
/** No double represents this integer, so a comparison with it is unknown. */
const UNREADABLE = 2n ** 53n + 1n
/** Values of `context.v`. If it is undefined, the attribute is missing. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  'x',
  '',
  1,
  1.5,
  2 ** 53,
  true,
  NOON,
  '2026-01-02',
  '2026-01-02T13:00:00.0005+01:00',
  [],
  ['x', 1],
  [1, 2, 3],
  [NOON, '2026-01-02', true],
  UNREADABLE,
  [UNREADABLE, 1, 'x'],
  { k: UNREADABLE },
]
const OPERATORS = [
  'equals',
  'not-equals',
  'less-than',
  'less-than-equals',
  'greater-than',
  'greater-than-equals',
  'in',
  'contains',
  'array_contains',
  'array_intersect',
  'array_subset',
  'array_superset',
  'array_len_equals',
  'array_len_greater_than',
  'array_len_less_than',
] as const

interface Case {
  readonly action: string
  readonly conditions: object
}

function casesOf(type: ColumnType): Case[] {
  const [column, value] = [`resource.${type}`, 'context.v']
  const [isNotOne, isNotTwo] = [{ [column]: { 'not-equals': 1 } }, { [column]: { 'not-equals': 2 } }]
  const tests: object[] = [
    ...OPERATORS.flatMap(operator => [
      { [column]: { [operator]: { ref: value } } },
      { [value]: { [operator]: { ref: column } } },
    ]),
    { [column]: { in: ['y', { ref: value }] } },
    { [value]: { in: [2, { ref: column }] } },
    { [column]: { between: [{ ref: value }, 2] } },
    { [value]: { between: [{ ref: column }, NOON] } },
    { [value]: { array_contains: { ref: column } } },
    { [value]: { array_subset: [{ ref: column }, 1] } },
    { [column]: { equals: { ref: column } } },
    { [column]: { 'less-than-equals': { ref: column } } },
    { [column]: { in: [['x'], { ref: column }] } },
    // Formulas of one column are merged.
    { anyOf: [isNotOne, isNotTwo] },
    { anyOf: [isNotOne, { [column]: { in: [1, 2] } }] },
    { allOf: [isNotOne, { [column]: { 'not-equals': 'x' } }] },
    { [column]: { equals: { ref: 'resource.other' } } },
    { [column]: { equals: { ref: 'resource.key' } } },
  ]
  return withOpposites(tests)
}

function withOpposites(tests: readonly object[]): Case[] {
  return tests.flatMap((says, index) => [
    { action: `is-${index}`, conditions: says },
    { action: `not-${index}`, conditions: { not: says } },
  ])
}

function engineOf(cases: readonly Case[]): SharedEngine {
  const rules = cases.flatMap(({ action, conditions }): Change[] => [
    made.conditionSet(action, conditions, { side: 'resource', type: 'document' }),
    { kind: 'rule-put', userSet: 'everyone', type: 'document', action, resourceSet: action },
  ])
  const actions = cases.map(({ action }) => action)
  return SharedEngine.with([
    made.tenant('default'),
    made.resourceType('document', ...actions),
    made.conditionSet('everyone', {}),
    ...rules,
  ])
}

interface Bulk {
  readonly allow: readonly { readonly allow: boolean }[]
}
type Columns = Readonly<Record<string, { readonly type: ColumnType; readonly nulls: 'sent' | 'missing' }>>

function tableOf(columns: Columns): FilterTable {
  const kinds = { number: 'double', time: 'text' } as const
  const described = Object.entries(columns).map(([column, { type, nulls }]) => {
    const as = type === 'number' || type === 'time' ? { as: kinds[type] } : {}
    return [column, { column, type, nulls, ...as }] as const
  })
  return table({ type: 'document', key: { column: 'id' }, attributes: Object.fromEntries(described) })
}

/** Compares the filter of an action with the checks of rows. */
class Comparison {
  readonly met = { allowed: 0, denied: 0, refused: 0 }
  readonly #ask: ReturnType<typeof askRoutes>

  constructor(cases: readonly Case[]) {
    const engine = engineOf(cases)
    this.#ask = askRoutes(() => engine, Date.parse(NOON))
  }

  async compare(
    { action, conditions }: Case,
    columns: Columns,
    rows: readonly Readonly<Record<string, unknown>>[],
    context: object = {},
  ): Promise<void> {
    const question = { user: { key: 'ann' }, action, context }
    const resource = { type: 'document', tenant: 'default' }
    const body = JSON.stringify({ ...question, resource, columns: { attributes: columns } })
    const plan = await planOrNull(this.#ask, body)
    if (plan === null) {
      this.met.refused += 1
      return
    }
    const checks = rows.map((cells, index) => {
      const sent = Object.entries(cells).filter(
        ([name, cell]) => cell !== null || columns[name]!.nulls === 'sent',
      )
      return {
        ...question,
        resource: { ...resource, key: `row-${index}`, attributes: Object.fromEntries(sent) },
      }
    })
    const { allow } = await this.#ask<Bulk>('isAllowedBulk', JSON.stringify(checks))
    const expected = allow.map(each => each.allow)
    for (const isAllowed of expected) this.met[isAllowed ? 'allowed' : 'denied'] += 1
    // An adapter can read each filter.
    expect(() => toPredicate(plan, tableOf(columns)), JSON.stringify(plan)).not.toThrow()
    const { kind, filter } = plan
    const selected = rows.map((cells, index) => {
      if (filter === undefined) return kind === 'always_allowed'
      const fields = Object.entries(cells).map(([name, cell]) => [`attributes.${name}`, cell])
      return rowMatches(filter, { key: `row-${index}`, ...Object.fromEntries(fields) })
    })
    expect(selected, JSON.stringify({ conditions, columns, context, filter })).toEqual(expected)
  }
}

const NULL_MEANINGS = ['sent', 'missing'] as const

test.each(COLUMN_TYPES)(
  'each operator compares a column of %s with values of every kind as checks do',
  async type => {
    const cases = casesOf(type)
    const comparison = new Comparison(cases)
    const rows = [...ROWS[type], null].map(cell => ({ [type]: cell }))
    for (const each of cases) {
      for (const nulls of NULL_MEANINGS) {
        for (const v of VALUES) await comparison.compare(each, { [type]: { type, nulls } }, rows, { v })
      }
    }
    expect(comparison.met.allowed).toBeGreaterThan(100)
    expect(comparison.met.denied).toBeGreaterThan(100)
  },
)

const [LEFT, RIGHT] = [{ ref: 'resource.left' }, { ref: 'resource.right' }]

test.each(COLUMN_TYPES)(
  'each operator compares a column of %s with columns of every type as checks do',
  async left => {
    const tests = OPERATORS.flatMap(operator => [
      { [LEFT.ref]: { [operator]: RIGHT } },
      { [RIGHT.ref]: { [operator]: LEFT } },
    ])
    const cases = withOpposites([...tests, { [RIGHT.ref]: { between: [LEFT, LEFT] } }])
    const comparison = new Comparison(cases)
    for (const right of COLUMN_TYPES) {
      const rows = [...ROWS[left], null].flatMap(one =>
        [...ROWS[right], null].map(other => ({ left: one, right: other })),
      )
      for (const each of cases) {
        for (const nulls of NULL_MEANINGS) {
          const columns = { left: { type: left, nulls }, right: { type: right, nulls: 'sent' } } as const
          await comparison.compare(each, columns, rows)
        }
      }
    }
    expect(comparison.met.allowed).toBeGreaterThan(100)
    expect(comparison.met.denied).toBeGreaterThan(100)
  },
)

async function planOrNull(ask: ReturnType<typeof askRoutes>, body: string): Promise<AccessPlan | null> {
  try {
    return await ask<AccessPlan>('planAccess', body)
  } catch (error) {
    if ((error as { code?: string }).code === 'FILTER_NOT_EXPRESSIBLE') return null
    throw error
  }
}
