/** The table of docs/filter.md lists what each adapter refuses. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { toPrisma } from '#filter/prisma.ts'
import { table, type AttributeDescription, type ColumnKind } from '#filter/table.ts'
import { toPredicate } from '#filter/predicate.ts'
import { toSql } from '#filter/to-sql.ts'
import type { FieldOperator, FilterNode, PlannedFilter } from '#filter/tree.ts'
import { unlessRefused } from '#testing/filters/refusals.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/filter.md', import.meta.url)), 'utf8')
const section = page.slice(page.indexOf('### What adapters refuse'), page.indexOf('## Describe columns'))
const [, , ...rows] = section.split('\n').filter(line => line.startsWith('|'))
const documented = rows.map(line =>
  line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim()),
)

type Column = Omit<AttributeDescription, 'column'>
type Test = readonly [column: Column, operators: readonly FieldOperator[], value: unknown]

const EQUALITY = ['eq', 'ne'] as const
const LISTED = ['in', 'nin'] as const
const ORDER = ['lt', 'lte', 'gt', 'gte'] as const
const TIME = '2026-01-01T00:00:00.000Z'
const DAY = '2026-01-01'
const CONTAINED = ['contains', 'ncontains'] as const
const MATCHED = ['match', 'nmatch'] as const

const text = (more: Partial<Column> = {}): Column => ({ type: 'string', ...more })
const equal = (column: Column, a: unknown, b: unknown): Test[] => [
  [column, EQUALITY, a],
  [column, LISTED, [a, b]],
]
const number = (as: ColumnKind, a = 1, b = 2): Test[] => {
  const column: Column = { type: 'number', as }
  return [...equal(column, a, b), [column, ORDER, a]]
}
const time = (as: ColumnKind): Test[] => {
  const column: Column = { type: 'time', as }
  return [...equal(column, TIME, '2026-01-02T00:00:00.000Z'), [column, ['lt', 'gte'], TIME]]
}
const date = (as: ColumnKind): Test[] => {
  const column: Column = { type: 'date', as }
  return [...equal(column, DAY, '2026-01-02'), [column, ['lt', 'gte'], DAY]]
}
const words: Column = { type: 'string_array' }
const sizes: Column = { type: 'number_array' }
const key = (as: ColumnKind) => text({ as })
const other = (name: string) => ({ field: `attributes.${name}` })

/** The tests of each row of the table. An adapter accepts all of them, or refuses all of them. */
const TESTS: Readonly<Record<string, readonly Test[]>> = {
  'equality of a text': equal(text(), 'a', 'b'),
  "equality of a text, `collation: 'exact'`": equal(text({ collation: 'exact' }), 'a', 'b'),
  "equality of a text, `collation: 'nondeterministic'`": equal(
    text({ collation: 'nondeterministic' }),
    'a',
    'b',
  ),
  'equality of a `uuid`': equal(
    key('uuid'),
    '5c0f8e2a-0000-4000-8000-00000000000a',
    '5c0f8e2a-0000-4000-8000-00000000000b',
  ),
  'equality of a key in a whole-number column': [
    ...equal(key('integer'), '7', '8'),
    ...equal(key('bigint'), '7', '8'),
  ],
  '`contains` of a text': [[text(), CONTAINED, 'a']],
  '`contains` with `%`, `_` or a backslash': ['5%', 'a_', 'a\\'].map(part => [text(), CONTAINED, part]),
  '`contains` of a key in a whole-number column': [
    [key('integer'), CONTAINED, '7'],
    [key('bigint'), CONTAINED, '7'],
  ],
  '`match` of `x**`, `**x` or `**x**`': ['x**', '**x', '**x**'].map(glob => [text(), MATCHED, glob]),
  '`match` of another glob': ['x*', 'x?', '[xy]', '{x,y}', '**x*'].map(glob => [text(), MATCHED, glob]),
  '`match` with U+0000': ['[a\0]', 'x*\0'].map(glob => [text(), MATCHED, glob]),
  'comparison of an `integer`': number('integer'),
  'comparison of an `integer` with a fraction': number('integer', 1.5, 2.5),
  'comparison of a `double`': number('double', 1.5, 2.5),
  'comparison of a `double` with more than 15 digits': number('double', 0.1 + 0.2, 2 ** 53),
  'comparison of a `bigint` or `numeric`': [...number('bigint'), ...number('numeric')],
  'comparison of a `real`': number('real'),
  'equality of a truth value': [[{ type: 'bool' }, ['eq'], true]],
  'comparison of a `timestamptz`': time('timestamptz'),
  'comparison of a `timestamp`': time('timestamp'),
  'comparison of a `datetime`': time('datetime'),
  'comparison of a time as `text` or `milliseconds`': [...time('text'), ...time('milliseconds')],
  'comparison of a `date`': date('date'),
  'comparison of a date as `text`': date('text'),
  '`intersects`, and length 0, of a list': [
    [words, ['intersects'], ['a']],
    [sizes, ['intersects'], [1]],
    [words, ['len_eq', 'len_gt'], 0],
  ],
  '`disjoint`, `subset` and `nsubset` of a list': [
    [words, ['disjoint', 'subset', 'nsubset'], ['a']],
    [sizes, ['disjoint', 'subset', 'nsubset'], [1]],
  ],
  'another length of a list': [
    [words, ['len_eq', 'len_gt', 'len_lt'], 2],
    [words, ['len_ne'], 0],
  ],
  'a number from 1e21 on in a list': [[sizes, ['disjoint', 'subset', 'nsubset'], [1e21]]],
  'a number beyond 1e60 in a list': [[sizes, ['disjoint', 'subset', 'nsubset'], [1e61]]],
  "`intersects` of a list, `collation: 'nondeterministic'`": [
    [{ ...words, collation: 'nondeterministic' }, ['intersects'], ['a']],
  ],
  'comparison of two columns': [
    [text(), EQUALITY, other('tested')],
    [{ type: 'number', as: 'integer' }, [...EQUALITY, ...ORDER], other('double')],
    [text({ as: 'bigint' }), EQUALITY, other('tested')],
  ],
  'comparison of two columns of different kinds': [[text({ as: 'bigint' }), EQUALITY, other('text')]],
}

const DOUBLE: AttributeDescription = { column: 'd', type: 'number', as: 'double' }
const member = { table: 'members', foreignKey: 'document', subject: 'team', property: 'teams' }

/** For each adapter, whether it accepts the filter. */
function outcomes(column: Column, filter: FilterNode): readonly boolean[] {
  const described = table({
    type: 'document',
    key: { column: 'id' },
    attributes: {
      tested: { column: 'tested', ...column },
      text: { column: 'text', type: 'string' },
      double: DOUBLE,
    },
    relations: { member },
  })
  const plan: PlannedFilter = { kind: 'conditional', filter }
  expect(toPredicate(plan, described)).toBeTypeOf('function')
  const dialects = ['postgresql', 'mysql', 'sqlite'] as const
  const [ofPostgres, ...others] = dialects.map(
    dialect => unlessRefused(() => toPrisma(plan, described, { dialect })) !== null,
  )
  expect(new Set(others).size).toBe(1)
  const inSql = dialects.map(
    dialect => unlessRefused(() => toSql(plan, described, { dialect, alias: 'd' })) !== null,
  )
  return [...inSql, ofPostgres!, others[0]!]
}

const tested = Object.entries(TESTS).map(([name, tests]) => {
  const all = tests.flatMap(([column, operators, value]) =>
    operators.map(operator =>
      outcomes(column, { type: 'field', operator, field: 'attributes.tested', value } as FilterNode),
    ),
  )
  return [name, all] as const
})

function ofRelation(operators: readonly FieldOperator[], value: unknown): (readonly boolean[])[] {
  return operators.map(operator =>
    outcomes(text(), { type: 'field', operator, field: 'relations.member', value } as FilterNode),
  )
}

test.each([
  ...tested,
  [
    'equality of a relation in another table',
    [...ofRelation(['eq'], 'x'), ...ofRelation(['in'], ['x', 'y'])],
  ],
  [
    'absence of a relation in another table',
    [...ofRelation(['ne'], 'x'), ...ofRelation(['nin'], ['x', 'y'])],
  ],
] as const)('adapters accept or refuse %s as documented', (name, all) => {
  const cells = documented.find(([documentedName]) => documentedName === name)
  for (const accepted of all) {
    expect(['', ...accepted.map(is => (is ? 'yes' : 'throws'))]).toEqual(['', ...(cells?.slice(1) ?? [])])
  }
})

test('the table of refusals has no other rows', () => {
  expect(documented.length).toBe(tested.length + 2)
})
