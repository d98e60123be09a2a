/**
 * Who is dead: what was removed while rows of its dependants still await their purge. Every such row says so itself, by
 * an id it has and a purge names; so a removal is one small commit, however much it takes along.
 */
import type { StoredRecord } from '#model/records.ts'
import { lists } from '#store/keyspace.ts'
import { decodeAs } from '#store/record-codec.ts'
import type { Row } from '#store/ledger.ts'
import type { View } from '#store/view.ts'

/** The `known` ids and those that pending purges name. O(ids); nearly always there are none, which is one look at a counter. */
export function readDeadIds(view: View, known: readonly string[]): Set<string> {
  if (view.count(lists.all('purge')) === 0) return new Set(known)
  return deadIdsIn(view.scan(lists.all('purge')), known)
}

/** The `known` ids and those that these rows of purges name. */
export function deadIdsIn(purges: Iterable<Row>, known: readonly string[] = []): Set<string> {
  const dead = new Set(known)
  for (const row of purges) for (const id of decodeAs('purge', row).deadIds) dead.add(id)
  return dead
}

/** Whether a record is, or belongs to, one of the dead. Types, users, tenants go at once: their rows are never dead. */
export function isDead(record: StoredRecord, dead: ReadonlySet<string>): boolean {
  if (dead.size === 0) return false
  switch (record.kind) {
    case 'instance':
      return dead.has(record.id) || dead.has(record.typeId) || dead.has(record.tenantId)
    case 'assignment': {
      const { userId, roleId, tenantId, instanceId } = record
      return (
        [userId, roleId, tenantId].some(id => dead.has(id)) || (instanceId !== null && dead.has(instanceId))
      )
    }
    case 'tuple': {
      const { subjectId, relationId, objectId, tenantId } = record
      return dead.has(subjectId) || dead.has(objectId) || dead.has(relationId) || dead.has(tenantId)
    }
    default:
      return false
  }
}
