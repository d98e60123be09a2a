/**
 * The engine on plain Maps: the first correct one, and the baseline faster ones are measured against.
 *
 * Invariant: its state is a function of the changes applied, and applying one again changes nothing. `apply` is
 * the one reducer of this engine; a change that names something unknown is ignored (`model/change.ts`).
 *
 * It is not shared between threads and precomputes no closures: a question searches the graph anew.
 */
import { InvariantError } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { Query } from '#model/decision.ts'
import type { Engine } from '../engine.ts'
import { holdsInTenant, holdsOnInstance } from './evaluate.ts'
import { Facts } from './facts.ts'
import { Schema } from './schema.ts'

export class MapEngine implements Engine {
  readonly #schema = new Schema()
  readonly #facts = new Facts(this.#schema)

  apply(changes: Iterable<Change>): void {
    for (const change of changes) this.#applyOne(change)
  }

  evaluate(query: Query): boolean {
    const type = this.#schema.types.get(query.type)
    const grants = type && this.#schema.grants(type, query.action)
    const user = this.#facts.users.get(query.user)
    if (!grants || !user) return false

    const instance = query.key === null ? undefined : type.instances.get(query.key)
    // D-14: a known instance is not to be reached through a tenant it does not live in, by whatever role.
    if (instance && query.tenant !== null && query.tenant !== instance.tenant.key) return false

    const tenant = instance ? instance.tenant : this.#facts.tenants.get(query.tenant ?? DEFAULT_TENANT)
    if (tenant && holdsInTenant(user, tenant, grants)) return true
    return instance !== undefined && holdsOnInstance(user, instance, grants)
  }

  evaluateAll(queries: readonly Query[]): boolean[] {
    return queries.map(query => this.evaluate(query))
  }

  #applyOne(change: Change): void {
    switch (change.kind) {
      case 'type-put':
        return this.#schema.putType(change)
      case 'type-removed':
        return this.#removeType(change.type)
      case 'role-put':
        return this.#schema.putRole(change)
      case 'role-removed':
        return this.#removeRole(change.type, change.role)
      case 'relation-put':
        return this.#schema.putRelation(change)
      case 'relation-removed':
        return this.#removeRelation(change.type, change.relation)
      case 'tenant-put':
        return this.#facts.putTenant(change.tenant, change.attributes)
      case 'tenant-removed':
        return this.#facts.removeTenant(change.tenant)
      case 'user-put':
        return this.#facts.putUser(change.user)
      case 'user-removed':
        return this.#facts.removeUser(change.user)
      case 'instance-put':
        return this.#facts.putInstance(change.instance, change.tenant, change.attributes)
      case 'instance-removed':
        return this.#facts.removeInstance(change.instance)
      case 'assignment-put':
        return this.#facts.putAssignment(change)
      case 'assignment-removed':
        return this.#facts.removeAssignment(change)
      case 'tuple-put':
        return this.#facts.putTuple(change)
      case 'tuple-removed':
        return this.#facts.removeTuple(change)
      default:
        return unknownChange(change)
    }
  }

  #removeType(key: string): void {
    const type = this.#schema.types.get(key)
    if (!type) return
    this.#facts.removeInstancesOf(type)
    this.#schema.removeType(type)
  }

  #removeRole(typeKey: string | null, key: string): void {
    const role = this.#schema.role(typeKey, key)
    if (role) this.#schema.removeRole(role)
  }

  #removeRelation(typeKey: string, key: string): void {
    const relation = this.#schema.types.get(typeKey)?.relations.get(key)
    if (relation) this.#schema.removeRelation(relation)
  }
}

/** Skipping a change that this version does not know would leave an engine that answers from half the facts. */
function unknownChange(change: never): never {
  throw new InvariantError(`the engine cannot apply this change: ${JSON.stringify(change)}`)
}
