/**
 * The whole of an environment as changes, in an order in which each change finds what it names: what an empty engine
 * hears to reach the view's state. Rows whose other side is gone await their purge and are left out.
 */
import type { AssignmentScope, Change, InstanceKey } from '#model/change.ts'
import type { RelationRecord, RoleRecord, TypeRecord } from '#model/records.ts'
import { lists } from '#store/keyspace.ts'
import type { View } from '#store/view.ts'
import { RecordReader } from './management/record-reader.ts'
import { roleChange } from './management/roles.ts'

/** O(rows), lazily; holds a map from id to key of every user and instance while it runs. */
export function* loadChanges(view: View): Iterable<Change> {
  const records = new RecordReader(view)
  const types = new Map<string, TypeRecord>()
  const roles = new Map<string, RoleRecord>()
  const relations = new Map<string, RelationRecord>()
  const tenants = new Map<string, string>()
  const users = new Map<string, string>()
  const instances = new Map<string, InstanceKey>()

  for (const type of records.list('type', lists.all('type'))) {
    types.set(type.id, type)
    yield { kind: 'type-put', type: type.key, actions: type.actions.map(({ key }) => key) }
  }
  for (const relation of records.list('relation', lists.all('relation'))) {
    const objectType = types.get(relation.typeId)
    const subjectType = types.get(relation.subjectTypeId)
    if (!objectType || !subjectType) continue
    relations.set(relation.id, relation)
    yield {
      kind: 'relation-put',
      type: objectType.key,
      relation: relation.key,
      subjectType: subjectType.key,
    }
  }
  for (const role of records.list('role', lists.all('role'))) {
    const type = role.typeId === null ? null : types.get(role.typeId)
    if (type === undefined) continue
    roles.set(role.id, role)
    yield roleChange(withoutMentions(role), type)
  }
  // Roles mention each other, in circles too: what they say comes when all are there.
  for (const role of roles.values()) {
    yield roleChange(role, role.typeId === null ? null : types.get(role.typeId)!)
  }
  for (const tenant of records.list('tenant', lists.all('tenant'))) {
    tenants.set(tenant.id, tenant.key)
    yield { kind: 'tenant-put', tenant: tenant.key, attributes: tenant.attributes }
  }
  for (const user of records.list('user', lists.all('user'))) {
    users.set(user.id, user.key)
    yield { kind: 'user-put', user: user.key }
  }
  for (const record of records.list('instance', lists.all('instance'))) {
    const type = types.get(record.typeId)
    const tenant = tenants.get(record.tenantId)
    if (!type || tenant === undefined) continue
    const instance = { type: type.key, key: record.key }
    instances.set(record.id, instance)
    yield { kind: 'instance-put', instance, tenant, attributes: record.attributes }
  }
  for (const assignment of records.list('assignment', lists.all('assignment'))) {
    const user = users.get(assignment.userId)
    const role = roles.get(assignment.roleId)
    const scope = scopeOf(assignment)
    if (user === undefined || !role || !scope) continue
    yield { kind: 'assignment-put', user, role: role.key, scope }
  }
  for (const tuple of records.list('tuple', lists.all('tuple'))) {
    const subject = instances.get(tuple.subjectId)
    const relation = relations.get(tuple.relationId)
    const object = instances.get(tuple.objectId)
    if (!subject || !relation || !object) continue
    yield { kind: 'tuple-put', subject, relation: relation.key, object }
  }

  function scopeOf(assignment: {
    readonly tenantId: string
    readonly instanceId: string | null
  }): AssignmentScope | null {
    if (assignment.instanceId !== null) {
      const instance = instances.get(assignment.instanceId)
      return instance ? { instance } : null
    }
    const tenant = tenants.get(assignment.tenantId)
    return tenant === undefined ? null : { tenant }
  }
}

/** The role as far as it says nothing of other roles. */
function withoutMentions(role: RoleRecord): RoleRecord {
  return { ...role, extends: [], grantedTo: { ...role.grantedTo, entries: [] } }
}
