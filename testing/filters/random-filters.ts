/** Random filters over the columns of a table, with every operator and with values that no row has. */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { FilterTable } from '#filter/table.ts'
import type { ColumnType, FieldOperator, FilterNode } from '#filter/tree.ts'
import { COLUMNS } from './filter-columns.ts'

const ELEMENTS: Partial<Record<ColumnType, readonly (string | number)[]>> = {
  string_array: ['a', 'A', 'b', 'ä', "o'x", 'zz', 'a\0'],
  number_array: [0.1, 1, 2, 1e21, 7, 99_744_606_032_043_540],
}
const GLOBS = [
  'a**',
  '**b',
  '**a**',
  'a*',
  '*',
  'a?',
  '?',
  '[a-b]**',
  '[!a]',
  '{a,A}',
  'a\\*',
  '**.b',
  'a%**',
  '**\n**',
]
const PARTS = ['a', 'A', '%', '_', '\\', 'ä', '\n', "'", 'e', '\u00ad', 'a\0']

/** Constants of tests: values of the column, and values that no row has. */
function constantsOf(name: string): readonly (string | number | boolean)[] {
  const { attribute, values } = COLUMNS[name]!
  switch (attribute.type) {
    case 'string':
      return [...(values as string[]), 'none', '007', '1e3', '9007199254740992', '\ud800', 'a\0']
    case 'number':
      return [...(values as number[]), 0.5, 2 ** 60, -(2 ** 60), 1e308]
    case 'time':
      return [...(values as string[]).filter(value => value.length === 24), '2026-06-30T12:00:00.500Z']
    case 'date':
      return [...(values as string[]), '2026-06-30']
    default:
      return values as boolean[]
  }
}

const NAME = 'attributes.'.length

export function randomFilters({ fields }: FilterTable): Arbitrary<FilterNode> {
  const names = [...fields.keys()].filter(name => name.startsWith('attributes.'))
  const leaf = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...names).chain(test) },
    { weight: 1, arbitrary: teams },
  )
  return fc.letrec<{ node: FilterNode }>(tie => ({
    node: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({
        type: fc.constant('compound' as const),
        operator: fc.constantFrom('and' as const, 'or' as const),
        value: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
      }),
    ),
  })).node

  function test(field: string): Arbitrary<FilterNode> {
    const { type, as } = COLUMNS[field.slice(NAME)]!.attribute
    const node = (operators: readonly FieldOperator[], value: Arbitrary<unknown>) =>
      nodes(field, operators, value)
    const exists = node(['exists'], fc.boolean())
    const elements = ELEMENTS[type]
    if (elements) {
      const list = fc.uniqueArray(fc.constantFrom(...elements), { minLength: 1, maxLength: 4 })
      return fc.oneof(
        exists,
        node(['intersects', 'disjoint', 'subset', 'nsubset'], list),
        node(['len_eq', 'len_ne', 'len_lt', 'len_gt'], fc.integer({ min: 0, max: 4 })),
      )
    }
    const constant = fc.constantFrom(...constantsOf(field.slice(NAME)))
    if (type === 'bool') return fc.oneof(exists, node(['eq'], constant))
    const list = fc.uniqueArray(constant, { minLength: 2, maxLength: 5 })
    const choices = [exists, node(['eq', 'ne'], constant), node(['in', 'nin'], list)]
    if (type !== 'string') {
      const orderings = type === 'number' ? (['lt', 'lte', 'gt', 'gte'] as const) : (['lt', 'gte'] as const)
      const others = names.filter(name => COLUMNS[name.slice(NAME)]!.attribute.type === type)
      const other = fc.constantFrom(...others).map(name => ({ field: name }))
      choices.push(node(orderings, constant), node(['eq', 'ne', 'lt', 'lte', 'gt', 'gte'], other))
    } else if (as === undefined) {
      choices.push(
        node(['contains', 'ncontains'], fc.constantFrom(...PARTS)),
        node(['match', 'nmatch'], fc.constantFrom(...GLOBS)),
      )
    }
    return fc.oneof(...choices)
  }
}

function nodes(
  field: string,
  operators: readonly FieldOperator[],
  value: Arbitrary<unknown>,
): Arbitrary<FilterNode> {
  return fc
    .tuple(fc.constantFrom(...operators), value)
    .map(([operator, chosen]) => ({ type: 'field', operator, field, value: chosen }) as FilterNode)
}

const team = fc.constantFrom('red', 'Red', 'RED', 'blue', 'none')
const teams = fc.oneof(
  nodes('relations.team', ['eq'], team),
  nodes('relations.team', ['in'], fc.uniqueArray(team, { minLength: 2, maxLength: 3 })),
)
