/**
 * The facts of the plain-Map engine: tenants, users, instances, role assignments and tuples.
 *
 * Invariant: a fact exists only while everything it names exists, and a tuple never crosses tenants (contract
 * C.6; so derived roles do not, either). A change that would break this is ignored. A removal costs time for
 * what it removes, plus one probe for each role or relation of the schema that could refer to it.
 *
 * Assignments and tuples are kept on their role and relation (`nodes.ts`); this file decides which exist.
 */
import type { AssignmentChange, Attributes, InstanceKey, TupleChange } from '#model/change.ts'
import type { Instance, Relation, ResourceType, Role, Tenant, User } from './nodes.ts'
import type { Schema } from './schema.ts'

interface Assignment {
  readonly user: User
  readonly role: Role
  readonly scope: Tenant | Instance
}

interface Tuple {
  readonly subject: Instance
  readonly relation: Relation
  readonly object: Instance
}

export class Facts {
  readonly tenants = new Map<string, Tenant>()
  readonly users = new Map<string, User>()
  readonly #schema: Schema

  constructor(schema: Schema) {
    this.#schema = schema
  }

  putTenant(key: string, attributes: Attributes | null): void {
    const tenant = this.tenants.get(key)
    if (tenant) tenant.attributes = attributes
    else this.tenants.set(key, { key, attributes, instances: new Set() })
  }

  removeTenant(key: string): void {
    const tenant = this.tenants.get(key)
    if (!tenant) return
    for (const instance of tenant.instances) this.#removeInstance(instance)
    for (const role of this.#schema.tenantRoles.values()) role.holders.deleteRight(tenant)
    this.tenants.delete(key)
  }

  putUser(key: string, attributes: Attributes | null): void {
    const user = this.users.get(key)
    if (user) user.attributes = attributes
    else this.users.set(key, { key, attributes })
  }

  removeUser(key: string): void {
    const user = this.users.get(key)
    if (!user) return
    for (const role of this.#schema.allRoles()) role.holders.deleteLeft(user)
    this.users.delete(key)
  }

  /**
   * An instance put again in another tenant is another instance: roles and tuples of the old one are removed.
   */
  putInstance(name: InstanceKey, tenantKey: string, attributes: Attributes | null): void {
    const type = this.#schema.types.get(name.type)
    const tenant = this.tenants.get(tenantKey)
    if (!type || !tenant) return
    const old = type.instances.get(name.key)
    if (old?.tenant === tenant) {
      old.attributes = attributes
      return
    }
    if (old) this.#removeInstance(old)
    const instance = { type, key: name.key, tenant, attributes }
    type.instances.set(instance.key, instance)
    tenant.instances.add(instance)
  }

  removeInstance(name: InstanceKey): void {
    const instance = this.#instance(name)
    if (instance) this.#removeInstance(instance)
  }

  /**
   * Removes the instances of a type that is about to be removed. Their facts go with the type's roles and
   * relations.
   */
  removeInstancesOf(type: ResourceType): void {
    for (const instance of type.instances.values()) instance.tenant.instances.delete(instance)
    type.instances.clear()
  }

  putAssignment(change: AssignmentChange): void {
    const assignment = this.#assignment(change)
    assignment?.role.holders.add(assignment.user, assignment.scope)
  }

  removeAssignment(change: AssignmentChange): void {
    const assignment = this.#assignment(change)
    assignment?.role.holders.delete(assignment.user, assignment.scope)
  }

  putTuple(change: TupleChange): void {
    const tuple = this.#tuple(change)
    if (!tuple || tuple.subject.tenant !== tuple.object.tenant) return
    tuple.relation.tuples.add(tuple.subject, tuple.object)
  }

  removeTuple(change: TupleChange): void {
    const tuple = this.#tuple(change)
    tuple?.relation.tuples.delete(tuple.subject, tuple.object)
  }

  #removeInstance(instance: Instance): void {
    const { type, tenant } = instance
    for (const role of type.roles.values()) role.holders.deleteRight(instance)
    for (const relation of type.relations.values()) relation.tuples.deleteRight(instance)
    for (const relation of type.relationsAsSubject) relation.tuples.deleteLeft(instance)
    type.instances.delete(instance.key)
    tenant.instances.delete(instance)
  }

  #instance(name: InstanceKey): Instance | undefined {
    return this.#schema.types.get(name.type)?.instances.get(name.key)
  }

  /** The names resolved; nothing if one is unknown. Tenants take tenant roles, instances take those of their type. */
  #assignment(change: AssignmentChange): Assignment | undefined {
    const user = this.users.get(change.user)
    const inTenant = 'tenant' in change.scope
    const scope = inTenant ? this.tenants.get(change.scope.tenant) : this.#instance(change.scope.instance)
    const role = this.#schema.role(inTenant ? null : change.scope.instance.type, change.role)
    return user && role && scope ? { user, role, scope } : undefined
  }

  /** The names resolved; nothing if one is unknown or the relation links other types. */
  #tuple(change: TupleChange): Tuple | undefined {
    const subject = this.#instance(change.subject)
    const object = this.#instance(change.object)
    const relation = object?.type.relations.get(change.relation)
    if (!subject || !object || relation?.subjectType !== subject.type) return undefined
    return { subject, relation, object }
  }
}
