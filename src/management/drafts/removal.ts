/**
 * Removes entities that others depend on (native.md C.7). One commit deletes the row of the entity, notifies
 * the engine, and marks the entity as dead. Its dependents then affect no decision and appear in no list.
 * Their rows are deleted in batches: the first in the same commit, the others after it.
 *
 * Lists are not a requirement of a commit: the first batch can miss rows that other commands add during the
 * removal. Therefore, there is always a purge. After the removal, no command can add dependents, because
 * adding them requires the entity. Therefore, the purge sees all rows that were added before.
 */
import type { TakenAlong } from '#model/change.ts'
import type { PurgeRecord, RelationRecord, RoleRecord, TypeRecord } from '#entities/records.ts'
import { isFactList } from '#store/keyspace/fact-list-membership.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { decodeAs, type FactKind } from '#store/keyspace/record-codec.ts'
import type { ListName } from '#store/view.ts'
import type { WriteContext } from './context.ts'
import {
  type Depended,
  type DependentKind,
  kindInList,
  listsOfDependants,
} from '#store/keyspace/dependences.ts'
import type { Draft } from './draft.ts'

/**
 * Rows deleted in the same commit as the entity, about 2 ms of work. Most removals leave almost no rows for
 * the purge.
 */
const ROWS_WITH_REMOVAL_MAX = 24
/**
 * Maximum number of entities per purge. Each batch rewrites the purge's row, so the row should stay small,
 * however many entities one call removes.
 */
const REMOVED_PER_PURGE = 32

export interface Dead {
  /** Ids by which dependents are recognized: a row is a dependent if it contains one of these ids. */
  readonly deadIds: readonly string[]
  /** The lists of all dependents. Every row in them has one of the ids. */
  readonly lists: readonly ListName[]
}

/**
 * Marks entities as dead, so that their dependents have no effect. In the same draft, the caller deletes the
 * entities themselves, with the change for the engine, and all related schema rows.
 */
export function removeDependants(context: WriteContext, removed: readonly Dead[]): void {
  const { records } = context
  if (removed.length === 0) return
  for (let from = 0; from < removed.length; from += REMOVED_PER_PURGE) {
    const dead = together(removed.slice(from, from + REMOVED_PER_PURGE))
    records.markDead(dead.deadIds)
    records.put({ kind: 'purge', id: context.newId(), ...dead })
  }
  for (const { deadIds, lists: dependants } of removed)
    records.noteTaken(deadIds, countedIn(records, dependants))
  discardRows(records, together(removed).lists, ROWS_WITH_REMOVAL_MAX)
}

/**
 * Number of rows of the lists, by kind. Includes rows that earlier removals have left to be purged. O(lists).
 */
function countedIn(records: Draft, listNames: readonly ListName[]): TakenAlong {
  const counts: Partial<Record<DependentKind, number>> = {}
  for (const list of listNames) {
    const kind = kindInList(list)
    const count = records.storedCount(list)
    if (kind && count > 0) counts[kind] = (counts[kind] ?? 0) + count
  }
  return counts
}

/** Number of entities that the draft marks as dead. O(purges that it writes). */
export function removedBy(records: Draft): number {
  let removed = 0
  for (const [before, after] of records.written('purge')) {
    if (before === null && after !== null) removed += after.deadIds.length
  }
  return removed
}

/**
 * Whether the draft removes facts of a kind, directly or as dependents of entities that it marks as dead.
 * O(rows of facts and purges that it has read).
 */
export function takesAway(records: Draft, kind: FactKind): boolean {
  if (records.removes(kind)) return true
  for (const [before, after] of records.written('purge')) {
    if (before === null && after?.lists.some(list => isFactList(kind, list))) return true
  }
  return false
}

/**
 * The rows that depend on an entity. References to it in other parts of the schema are not included; the
 * caller must change them.
 */
export function dependantsOf({ kind, id }: { readonly kind: Depended; readonly id: string }): Dead {
  return { deadIds: [id], lists: listsOfDependants(kind, id) }
}

/**
 * The facts that depend on a type. `roles` and `relations` are all roles and relations that are deleted with
 * the type: its own ones, and relations of other types whose subjects have this type. The facts on its
 * instances are found through them.
 */
export function dependantsOfType(
  type: TypeRecord,
  roles: readonly RoleRecord[],
  relations: readonly RelationRecord[],
): Dead {
  return together([type, ...roles, ...relations].map(dependantsOf))
}

/** Combines several removals. */
export function together(parts: readonly Dead[]): Dead {
  return {
    deadIds: [...new Set(parts.flatMap(part => part.deadIds))],
    lists: parts.flatMap(part => part.lists),
  }
}

/**
 * Deletes one batch of the rows to be purged, the oldest removal first. A purge record is deleted with the
 * last of its rows. Returns the work done, at most `workMax` + 1: the number of rows, plus one for each
 * examined list and each examined purge.
 */
export function purgePiece(records: Draft, workMax: number): number {
  let work = 0
  for (const row of records.storedRows(lists.all('purge'))) {
    const purge = decodeAs('purge', row)
    const { left, done } = discardRows(records, purge.lists, workMax - work)
    if (left.length === 0) records.delete(purge)
    else if (left.length < purge.lists.length) records.put({ ...purge, lists: left } satisfies PurgeRecord)
    work += done + 1
    if (work >= workMax) break
  }
  return work
}

/**
 * Deletes rows of the lists, up to `capacity` rows and lists together. Returns the lists that may still have
 * rows.
 */
function discardRows(records: Draft, listNames: readonly ListName[], capacity: number) {
  let done = 0
  for (const [index, list] of listNames.entries()) {
    for (const row of records.storedRows(list)) {
      if (done >= capacity) return { left: listNames.slice(index), done }
      records.discard(row)
      done += 1
    }
    done += 1
  }
  return { left: [], done }
}
