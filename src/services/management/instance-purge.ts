/**
 * The rows that a deleted instance leaves behind: its assignments and its tuples, found by its id. They are deleted in
 * commits of bounded size, the first together with the instance. They mean nothing any more: the engine dropped them
 * with the instance, and readers leave out records whose other side is gone.
 */
import { lists } from '#store/keyspace.ts'
import type { PurgeRecord } from '#model/records.ts'
import type { WriteContext } from './context.ts'
import { takeFirst } from './paging.ts'

/** Rows deleted in one commit: short enough (a few ms) not to hold up other writers. */
export const PURGE_ROWS_MAX = 500

/** Deletes up to `PURGE_ROWS_MAX` of the instance's dependants. Returns whether none are left. */
export function deleteDependants(context: WriteContext, instanceId: string): boolean {
  const { records } = context
  let room = PURGE_ROWS_MAX
  const assignments = takeFirst(records.list('assignment', lists.assignmentsOnInstance(instanceId)), room + 1)
  for (const assignment of assignments.slice(0, room)) records.delete(assignment)
  room -= Math.min(room, assignments.length)
  for (const list of [lists.tuplesFrom(instanceId), lists.tuplesTo(instanceId)]) {
    const tuples = takeFirst(records.list('tuple', list), room + 1)
    for (const tuple of tuples.slice(0, room)) records.delete(tuple)
    if (tuples.length > room) return false
    room -= tuples.length
  }
  return assignments.length <= PURGE_ROWS_MAX
}

/** One step of a purge; the last one removes the purge itself. Returns whether it was the last. */
export function purgeStep(context: WriteContext, purge: PurgeRecord): boolean {
  if (!deleteDependants(context, purge.targetId)) return false
  context.records.delete(purge)
  return true
}
