/**
 * Condition sets above and below each other (conditions.md 1.2). What stands above is few, what stands below may be thousands.
 * Whoever puts a set below another writes the row of the schema, so a command that has called `requireNoneAdded` rests on what it read.
 */
import type { RecordReader } from '#management/commands/record-reader.ts'
import type { Resumable } from '#management/commands/resumable.ts'
import { assert } from '#model/assert.ts'
import type { ConditionSetRecord } from '#model/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'

/** The sets above, nearest first. */
export function ancestorsOf(records: RecordReader, set: ConditionSetRecord): ConditionSetRecord[] {
  const above: ConditionSetRecord[] = []
  for (let { parentId } = set; parentId !== null;) {
    const parent = records.byId('condition-set', parentId)
    assert(parent, 'a condition set lives no longer than its parent')
    above.push(parent)
    parentId = parent.parentId
  }
  return above
}

/** The sets below, nearest first. Each with how far below it is; 1: right below. A stop after each. */
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
