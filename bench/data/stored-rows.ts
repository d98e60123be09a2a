/** Converts a dataset to rows of a store, in the form in which management would write them. */
import type { Change, InstanceKey } from '#model/change.ts'
import type {
  AssignmentRecord,
  RoleRecord,
  StoredRecord,
  TupleRecord,
  TypeRecord,
} from '#entities/records.ts'
import {
  instanceRecord,
  newId,
  relationRecord,
  roleRecord,
  tenantRecord,
  typeRecord,
  userRecord,
} from './bulk-store.ts'
import type { Dataset } from '#testing/data/dataset.ts'

const CREATED_AT = 0
const TIMES = { createdAt: CREATED_AT, updatedAt: CREATED_AT }

/**
 * Yields each row once, even if the dataset contains the entity several times. If a role is put several
 * times, its last state is stored.
 */
export function* storedRows(dataset: Dataset): Iterable<StoredRecord> {
  const rows = new DatasetRows()
  const schema: Change[] = []
  let isSchema = true
  for (const change of dataset.things()) {
    if (isSchema && !rows.isThing(change)) schema.push(change)
    else {
      if (isSchema) yield* rows.schema(schema)
      isSchema = false
      yield rows.thing(change)
    }
  }
  const known = new Set<string>()
  for (const change of dataset.facts()) {
    const fact = rows.fact(change)
    const name =
      fact.kind === 'tuple'
        ? fact.subjectId + fact.relationId + fact.objectId
        : fact.userId + fact.roleId + fact.instanceId
    if (!known.has(name)) yield fact
    known.add(name)
  }
}

/** Creates the rows and assigns an ID to each entity. */
class DatasetRows {
  readonly #ids = new Map<string, string>()

  isThing({ kind }: Change): boolean {
    return kind === 'user-put' || kind === 'instance-put'
  }

  *schema(changes: readonly Change[]): Iterable<StoredRecord> {
    const types = new Map<string, TypeRecord>()
    const roles = new Map<string, RoleRecord>()
    for (const change of changes) {
      if (change.kind === 'type-put') {
        const type = typeRecord(change.type)
        const actions = change.actions.map(key => ({
          id: newId(),
          key,
          name: key,
          description: null,
          attributes: null,
          ...TIMES,
        }))
        types.set(change.type, { ...type, actions } as TypeRecord)
        this.#ids.set(`type ${change.type}`, type.id)
      } else if (change.kind === 'relation-put') {
        const subjectTypeId = this.#id(`type ${change.subjectType}`)
        const relation = relationRecord(change.relation, this.#id(`type ${change.type}`), subjectTypeId)
        this.#ids.set(`relation ${change.type} ${change.relation}`, relation.id)
        yield relation
      } else if (change.kind === 'role-put' && change.type !== null) {
        const name = `role ${change.type} ${change.role}`
        const role = { ...roleRecord(change.role, this.#id(`type ${change.type}`)) }
        role.id = this.#ids.get(name) ?? role.id
        this.#ids.set(name, role.id)
        roles.set(name, {
          ...role,
          permissions: change.permissions.map(({ action }) => action),
          extends: change.extends,
          grantedTo: { ...role.grantedTo, entries: change.derivations },
        })
      } else if (change.kind === 'tenant-put') {
        const tenant = tenantRecord(change.tenant)
        this.#ids.set(`tenant ${change.tenant}`, tenant.id)
        yield tenant
      } else throw new Error(`a dataset's schema has no ${change.kind}`)
    }
    yield* types.values()
    yield* roles.values()
  }

  thing(change: Change): StoredRecord {
    if (change.kind === 'user-put') {
      const user = userRecord(change.user)
      this.#ids.set(`user ${change.user}`, user.id)
      return user
    }
    if (change.kind !== 'instance-put') throw new Error(`a dataset's things have no ${change.kind}`)
    const { type, key } = change.instance
    const instance = instanceRecord(key, this.#id(`type ${type}`), this.#id(`tenant ${change.tenant}`))
    this.#ids.set(nameOf(change.instance), instance.id)
    return instance
  }

  fact(change: Change): AssignmentRecord | TupleRecord {
    const tenantId = this.#id('tenant default')
    if (change.kind === 'assignment-put' && 'instance' in change.scope) {
      const { type } = change.scope.instance
      return {
        kind: 'assignment',
        id: newId(),
        userId: this.#id(`user ${change.user}`),
        roleId: this.#id(`role ${type} ${change.role}`),
        tenantId,
        instanceId: this.#id(nameOf(change.scope.instance)),
        createdAt: CREATED_AT,
        expiresAt: null,
      }
    }
    if (change.kind !== 'tuple-put') throw new Error(`a dataset's facts have no ${change.kind}`)
    return {
      kind: 'tuple',
      id: newId(),
      subjectId: this.#id(nameOf(change.subject)),
      relationId: this.#id(`relation ${change.object.type} ${change.relation}`),
      objectId: this.#id(nameOf(change.object)),
      tenantId,
      createdAt: CREATED_AT,
      expiresAt: null,
    }
  }

  #id(name: string): string {
    const id = this.#ids.get(name)
    if (id === undefined) throw new Error(`nothing is named ${name}`)
    return id
  }
}

function nameOf({ type, key }: InstanceKey): string {
  return `instance ${type} ${key}`
}
