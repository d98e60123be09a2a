/**
 * Each operator on a column of each type, for each meaning of `NULL`, and under a negation: the filter
 * selects the rows that `/allowed/bulk` allows, or the plan is refused (filter.md P38 to P44).
 */
import { expect, test } from 'vitest'
import type { AccessPlan, ColumnType, FilterNode, NullMeaning } from '#filter/tree.ts'
import { COLUMN_TYPES, NULL_MEANINGS } from '#filter/tree.ts'
import { rowMatches } from '#testing/oracle/filters.ts'
import { neighbourOf, sharedService } from '#testing/processes/running-service.ts'
import { content, importInto, type Line } from '../../support/content.ts'

const [NOON, LATER] = ['2026-01-02T12:00:00.000Z', '2026-01-02T12:00:00.001Z']
const [DAY, NEXT_DAY] = ['2026-01-02', '2026-01-03']
/** Values of the columns. The first one is also stored, in the attributes of an instance. */
const VALUES: Readonly<Record<ColumnType, readonly unknown[]>> = {
  string: ['x', 'y', '', 'x*', NOON],
  number: [1, 0, 2, -0.5],
  bool: [true, false],
  time: [NOON, LATER, '2026-01-01T00:00:00.000Z'],
  date: [DAY, NEXT_DAY, '2026-01-01'],
  string_array: [['x'], [], ['x', 'y'], ['y', 'none']],
  number_array: [[1], [], [1, 2]],
}

const matched = { match: { n: { equals: 1 } } }
const found = { ...matched, fk_resource_type: 'other' }
const TESTS: readonly object[] = [
  ...['x', 1, true, null, NOON, DAY, ['x'], { k: 1 }].map(value => ({ equals: value })),
  ...['x', 2, false, null, LATER, [1]].map(value => ({ 'not-equals': value })),
  ...[['x', 1, null, NOON, DAY], [true], [['x']], []].map(value => ({ in: value })),
  ...[1, NOON, '2026-01-02T13:00:00.0005+01:00'].flatMap(value => [
    { 'less-than': value },
    { 'less-than-equals': value },
    { 'greater-than': value },
    { 'greater-than-equals': value },
  ]),
  ...[
    [0, 1],
    [DAY, NOON],
  ].map(value => ({ between: value })),
  ...['x', '', '*'].map(value => ({ contains: value })),
  ...['x*', 'x', 'x\\*', '**', '?'].map(value => ({ match: value })),
  ...['x', 1, null].map(value => ({ array_contains: value })),
  ...[['x', 1], ['none'], [true], []].flatMap(value => [
    { array_intersect: value },
    { array_subset: value },
    { array_superset: value },
  ]),
  ...[0, 1].flatMap(value => [
    { array_len_equals: value },
    { array_len_greater_than: value },
    { array_len_less_than: value },
  ]),
  { exists: true },
  { exists: false },
  { object_match: found },
  { any_match: found },
  { all_match: found },
  { object_match: matched },
  { any_match: matched },
  { all_match: matched },
]

interface Case {
  readonly action: string
  readonly type: ColumnType
  readonly says: object
  readonly isNegated: boolean
}

const CASES: readonly Case[] = COLUMN_TYPES.flatMap(type =>
  TESTS.flatMap((says, index) =>
    [false, true].map(isNegated => ({ action: `${type}-${index}-${isNegated}`, type, says, isNegated })),
  ),
)

const client = await sharedService()
const key = await neighbourOf(client, 'matrix')
const stored = Object.fromEntries(COLUMN_TYPES.map(type => [type, VALUES[type][0]]))
const resource = (name: string, actions: readonly string[]): Line => ({
  kind: 'resource',
  key: name,
  name,
  actions: Object.fromEntries(actions.map(action => [action, {}])),
})
const lines: Line[] = [
  resource(
    'doc',
    CASES.map(({ action }) => action),
  ),
  resource('other', []),
  { kind: 'condition_set', key: 'everyone', name: 'Everyone', type: 'userset', conditions: {} },
  ...CASES.map(({ action, type, says, isNegated }) => {
    const condition = { [`resource.${type}`]: says }
    const conditions = isNegated ? { not: condition } : condition
    return {
      kind: 'condition_set',
      key: action,
      name: action,
      type: 'resourceset',
      resource: 'doc',
      conditions,
    }
  }),
  ...CASES.map(({ action }) => ({
    kind: 'rule',
    user_set: 'everyone',
    permission: `doc:${action}`,
    resource_set: action,
  })),
  { kind: 'tenant', key: 'default', name: 'Default' },
  { kind: 'instance', resource: 'doc', key: 'stored', tenant: 'default', attributes: stored },
  { kind: 'instance', resource: 'other', key: 'x', tenant: 'default', attributes: { n: 1 } },
  { kind: 'instance', resource: 'other', key: 'y', tenant: 'default', attributes: { n: 2 } },
]
await importInto(client, 'matrix', content(...lines), key, 200, '?replace=true')

/** Rows with each value of the column, and with `NULL`: one that is stored and one that is not. */
function rowsOf(type: ColumnType, nulls: NullMeaning): readonly (readonly [key: string, value: unknown])[] {
  const present = VALUES[type].map((value, index) => [`row-${index}`, value] as const)
  if (nulls === 'never') return present
  return [...present, ['null', null], ['stored', null]]
}

function checkOf({ action, type }: Case, nulls: NullMeaning, row: readonly [string, unknown]): object {
  const [rowKey, value] = row
  const isSent = value !== null || nulls === 'sent'
  return {
    user: { key: 'ann' },
    action,
    resource: {
      type: 'doc',
      tenant: 'default',
      key: rowKey,
      ...(isSent && { attributes: { [type]: value } }),
    },
  }
}

/** Decides checks in bulks. */
async function decided(checks: readonly object[]): Promise<boolean[]> {
  const decisions: boolean[] = []
  for (let from = 0; from < checks.length; from += 10_000) {
    const body = checks.slice(from, from + 10_000)
    const answer = await client.send<{ allow: { allow: boolean }[] }>('POST', '/allowed/bulk', { key, body })
    decisions.push(...answer.body.allow.map(({ allow }) => allow))
  }
  return decisions
}

/** Tests without an exact filter (filter.md P44), by the types of the columns. */
const REFUSED: Readonly<Partial<Record<ColumnType, readonly object[]>>> = {
  string: TESTS.filter(
    says => /-than|between/.test(JSON.stringify(says)) && JSON.stringify(says).includes(DAY),
  ),
  time: TESTS.filter(says => 'contains' in says || 'match' in says || has(says, 'object_match')),
  date: TESTS.filter(says => 'contains' in says || 'match' in says || has(says, 'object_match')),
  string_array: [{ equals: ['x'] }, { 'not-equals': [1] }, { in: [['x']] }],
  number_array: [{ equals: ['x'] }, { 'not-equals': [1] }, { in: [['x']] }],
}

/** Whether the test looks up stored instances with this operator. */
function has(says: object, operator: string): boolean {
  return (says as Record<string, unknown>)[operator] === found
}

test('each operator selects the same rows as checks, for each type, meaning of NULL and polarity', async () => {
  const asked = CASES.flatMap(each => NULL_MEANINGS.map(nulls => ({ ...each, nulls })))
  const rows = asked.map(each => rowsOf(each.type, each.nulls))
  const allowed = await decided(
    asked.flatMap((each, index) => rows[index]!.map(row => checkOf(each, each.nulls, row))),
  )
  const refused: Partial<Record<ColumnType, Set<object>>> = {}
  let at = 0
  for (const [index, { action, type, nulls, says, isNegated }] of asked.entries()) {
    const expected = allowed.slice(at, at + rows[index]!.length)
    at += expected.length
    const body = {
      user: { key: 'ann' },
      action,
      resource: { type: 'doc', tenant: 'default' },
      columns: { attributes: { [type]: { type, nulls } } },
    }
    const { status, body: plan } = await client.send<AccessPlan>('POST', '/allowed/plan', { key, body })
    if (status === 422) {
      ;(refused[type] ??= new Set()).add(says)
      continue
    }
    const selected = rows[index]!.map(([rowKey, value]) =>
      selects(plan, { key: rowKey, [`attributes.${type}`]: value }),
    )
    const shown = JSON.stringify({ type, nulls, says, isNegated, filter: plan.filter, kind: plan.kind })
    expect(selected, shown).toEqual(expected)
  }
  const shown = Object.entries(refused).map(([type, tests]) => [type, [...tests]])
  expect(Object.fromEntries(shown)).toEqual(REFUSED)
})

function selects({ kind, filter }: AccessPlan, row: Readonly<Record<string, unknown>>): boolean {
  return filter === undefined ? kind === 'always_allowed' : rowMatches(filter satisfies FilterNode, row)
}
