/**
 * The textbook oracle: the judge of every engine's answers. Roles are the least fixed point of contract C.2,
 * computed forward for one user from the standing facts, anew for each question.
 *
 * It shares nothing with `src/engine` but the vocabulary, keeps no index and remembers nothing between questions:
 * each costs time polynomial in all facts, which is the price of being obviously right.
 */
import type { Change, InstanceKey } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { Query } from '#model/decision.ts'
import { StandingFacts, sameInstance } from './standing-facts.ts'

/** A role a user has on an instance. */
export interface EffectiveRole {
  readonly instance: InstanceKey
  readonly role: string
}

export class Oracle {
  readonly #facts = new StandingFacts()

  apply(changes: Iterable<Change>): void {
    for (const change of changes) this.#facts.apply(change)
  }

  /** Contract A.2, step by step. Whoever asks very many questions at one state may keep the roles: `Moment`. */
  evaluate(
    { user, action, type, key, tenant }: Query,
    rolesOf = (name: string): readonly EffectiveRole[] => this.effectiveRoles(name),
  ): boolean {
    if (!this.#facts.types.some(t => t.type === type && t.actions.includes(action))) return false
    const instance = key === null ? undefined : this.#facts.instance({ type, key })
    if (instance && tenant !== null && tenant !== instance.tenant) return false

    const home = tenant ?? instance?.tenant ?? DEFAULT_TENANT
    const inTenant = this.#facts.assignments.filter(
      a => a.user === user && 'tenant' in a.scope && a.scope.tenant === home,
    )
    if (inTenant.some(a => this.#grants(null, a.role, type, action))) return true
    if (!instance) return false
    return rolesOf(user).some(
      e => sameInstance(e.instance, instance.instance) && this.#grants(type, e.role, type, action),
    )
  }

  /** Every role the user has on any instance, direct or derived, each once (contract C.2). */
  effectiveRoles(user: string): EffectiveRole[] {
    const direct: EffectiveRole[] = []
    for (const a of this.#facts.assignments) {
      if (a.user !== user || !('instance' in a.scope)) continue
      if (!isAmong(direct, a.scope.instance, a.role))
        direct.push({ instance: a.scope.instance, role: a.role })
    }
    const effective = [...direct]
    for (let before = -1; before < effective.length;) {
      before = effective.length
      for (const { type, role, derivations } of this.#facts.roles) {
        for (const entry of derivations) {
          for (const { subject, relation, object } of this.#facts.tuples) {
            if (object.type !== type || relation !== entry.relation || subject.type !== entry.onType) continue
            if (entry.guarded && direct.some(d => sameInstance(d.instance, object))) continue
            if (!isAmong(effective, subject, entry.role) || isAmong(effective, object, role)) continue
            effective.push({ instance: object, role })
          }
        }
      }
    }
    return effective
  }

  /** What stands, as changes that build it from nothing. */
  standingFacts(): Change[] {
    return this.#facts.asChanges()
  }

  /** Whether the role, or one it extends, transitively, has the permission. */
  #grants(roleType: string | null, role: string, type: string, action: string): boolean {
    const reached = [role]
    for (const next of reached) {
      for (const extended of this.#facts.role(roleType, next)?.extends ?? []) {
        if (!reached.includes(extended)) reached.push(extended)
      }
    }
    const permissions = reached.flatMap(r => this.#facts.role(roleType, r)?.permissions ?? [])
    return permissions.some(p => p.type === type && p.action === action)
  }
}

function isAmong(roles: readonly EffectiveRole[], instance: InstanceKey, role: string): boolean {
  return roles.some(e => e.role === role && sameInstance(e.instance, instance))
}
