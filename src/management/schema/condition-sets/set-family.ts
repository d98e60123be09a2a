/**
 * Ancestors and descendants of condition sets (conditions.md 1.2). A set has few ancestors but can have
 * thousands of descendants. A command that gives a set a parent writes the row of the schema. Therefore, a
 * command that has called `requireNoneAdded` runs again if a set gets another parent.
 */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import type { ConditionSetRecord } from '#entities/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'

/** The ancestors, nearest first. */
export function ancestorsOf(records: RecordReader, set: ConditionSetRecord): ConditionSetRecord[] {
  const above: ConditionSetRecord[] = []
  for (let { parentId } = set; parentId !== null;) {
    const parent = records.byId('condition-set', parentId)
    assert(parent, 'the parent of a condition set exists')
    above.push(parent)
    parentId = parent.parentId
  }
  return above
}

/** The descendants, nearest first, with their distance; 1 for a child. Pauses after each set. */
export function* descendantsOf(
  records: RecordReader,
  set: ConditionSetRecord,
): Resumable<readonly { readonly set: ConditionSetRecord; readonly distance: number }[]> {
  const below: { readonly set: ConditionSetRecord; readonly distance: number }[] = []
  let row: readonly ConditionSetRecord[] = [set]
  for (let distance = 1; row.length > 0; distance += 1) {
    const next: ConditionSetRecord[] = []
    for (const parent of row) {
      next.push(...records.list('condition-set', lists.setsBelow(parent.id)))
      yield
    }
    for (const each of next) below.push({ set: each, distance })
    row = next
  }
  return below
}
