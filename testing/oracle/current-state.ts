/** Queries on the current facts for which the oracle has no method. It does not use an engine. */
import { isDeepStrictEqual } from 'node:util'
import type { UserGrant, UserQuestion } from '#engine/engine.ts'
import type { AssignmentChange, Attributes, Change, InstanceKey, Permission, RolePut } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { EffectiveRole } from './oracle.ts'

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>

/** A role that is derived from the roles at which a search starts, and the number of derivations. */
export interface ReachedRole extends EffectiveRole {
  readonly derivations: number
}

export class StateView {
  readonly users: readonly string[]
  readonly #facts: readonly Change[]

  constructor(facts: readonly Change[]) {
    // The clones are plain objects, so that `isDeepStrictEqual` can compare facts of different origin.
    this.#facts = structuredClone(facts)
    this.users = [...new Set(this.#of('user-put').map(({ user }) => user))]
  }

  get instances(): InstanceKey[] {
    return this.#of('instance-put').map(({ instance }) => instance)
  }

  keysOf(type: string): string[] {
    const instances = this.#of('instance-put').map(({ instance }) => instance)
    return [...new Set(instances.filter(instance => instance.type === type).map(({ key }) => key))]
  }

  tenantOf(of: InstanceKey): string | undefined {
    return this.#of('instance-put').find(({ instance }) => isDeepStrictEqual(instance, of))?.tenant
  }

  actionsOf(type: string): readonly string[] {
    return this.#of('type-put').find(put => put.type === type)?.actions ?? []
  }

  has(fact: Change): boolean {
    return this.#facts.some(standing => isDeepStrictEqual(standing, structuredClone(fact)))
  }

  holds(assignment: AssignmentChange): boolean {
    return this.has({ kind: 'assignment-put', ...assignment })
  }

  /** Returns the last put of the role, because `asChanges` puts each role twice, first without details. */
  role(type: string | null, role: string): RolePut | undefined {
    return this.#of('role-put').findLast(put => put.type === type && put.role === role)
  }

  /** Returns true if the role, or a role that it extends, permits the action. */
  permits(roleType: string | null, role: string, permission: Permission): boolean {
    return this.permissionsOf(roleType, [role]).some(each => isDeepStrictEqual(each, permission))
  }

  rolesOf(type: string): string[] {
    const roles = this.#of('role-put').filter(put => put.type === type)
    return [...new Set(roles.map(({ role }) => role))]
  }

  /** Returns these roles and all roles that they extend. */
  withExtended(roleType: string | null, roles: readonly string[]): string[] {
    const reached = [...roles]
    for (const next of reached) {
      for (const extended of this.role(roleType, next)?.extends ?? []) {
        if (!reached.includes(extended)) reached.push(extended)
      }
    }
    return reached
  }

  tuplesInto(on: InstanceKey) {
    return this.#of('tuple-put').filter(({ object }) => isDeepStrictEqual(object, on))
  }

  /** Returns the derivations on an instance that its tuples make possible, even if a guard disables them. */
  derivationsInto(on: InstanceKey) {
    return this.tuplesInto(on).flatMap(({ subject, relation }) =>
      this.rolesOf(on.type).flatMap(role =>
        this.role(on.type, role)!
          .derivations.filter(entry => entry.onType === subject.type && entry.relation === relation)
          .map(derivation => ({ subject, derivation, role })),
      ),
    )
  }

  permissionsOf(roleType: string | null, roles: readonly string[]): Permission[] {
    const permissions = this.withExtended(roleType, roles).flatMap(
      role => this.role(roleType, role)?.permissions ?? [],
    )
    return permissions
      .map(({ type, action }) => ({ type, action }))
      .filter((each, index, all) => all.findIndex(other => isDeepStrictEqual(other, each)) === index)
  }

  directRolesOf(user: string): EffectiveRole[] {
    return this.#of('assignment-put').flatMap(({ user: holder, role, scope }) =>
      holder === user && 'instance' in scope ? [{ instance: scope.instance, role }] : [],
    )
  }

  holdsAnyOn(user: string, on: InstanceKey): boolean {
    return this.directRolesOf(user).some(({ instance }) => isDeepStrictEqual(instance, on))
  }

  /** Returns these roles and all roles that are derived from them alone for the user, nearest first. */
  reachedBy(user: string, starts: readonly EffectiveRole[]): ReachedRole[] {
    const reached: ReachedRole[] = starts.map(({ instance, role }) => ({ instance, role, derivations: 0 }))
    const isNew = ({ instance, role }: EffectiveRole) =>
      !reached.some(other => other.role === role && isDeepStrictEqual(other.instance, instance))
    // The loop also visits roles that are added to the array, so nearer roles come first.
    for (const from of reached) {
      for (const { subject, relation, object } of this.#of('tuple-put')) {
        if (!isDeepStrictEqual(subject, from.instance)) continue
        for (const { type, role, derivations } of this.#of('role-put')) {
          const fits = derivations.some(
            entry =>
              entry.role === from.role &&
              entry.onType === subject.type &&
              entry.relation === relation &&
              !(entry.guarded && this.holdsAnyOn(user, object)),
          )
          const next = { instance: object, role, derivations: from.derivations + 1 }
          if (type === object.type && fits && isNew(next)) reached.push(next)
        }
      }
    }
    return reached
  }

  /** Returns the list that an engine should return for these effective roles, with sorted names. */
  instanceRolesOf(effective: readonly EffectiveRole[]) {
    const names = [
      ...new Map(
        effective.map(({ instance: { type, key } }) => [JSON.stringify([type, key]), { type, key }]),
      ),
    ]
    return names.map(([, instance]) => {
      const roles = effective
        .filter(each => isDeepStrictEqual(each.instance, instance))
        .map(({ role }) => role)
      const put = this.#of('instance-put').find(each => isDeepStrictEqual(each.instance, instance))!
      const actions = this.permissionsOf(instance.type, roles).map(({ action }) => action)
      const { tenant, attributes } = put
      return { instance, tenant, attributes, roles: roles.toSorted(), actions: actions.toSorted() }
    })
  }

  /** Returns the list that an engine should return for the tenant roles of the user, with sorted names. */
  tenantRolesOf(user: string) {
    const tenants = this.#of('tenant-put').map(({ tenant, attributes }) => ({ tenant, attributes }))
    return tenants.flatMap(({ tenant, attributes }: { tenant: string; attributes: Attributes | null }) => {
      const roles = this.#of('assignment-put').flatMap(({ user: holder, role, scope }) =>
        holder === user && 'tenant' in scope && scope.tenant === tenant ? [role] : [],
      )
      if (roles.length === 0) return []
      const permissions = this.permissionsOf(null, roles).toSorted((left, right) =>
        JSON.stringify(left) < JSON.stringify(right) ? -1 : 1,
      )
      return [{ tenant, attributes, roles: roles.toSorted(), permissions }]
    })
  }

  /** Returns each assignment that alone makes the check allowed, for the users who are allowed. */
  grantsOn(question: UserQuestion, isAllowed: (user: string) => boolean): UserGrant[] {
    const { type, key, action } = question
    const stored = this.#of('instance-put').find(
      ({ instance }) => instance.type === type && instance.key === key,
    )
    const home = question.tenant ?? stored?.tenant ?? DEFAULT_TENANT
    return this.#of('assignment-put').flatMap(({ user, role, scope }): UserGrant[] => {
      if (!isAllowed(user)) return []
      if ('tenant' in scope) {
        const counts = scope.tenant === home && this.permits(null, role, { type, action })
        return counts ? [{ user, role, instance: null }] : []
      }
      const counts = this.reachedBy(user, [{ instance: scope.instance, role }]).some(
        reached =>
          reached.instance.type === type &&
          reached.instance.key === key &&
          this.permits(type, reached.role, { type, action }),
      )
      return counts ? [{ user, role, instance: scope.instance }] : []
    })
  }

  #of<Kind extends Change['kind']>(kind: Kind): ChangeOf<Kind>[] {
    return this.#facts.filter((fact): fact is ChangeOf<Kind> => fact.kind === kind)
  }
}
