/**
 * Reference implementation of filters: evaluates the tree of a plan for one row (filter.md P45 to P48). It
 * shares no code with the planner or the adapters.
 */
import type { FieldNode, FilterNode } from '#filter/tree.ts'
import { matchesGlob } from './conditions/globs.ts'

/** Values of the columns by field, in the form in which a check of the row sends them. Null: `NULL`. */
export type FilterRow = Readonly<Record<string, unknown>>

export function rowMatches(node: FilterNode, row: FilterRow): boolean {
  if (node.type === 'compound') {
    if (node.value.length < 2) throw new Error('a compound has at least two nodes')
    return node.operator === 'and'
      ? node.value.every(each => rowMatches(each, row))
      : node.value.some(each => rowMatches(each, row))
  }
  return fieldMatches(node, row)
}

/** JSON can have other digits than such a number, and a check then cannot read it (filter.md P70). */
function isReadable(value: unknown): boolean {
  if (!Number.isInteger(value) || Math.abs(value as number) >= 1e21) return true
  return BigInt(value as number) === BigInt(String(value))
}

function fieldMatches({ operator, field, value }: FieldNode, row: FilterRow): boolean {
  if (!Object.hasOwn(row, field)) throw new Error(`the row has no column ${field}`)
  const cell = row[field] ?? null
  if (operator === 'exists') return (cell !== null) === value
  const other = typeof value === 'object' && 'field' in value ? (row[value.field] ?? null) : value
  if (cell === null || other === null || !isReadable(cell)) return false
  if (typeof value === 'object' && 'field' in value && !isReadable(other)) return false
  const list = cell as readonly unknown[]
  const listed = other as readonly unknown[]
  switch (operator) {
    case 'eq':
      return cell === other
    case 'ne':
      return cell !== other
    case 'lt':
      return cell < other
    case 'lte':
      return cell <= other
    case 'gt':
      return cell > other
    case 'gte':
      return cell >= other
    case 'in':
      return listed.includes(cell)
    case 'nin':
      return !listed.includes(cell)
    case 'contains':
      return (cell as string).includes(other as string)
    case 'ncontains':
      return !(cell as string).includes(other as string)
    case 'match':
      return matchesGlob(cell as string, other as string)
    case 'nmatch':
      return !matchesGlob(cell as string, other as string)
    case 'intersects':
      return list.some(each => isReadable(each) && listed.includes(each))
    case 'disjoint':
      return list.every(each => isReadable(each) && !listed.includes(each))
    case 'subset':
      return list.every(each => isReadable(each) && listed.includes(each))
    case 'nsubset':
      return list.some(each => isReadable(each) && !listed.includes(each))
    case 'len_eq':
      return list.length === other
    case 'len_ne':
      return list.length !== other
    case 'len_lt':
      return list.length < (other as number)
    case 'len_gt':
      return list.length > (other as number)
  }
}
