/**
 * Reference implementation of decisions, with which all engines are verified. For each check, it computes the
 * roles of one user forward from the current facts, as the least fixed point of native.md C.2.
 *
 * It shares only the types of changes and queries with `src/engine`, and has no index and no cache. A check
 * takes polynomial time in the number of facts, because the code is kept simple.
 */
import type { Change, InstanceKey } from '#model/change.ts'
import { DEFAULT_TENANT, type QueryContext, type Query } from '#model/decision.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { truthOf } from './conditions/conditions.ts'
import { mergedRoots } from './conditions/roots.ts'
import { CurrentFacts, sameInstance } from './current-facts.ts'

/** A role of a user on an instance. */
export interface EffectiveRole {
  readonly instance: InstanceKey
  readonly role: string
}

export class Oracle {
  readonly #facts = new CurrentFacts()

  apply(changes: Iterable<Change>): void {
    for (const change of changes) this.#facts.apply(change)
  }

  /** Evaluates a check as native.md A.2 specifies. `MemoizedOracle` passes cached roles. */
  evaluate(
    { user, action, type, key, tenant, queryContext }: Query,
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
    const holdsRole =
      instance &&
      rolesOf(user).some(
        e => sameInstance(e.instance, instance.instance) && this.#grants(type, e.role, type, action),
      )
    return holdsRole || this.#isRuled({ user, action, type, key, tenant: home }, queryContext)
  }

  /** Returns true if both sides of some rule on the type and action are true (conditions.md, section 6). */
  #isRuled(
    { user, action, type, key, tenant }: Query & { readonly tenant: string },
    queryContext: QueryContext | undefined,
  ): boolean {
    if (!this.#facts.tenants.some(t => t.tenant === tenant)) return false
    const held = this.#facts.assignments.flatMap(({ user: holder, role, scope }) =>
      holder === user && 'tenant' in scope ? [{ role, tenant: scope.tenant }] : [],
    )
    const roles = held.filter(each => each.tenant === tenant).map(({ role }) => role)
    const sent = queryContext?.sent()
    const stored = {
      user: this.#facts.users.find(u => u.user === user) ?? null,
      resource: (key !== null && this.#facts.instance({ type, key })) || null,
      tenant: this.#facts.tenants.find(t => t.tenant === tenant) ?? null,
    }
    const roots = mergedRoots({
      computed: {
        user: { key: user, roles: ascending(roles), tenants: ascending(held.map(each => each.tenant)) },
        resource: { type, tenant, ...(key !== null && { key }) },
        tenant: { key: tenant },
        server: queryContext ? { time: new Date(queryContext.readAt).toISOString() } : {},
      },
      request: {
        user: { attributes: sent?.user ?? null },
        resource: { attributes: sent?.resource ?? null },
        tenant: { attributes: sent?.tenant ?? null },
        context: sent?.context ?? null,
      },
      stored,
    })
    const instances = (otherType: string, otherKey: string) => {
      const other = this.#facts.instance({ type: otherType, key: otherKey })
      return other?.tenant === tenant ? (other.attributes ?? {}) : undefined
    }
    const matches = (name: string): boolean => {
      const set = this.#facts.conditionSet(name)!
      if (set.type !== null && set.type !== type) return false
      return (
        truthOf(set.conditions, roots, instances) === 'true' && (set.parent === null || matches(set.parent))
      )
    }
    return this.#facts.rules.some(
      rule =>
        rule.type === type &&
        rule.action === action &&
        (roles.some(role => rule.userSet === `__autogen_${role}`) ||
          (!rule.userSet.startsWith('__autogen_') && matches(rule.userSet))) &&
        (rule.resourceSet === `__autogen_${type}` || matches(rule.resourceSet)),
    )
  }

  /** Returns every role of the user on any instance, direct or derived, each once (native.md C.2). */
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

  /** Returns changes that create the current facts from an empty state. */
  currentFacts(): Change[] {
    return this.#facts.asChanges()
  }

  /** Returns true if the role, or a role that it extends directly or indirectly, has the permission. */
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

function ascending(keys: readonly string[]): string[] {
  return [...new Set(keys)].toSorted(compareUtf8)
}

function isAmong(roles: readonly EffectiveRole[], instance: InstanceKey, role: string): boolean {
  return roles.some(e => e.role === role && sameInstance(e.instance, instance))
}
