/**
 * The whole of an environment as changes, in an order in which each change finds what it names: what an empty engine
 * hears to reach the view's state. Rows whose other side is gone await their purge and are left out.
 *
 * Needs no lists. The schema comes first, then everything else in one pass as it was created, where who is named comes
 * before who names. Of a fact only the key is read: it says who, what and where.
 */
import type { Change, InstanceKey } from '#model/change.ts'
import type { RecordKind, RecordOf, RelationRecord, RoleRecord, TypeRecord } from '#model/records.ts'
import { type FactKey, factKeyOf, idName, recordsBegin } from '#store/keyspace.ts'
import type { Row } from '#store/ledger.ts'
import { decodeAs, decodeRecord, KIND_BYTES } from '#store/record-codec.ts'
import type { View } from '#store/view.ts'
import { deadIdsIn, isDead } from './management/dead-ids.ts'
import { roleChange } from './management/roles.ts'

/** O(rows), lazily; holds a map from id to key of every user and instance while it runs. */
export function loadChanges(view: View): Iterable<Change> {
  return new ChangesOf(view).all()
}

/** Ids in the maps are `idName`s: they are looked up once for each fact. */
class ChangesOf {
  readonly #view: View
  readonly #dead: ReadonlySet<string>
  readonly #types = new Map<string, TypeRecord>()
  readonly #roles = new Map<string, RoleRecord>()
  readonly #relations = new Map<string, RelationRecord>()
  readonly #tenants = new Map<string, string>()
  readonly #users = new Map<string, string>()
  readonly #instances = new Map<string, InstanceKey>()
  /** Facts that came before what they name, should there be any: tried again at the end. */
  readonly #early: Row[] = []

  constructor(view: View) {
    this.#view = view
    this.#dead = deadIdsIn(view.beginningWith(recordsBegin('purge')))
  }

  *all(): Iterable<Change> {
    yield* this.#schema()
    for (const tenant of this.#ofKind('tenant')) {
      this.#tenants.set(idName(tenant.id), tenant.key)
      yield { kind: 'tenant-put', tenant: tenant.key, attributes: tenant.attributes }
    }
    for (const rows of this.#view.batches()) {
      for (const row of rows) {
        const change = this.#changeOf(row)
        if (change) yield change
      }
    }
    for (const row of this.#early) {
      const change = this.#factChange(row)
      if (change) yield change
    }
  }

  *#schema(): Iterable<Change> {
    for (const type of this.#ofKind('type')) {
      this.#types.set(idName(type.id), type)
      yield { kind: 'type-put', type: type.key, actions: type.actions.map(({ key }) => key) }
    }
    for (const relation of this.#ofKind('relation')) {
      const objectType = this.#types.get(idName(relation.typeId))
      const subjectType = this.#types.get(idName(relation.subjectTypeId))
      if (!objectType || !subjectType) continue
      this.#relations.set(idName(relation.id), relation)
      const { key } = relation
      yield { kind: 'relation-put', type: objectType.key, relation: key, subjectType: subjectType.key }
    }
    for (const role of this.#ofKind('role')) {
      const type = this.#typeOf(role)
      if (type === undefined) continue
      this.#roles.set(idName(role.id), role)
      yield roleChange(withoutMentions(role), type)
    }
    // Roles mention each other, in circles too: what they say comes when all are there.
    for (const role of this.#roles.values()) yield roleChange(role, this.#typeOf(role)!)
  }

  /** Null for a tenant role, undefined when the type is gone. */
  #typeOf(role: RoleRecord): TypeRecord | null | undefined {
    return role.typeId === null ? null : this.#types.get(idName(role.typeId))
  }

  *#ofKind<Kind extends RecordKind>(kind: Kind): Iterable<RecordOf<Kind>> {
    for (const row of this.#view.beginningWith(recordsBegin(kind))) yield decodeAs(kind, row)
  }

  /** What a row means that is no part of the schema; null when it is, or means nothing, or nothing yet. */
  #changeOf(row: Row): Change | null {
    switch (row.key[0]) {
      case KIND_BYTES.user: {
        const user = decodeAs('user', row)
        this.#users.set(idName(user.id), user.key)
        return { kind: 'user-put', user: user.key }
      }
      case KIND_BYTES.instance:
        return this.#instanceChange(decodeAs('instance', row))
      case KIND_BYTES.assignment:
      case KIND_BYTES.tuple: {
        const change = this.#factChange(row)
        if (!change) this.#early.push(row)
        return change
      }
      default:
        return null
    }
  }

  #instanceChange(record: RecordOf<'instance'>): Change | null {
    const type = this.#types.get(idName(record.typeId))
    const tenant = this.#tenants.get(idName(record.tenantId))
    if (!type || tenant === undefined || isDead(record, this.#dead)) return null
    const instance = { type: type.key, key: record.key }
    this.#instances.set(idName(record.id), instance)
    return { kind: 'instance-put', instance, tenant, attributes: record.attributes }
  }

  #factChange(row: Row): Change | null {
    if (this.#dead.size > 0 && isDead(decodeRecord(row), this.#dead)) return null
    const key = factKeyOf(row.key)
    return row.key[0] === KIND_BYTES.assignment ? this.#assignmentChange(key) : this.#tupleChange(key)
  }

  #assignmentChange([userId, scopeId, roleId]: FactKey): Change | null {
    const user = this.#users.get(userId)
    const role = this.#roles.get(roleId)
    if (user === undefined || !role) return null
    const instance = this.#instances.get(scopeId)
    if (instance) return { kind: 'assignment-put', user, role: role.key, scope: { instance } }
    const tenant = this.#tenants.get(scopeId)
    if (tenant === undefined) return null
    return { kind: 'assignment-put', user, role: role.key, scope: { tenant } }
  }

  #tupleChange([objectId, relationId, subjectId]: FactKey): Change | null {
    const object = this.#instances.get(objectId)
    const relation = this.#relations.get(relationId)
    const subject = this.#instances.get(subjectId)
    if (!object || !relation || !subject) return null
    return { kind: 'tuple-put', subject, relation: relation.key, object }
  }
}

/** The role as far as it says nothing of other roles. */
function withoutMentions(role: RoleRecord): RoleRecord {
  return { ...role, extends: [], grantedTo: { ...role.grantedTo, entries: [] } }
}
