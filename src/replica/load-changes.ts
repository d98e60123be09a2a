/**
 * The whole of an environment as changes: what an empty engine must hear to reach the state of the view. Each change comes
 * after those that make what it names. Rows whose other side is gone await their purge and are left out. Needs no lists.
 *
 * The schema comes first. Everything else follows in one pass in order of creation, in which a thing comes before the facts
 * that name it. Of a fact only the key is read, which holds its subject, relation or role, and object; of a user of whom
 * nothing else is stored the key and the id.
 */
import { deadIdsIn, isDead } from '#management/commands/dead-ids.ts'
import { roleChange } from '#management/schema/roles.ts'
import type { Change, InstanceKey } from '#model/change.ts'
import type { RecordKind, RecordOf, RelationRecord, RoleRecord, TypeRecord } from '#model/records.ts'
import { attributesOfUser } from '#model/user-attributes.ts'
import { idBytes, recordsBegin, userKeyOf } from '#store/keyspace/keyspace.ts'
import {
  decodeAs,
  decodeRecord,
  hasNoProfile,
  ID_START,
  idInKey,
  KIND_BYTES,
} from '#store/keyspace/record-codec.ts'
import type { Row } from '#store/ledger.ts'
import type { View } from '#store/view.ts'
import { IdTable } from './id-table.ts'

/** Lazy, O(rows). While it runs it holds a table from id to key of every user and instance. */
export function loadChanges(view: View): Iterable<Change> {
  return new ChangesOf(view).all()
}

const USER_AT = idInKey('assignment', 'userId')
const SCOPE_AT = idInKey('assignment', 'scopeId')
const ROLE_AT = idInKey('assignment', 'roleId')
const OBJECT_AT = idInKey('tuple', 'objectId')
const RELATION_AT = idInKey('tuple', 'relationId')
const SUBJECT_AT = idInKey('tuple', 'subjectId')
const USER_BYTES_MIN = ID_START + 16

class ChangesOf {
  readonly #view: View
  readonly #dead: ReadonlySet<string>
  readonly #types = new IdTable<TypeRecord>()
  readonly #roles = new IdTable<RoleRecord>()
  readonly #relations = new IdTable<RelationRecord>()
  readonly #tenants = new IdTable<string>()
  readonly #users = new IdTable<string>()
  readonly #instances = new IdTable<InstanceKey>()
  /** Facts that came before the things they name, should there be any. They are tried again at the end. */
  readonly #early: Row[] = []

  constructor(view: View) {
    this.#view = view
    this.#dead = deadIdsIn(view.beginningWith(recordsBegin('purge')))
  }

  *all(): Iterable<Change> {
    yield* this.#schema()
    for (const tenant of this.#ofKind('tenant')) {
      this.#tenants.set(idBytes(tenant.id), 0, tenant.key)
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
      this.#types.set(idBytes(type.id), 0, type)
      yield { kind: 'type-put', type: type.key, actions: type.actions.map(({ key }) => key) }
    }
    for (const relation of this.#ofKind('relation')) {
      const objectType = this.#types.get(idBytes(relation.typeId), 0)
      const subjectType = this.#types.get(idBytes(relation.subjectTypeId), 0)
      if (!objectType || !subjectType) continue
      this.#relations.set(idBytes(relation.id), 0, relation)
      const { key } = relation
      yield { kind: 'relation-put', type: objectType.key, relation: key, subjectType: subjectType.key }
    }
    for (const role of this.#ofKind('role')) {
      const type = this.#typeOf(role)
      if (type === undefined) continue
      this.#roles.set(idBytes(role.id), 0, role)
      yield roleChange(withoutMentions(role), type)
    }
    // Roles mention each other, also in cycles. Their mentions follow when all roles are there.
    for (const role of this.#roles.values()) yield roleChange(role, this.#typeOf(role)!)
  }

  /** The type of a role: null for a tenant role, undefined when the type is gone. */
  #typeOf(role: RoleRecord): TypeRecord | null | undefined {
    return role.typeId === null ? null : this.#types.get(idBytes(role.typeId), 0)
  }

  *#ofKind<Kind extends RecordKind>(kind: Kind): Iterable<RecordOf<Kind>> {
    for (const row of this.#view.beginningWith(recordsBegin(kind))) yield decodeAs(kind, row)
  }

  /**
   * The change that a row outside the schema stands for. Null for a row of the schema, for one without a meaning to
   * engines, and for a fact that came too early.
   */
  #changeOf(row: Row): Change | null {
    switch (row.key[0]) {
      case KIND_BYTES.user: {
        const user = userKeyOf(row.key)
        // A damaged row that is too short would give a wrong id, and the facts of the user would find no user.
        if (row.value.length < USER_BYTES_MIN) throw new RangeError('the row of a user is cut short')
        this.#users.set(row.value, ID_START, user)
        // The last bytes tell that most users have no profile: decoding a million rows would take seconds.
        const attributes = hasNoProfile(row.value) ? null : attributesOfUser(decodeAs('user', row))
        return { kind: 'user-put', user, attributes }
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
    const type = this.#types.get(idBytes(record.typeId), 0)
    const tenant = this.#tenants.get(idBytes(record.tenantId), 0)
    if (!type || tenant === undefined || isDead(record, this.#dead)) return null
    const instance = { type: type.key, key: record.key }
    this.#instances.set(idBytes(record.id), 0, instance)
    return { kind: 'instance-put', instance, tenant, attributes: record.attributes }
  }

  #factChange(row: Row): Change | null {
    if (this.#dead.size > 0 && isDead(decodeRecord(row), this.#dead)) return null
    return row.key[0] === KIND_BYTES.assignment ? this.#assignmentChange(row.key) : this.#tupleChange(row.key)
  }

  #assignmentChange(key: Uint8Array): Change | null {
    const user = this.#users.get(key, USER_AT)
    const role = this.#roles.get(key, ROLE_AT)
    if (user === undefined || !role) return null
    const instance = this.#instances.get(key, SCOPE_AT)
    if (instance) return { kind: 'assignment-put', user, role: role.key, scope: { instance } }
    const tenant = this.#tenants.get(key, SCOPE_AT)
    if (tenant === undefined) return null
    return { kind: 'assignment-put', user, role: role.key, scope: { tenant } }
  }

  #tupleChange(key: Uint8Array): Change | null {
    const object = this.#instances.get(key, OBJECT_AT)
    const relation = this.#relations.get(key, RELATION_AT)
    const subject = this.#instances.get(key, SUBJECT_AT)
    if (!object || !relation || !subject) return null
    return { kind: 'tuple-put', subject, relation: relation.key, object }
  }
}

/** The role without its mentions of other roles. */
function withoutMentions(role: RoleRecord): RoleRecord {
  return { ...role, extends: [], grantedTo: { ...role.grantedTo, entries: [] } }
}
