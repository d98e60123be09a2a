/**
 * Removes things that others depend on (native.md C.7). One commit removes the thing's own row, tells the
 * engine, and names the thing dead. From then on its dependants are in no decision and no list. Their rows go
 * piece by piece, the first piece in the same commit, the others after it.
 *
 * Lists are no requirement of a commit: rows that others added while a removal was on its way may be missing from its first
 * piece. So there always is a purge. Once the thing is gone nobody adds any more, since that requires the thing, and a
 * purge sees all that came before.
 */
import type { TakenAlong } from '#model/change.ts'
import type { PurgeRecord, RelationRecord, RoleRecord, TypeRecord } from '#model/records.ts'
import { isFactList } from '#store/keyspace/fact-list-membership.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { decodeAs, type FactKind } from '#store/keyspace/record-codec.ts'
import type { ListName } from '#store/view.ts'
import type { WriteContext } from './context.ts'
import { type Depended, type DependentKind, kindInList, listsOfDependants } from './dependences.ts'
import type { Draft } from './draft.ts'

/** Rows that go in the same commit as the thing, some 2 ms of work, so that most removals leave next to nothing behind. */
const ROWS_WITH_REMOVAL_MAX = 24
/**
 * Things that one purge names. Each piece writes the purge's row anew, so the row should stay small, whatever one call
 * removes.
 */
const REMOVED_PER_PURGE = 32

export interface Dead {
  /** The ids by which the row of each dependant is known to be one. */
  readonly deadIds: readonly string[]
  /** The lists of all the dependants. Every row in them has one of the ids. */
  readonly lists: readonly ListName[]
}

/**
 * Makes the dependants of something vanish. The caller deletes the thing itself, with the change that tells the engine,
 * and whatever schema rows go with it, in the same draft.
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
    records.tellTaken(deadIds, countedIn(records, dependants))
  discardRows(records, together(removed).lists, ROWS_WITH_REMOVAL_MAX)
}

/** How many rows the lists have, by kind. Rows that an earlier removal has left to be purged are among them. O(lists). */
function countedIn(records: Draft, listNames: readonly ListName[]): TakenAlong {
  const counts: Partial<Record<DependentKind, number>> = {}
  for (const list of listNames) {
    const kind = kindInList(list)
    const count = records.storedCount(list)
    if (kind && count > 0) counts[kind] = (counts[kind] ?? 0) + count
  }
  return counts
}

/** How many things the draft names dead whose dependants are to be purged. O(purges that it writes). */
export function removedBy(records: Draft): number {
  let removed = 0
  for (const [before, after] of records.written('purge')) {
    if (before === null && after !== null) removed += after.deadIds.length
  }
  return removed
}

/**
 * Whether the draft takes away facts of a kind: those that it removes by itself, and those that depend on what it names dead. O(rows
 * of facts and purges that it has met).
 */
export function takesAway(records: Draft, kind: FactKind): boolean {
  if (records.removes(kind)) return true
  for (const [before, after] of records.written('purge')) {
    if (before === null && after?.lists.some(list => isFactList(kind, list))) return true
  }
  return false
}

/**
 * The rows that depend on a thing. What mentions a part of the schema in other parts is not among them: these are the caller's to
 * change.
 */
export function dependantsOf({ kind, id }: { readonly kind: Depended; readonly id: string }): Dead {
  return { deadIds: [id], lists: listsOfDependants(kind, id) }
}

/**
 * The facts that depend on a type. `roles` and `relations` are all that go with it: its own, and relations of other types
 * whose subjects are of this type. The facts on its instances are found through them.
 */
export function dependantsOfType(
  type: TypeRecord,
  roles: readonly RoleRecord[],
  relations: readonly RelationRecord[],
): Dead {
  return together([type, ...roles, ...relations].map(dependantsOf))
}

/** Several removals as one. */
export function together(parts: readonly Dead[]): Dead {
  return {
    deadIds: [...new Set(parts.flatMap(part => part.deadIds))],
    lists: parts.flatMap(part => part.lists),
  }
}

/**
 * Deletes one piece of what is to be purged, the oldest removal first. A purge goes with the last of its rows. Returns the
 * work done: the rows, and about as much for each list looked at and each purge that ended. At most `workMax` + 1.
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

/** Deletes rows of the lists, up to `room` rows and lists together. Returns the lists that may still have some. */
function discardRows(records: Draft, listNames: readonly ListName[], room: number) {
  let done = 0
  for (const [index, list] of listNames.entries()) {
    for (const row of records.storedRows(list)) {
      if (done >= room) return { left: listNames.slice(index), done }
      records.discard(row)
      done += 1
    }
    done += 1
  }
  return { left: [], done }
}
