/**
 * The decision of contract A.2 on the nodes of the plain-Map engine: does the user hold one of the granting roles
 * in the tenant, or on the instance, directly or by derivation (contract C.2)?
 *
 * The search runs backward, from the instance along its tuples to where the user holds something. Each
 * (role, instance) is looked at once, so cycles end; the stack is explicit, so depth is bounded by memory alone.
 *
 * It reads and never writes. It gives no reason for its answer, and it does not look at `extends`: the granting
 * roles arrive with it already worked in, for permissions are all it widens.
 */
import { holdsAnyDirectly } from './forward-search.ts'
import type { Instance, Role, Tenant, User } from './nodes.ts'
import type { Grants } from './schema.ts'

/** O(tenant roles that grant the action). */
export function holdsInTenant(user: User, tenant: Tenant, grants: Grants): boolean {
  for (const role of grants.tenantRoles) {
    if (role.holders.has(user, tenant)) return true
  }
  return false
}

/** O(roles and tuples from which a granting role on the instance can be derived). */
export function holdsOnInstance(user: User, instance: Instance, grants: Grants): boolean {
  const search = new BackwardSearch(user)
  for (const role of grants.resourceRoles) {
    if (search.reaches(role, instance)) return true
  }
  return search.run()
}

/**
 * One role in one search. Sets by role and not by instance: a few large sets instead of very many small ones.
 */
interface Trace {
  /** Where the user holds the role directly. */
  readonly held: ReadonlySet<Instance | Tenant>
  /** Where it has been looked for. */
  readonly seen: Set<Instance>
}

interface Goal {
  readonly role: Role
  readonly instance: Instance
}

class BackwardSearch {
  readonly #user: User
  readonly #traces = new Map<Role, Trace>()
  readonly #pending: Goal[] = []

  constructor(user: User) {
    this.#user = user
  }

  /** Whether the user holds the role there directly; if not, its derivations are looked at later. */
  reaches(role: Role, instance: Instance): boolean {
    const { held, seen } = this.#trace(role)
    if (held.has(instance)) return true
    if (role.derivations.length === 0 || seen.has(instance)) return false
    seen.add(instance)
    this.#pending.push({ role, instance })
    return false
  }

  /** Follows derivations until a held role turns up or nothing is left. */
  run(): boolean {
    for (let goal = this.#pending.pop(); goal; goal = this.#pending.pop()) {
      if (this.#expand(goal)) return true
    }
    return false
  }

  #trace(role: Role): Trace {
    let trace = this.#traces.get(role)
    if (!trace) {
      trace = { held: role.holders.rightsOf(this.#user), seen: new Set() }
      this.#traces.set(role, trace)
    }
    return trace
  }

  #expand({ role, instance }: Goal): boolean {
    for (const { source, relation, guarded } of role.derivations) {
      const subjects = relation.tuples.leftsOf(instance)
      if (guarded && subjects.size > 0 && holdsAnyDirectly(this.#user, instance)) continue
      for (const subject of subjects) {
        if (this.reaches(source, subject)) return true
      }
    }
    return false
  }
}
