/**
 * Computes how many new numbers (`schema.ts`) the changes of a commit need: type ids, edge classes and role
 * indexes. This happens before anything is changed. The commit can thus wait until retired numbers are free,
 * or be rejected as a whole.
 *
 * Invariant: applying the changes uses at most the computed numbers. Numbers that a commit retires are not
 * available to the same commit.
 */
import type { Change, RelationPut } from '#model/change.ts'
import { type ResourceType, ROLES_MAX_PER_TYPE, type Schema } from './schema.ts'

export interface NumberDemand {
  readonly typeIds: number
  readonly edgeClasses: number
  readonly tenantRoleIndexes: number
  /** For each existing type, the number of role indexes that it needs. */
  readonly roleIndexes: ReadonlyMap<ResourceType, number>
  /** Largest number of role indexes that a new type needs. All role indexes of a new type are free. */
  readonly roleIndexesOfNew: number
}

/** Computes the numbers that these changes need. O(changes). */
export function demandOf(schema: Schema, changes: readonly Change[]): NumberDemand {
  const tally = new Tally(schema)
  for (const change of changes) tally.take(change)
  return tally
}

/** Returns whether enough numbers for the demand are free now. */
export function areNumbersFree(
  { typeIds, edgeClasses, tenantRoleIndexes }: Schema,
  demand: NumberDemand,
): boolean {
  return (
    demand.typeIds <= typeIds.available &&
    demand.edgeClasses <= edgeClasses.available &&
    demand.tenantRoleIndexes <= tenantRoleIndexes.available &&
    demand.roleIndexesOfNew <= ROLES_MAX_PER_TYPE &&
    [...demand.roleIndexes].every(([type, count]) => count <= type.roleIndexes.available)
  )
}

/**
 * Tracks which types, roles and relations exist after the changes so far. Contains only those that the
 * changes affect.
 */
class Tally implements NumberDemand {
  typeIds = 0
  edgeClasses = 0
  tenantRoleIndexes = 0
  roleIndexesOfNew = 0
  readonly roleIndexes = new Map<ResourceType, number>()
  readonly #schema: Schema
  /**
   * For each type, the number of its removals so far and whether it exists now. The name of a role or
   * relation includes this number, so that it belongs to one generation of its type.
   */
  readonly #generations = new Map<string, { removals: number; stands: boolean }>()
  /** For each name of a role, whether the role exists. */
  readonly #roles = new Map<string, boolean>()
  /** For each name of a relation, the name of its subject type; null if the relation does not exist. */
  readonly #relations = new Map<string, string | null>()
  readonly #roleIndexesOfNew = new Map<string, number>()

  constructor(schema: Schema) {
    this.#schema = schema
  }

  take(change: Change): void {
    switch (change.kind) {
      case 'type-put':
        return this.#putType(change.type)
      case 'type-removed':
        return this.#removeType(change.type)
      case 'role-put':
        return this.#putRole(change.type, change.role)
      case 'role-removed':
        this.#roles.set(this.#nameOf(change.type, change.role), false)
        return
      case 'relation-put':
        return this.#putRelation(change)
      case 'relation-removed':
        this.#relations.set(this.#nameOf(change.type, change.relation), null)
        return
      default: // Facts contain numbers but do not need new ones.
    }
  }

  #putType(type: string): void {
    const known = this.#generation(type)
    if (known.stands) return
    known.stands = true
    this.typeIds += 1
  }

  #removeType(type: string): void {
    const known = this.#generation(type)
    if (!known.stands) return
    known.stands = false
    known.removals += 1
  }

  #putRole(type: string | null, role: string): void {
    if (type !== null && !this.#generation(type).stands) return
    const name = this.#nameOf(type, role)
    if (this.#roles.get(name) ?? this.#stood(type)?.has(role)) return
    this.#roles.set(name, true)
    if (type === null) {
      this.tenantRoleIndexes += 1
      return
    }
    const existing = this.#existing(type)
    if (existing) {
      this.roleIndexes.set(existing, (this.roleIndexes.get(existing) ?? 0) + 1)
      return
    }
    const roleIndexes = (this.#roleIndexesOfNew.get(this.#typeName(type)) ?? 0) + 1
    this.#roleIndexesOfNew.set(this.#typeName(type), roleIndexes)
    this.roleIndexesOfNew = Math.max(this.roleIndexesOfNew, roleIndexes)
  }

  #putRelation({ type, relation, subjectType }: RelationPut): void {
    if (!this.#generation(type).stands || !this.#generation(subjectType).stands) return
    const name = this.#nameOf(type, relation)
    const subject = this.#typeName(subjectType)
    const stood = this.#existing(type)?.relations.get(relation)
    const untouched = stood ? typeName(stood.subjectType.key, 0) : null
    const before = this.#relations.has(name) ? this.#relations.get(name) : untouched
    if (before === subject) return
    this.#relations.set(name, subject)
    this.edgeClasses += 1
  }

  #generation(type: string): { removals: number; stands: boolean } {
    let known = this.#generations.get(type)
    if (!known) this.#generations.set(type, (known = { removals: 0, stands: this.#schema.types.has(type) }))
    return known
  }

  /** Returns the type as it exists in the schema, unless the changes have removed it. */
  #existing(type: string): ResourceType | undefined {
    return this.#generation(type).removals === 0 ? this.#schema.types.get(type) : undefined
  }

  /**
   * Returns the roles in the schema: those of this type, or the tenant roles. Returns none if the changes
   * have removed the type.
   */
  #stood(type: string | null): ReadonlyMap<string, unknown> | undefined {
    return type === null ? this.#schema.tenantRoles : this.#existing(type)?.roles
  }

  #typeName(type: string): string {
    return typeName(type, this.#generation(type).removals)
  }

  #nameOf(type: string | null, key: string): string {
    return type === null ? JSON.stringify(key) : `${this.#typeName(type)}${JSON.stringify(key)}`
  }
}

/** Returns a name for the generation of a type that exists after this many removals. */
function typeName(type: string, removals: number): string {
  return JSON.stringify([type, removals])
}
