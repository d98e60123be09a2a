/** The vectors of filter.md, section 11, and the form in which they show filters. */
import type { FilterNode } from '#filter/tree.ts'

/** A test of the attribute `c`, and the filters for the test and for its negation. */
export type PlanVector = readonly [
  name: string,
  /** Type of the column, and the meaning of `NULL`. */
  column: string,
  says: object,
  isTrue: string,
  isFalse: string,
]

export const PLAN_VECTORS: readonly PlanVector[] = [
  ['V1', 'string sent', { equals: 'x' }, 'c eq "x"', 'c exists false or c ne "x"'],
  ['V2', 'string missing', { equals: 'x' }, 'c eq "x"', 'c ne "x"'],
  ['V3', 'string sent', { equals: null }, 'c exists false', 'c exists true'],
  ['V3', 'string missing', { equals: null }, 'denied', 'c exists true'],
  ['V4', 'string never', { equals: 1 }, 'denied', 'allowed'],
  ['V5', 'string sent', { in: ['x', null, 1] }, 'c eq "x" or c exists false', 'c ne "x"'],
  ['V6', 'number sent', { 'less-than': 5 }, 'c lt 5', 'c gte 5'],
  ['V7', 'number sent', { 'less-than': '2026-01-01' }, 'denied', 'denied'],
  [
    'V8',
    'time sent',
    { 'less-than-equals': '2026-06-30T12:00:00.4995Z' },
    'c lt "2026-06-30T12:00:00.500Z"',
    'c gte "2026-06-30T12:00:00.500Z"',
  ],
  [
    'V9',
    'time sent',
    { 'greater-than': '2026-01-01T01:00:00+02:00' },
    'c gte "2025-12-31T23:00:00.001Z"',
    'c lt "2025-12-31T23:00:00.001Z"',
  ],
  [
    'V10',
    'date sent',
    { 'greater-than-equals': '2026-01-01T00:00:00.001Z' },
    'c gte "2026-01-02"',
    'c lt "2026-01-02"',
  ],
  ['V11', 'time sent', { equals: '2026-01-01T00:00:00Z' }, 'denied', 'allowed'],
  ['V12', 'string sent', { match: 'eu-\\*' }, 'c eq "eu-*"', 'c ne "eu-*"'],
  ['V12', 'string sent', { match: '*' }, 'c match "*"', 'c nmatch "*"'],
  ['V13', 'string_array sent', { array_subset: [] }, 'c len_eq 0', 'c len_gt 0'],
  [
    'V14',
    'string_array sent',
    { array_superset: ['y', 'x'] },
    'c intersects ["x"] and c intersects ["y"]',
    'c disjoint ["x"] or c disjoint ["y"]',
  ],
  ['V15', 'string sent', { exists: false }, 'denied', 'allowed'],
  ['V15', 'string missing', { exists: false }, 'c exists false', 'c exists true'],
  [
    'V16',
    'string sent',
    { not: { allOf: [{ equals: 'x' }, { exists: true }] } },
    'c exists false or c ne "x"',
    'c eq "x"',
  ],
  ['V17', 'bool sent', { 'not-equals': true }, 'c eq false or c exists false', 'c eq true'],
]

/** Shows a filter as in the vectors. A boolean stands for a filter that is true for all rows or for none. */
export function shownFilter(filter: FilterNode | boolean): string {
  if (typeof filter === 'boolean') return filter ? 'allowed' : 'denied'
  if (filter.type === 'field') {
    return `${filter.field.replace('attributes.', '')} ${filter.operator} ${JSON.stringify(filter.value)}`
  }
  const items = filter.value.map(item =>
    item.type === 'field' ? shownFilter(item) : `(${shownFilter(item)})`,
  )
  return items.join(` ${filter.operator} `)
}
