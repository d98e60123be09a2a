/**
 * Makes decisions by roles with plain Maps. Used to verify the index on datasets that are too large for the
 * oracle, and as its baseline. Supports only puts and no rules. Each check searches the graph again.
 */
import type { AssignmentChange, Change, InstanceKey, RolePut, TupleChange } from '#model/change.ts'
import { DEFAULT_TENANT, type Query } from '#model/decision.ts'
import type { Question, Verdicts } from '#model/question.ts'

interface Instance {
  readonly type: string
  readonly tenant: string
  /** Subjects of the tuples whose object is this instance, by relation. */
  readonly subjects: Map<string, Instance[]>
}

/** Roles that a user holds directly. The key is an instance or the key of a tenant. */
type Held = Map<Instance | string, Set<string>>

const NONE: ReadonlySet<string> = new Set()

export class PlainMaps {
  readonly #actions = new Map<string, ReadonlySet<string>>()
  /** Roles by type. The tenant roles have the key `null`. */
  readonly #roles = new Map<string | null, Map<string, RolePut>>([[null, new Map()]])
  readonly #granting = new Map<string, ReadonlySet<string>>()
  readonly #instances = new Map<string, Map<string, Instance>>()
  readonly #held = new Map<string, Held>()

  apply(changes: Iterable<Change>): void {
    for (const change of changes) this.#put(change)
    this.#granting.clear()
  }

  evaluate({ user, action, type, key, tenant }: Query): boolean {
    if (!this.#actions.get(type)?.has(action)) return false
    const instance = key === null ? undefined : this.#instance({ type, key })
    const home = tenant ?? instance?.tenant ?? DEFAULT_TENANT
    if (instance && instance.tenant !== home) return false
    const held = this.#held.get(user)
    if (!held) return false
    const inTenant = this.#rolesGranting(null, type, action)
    for (const role of held.get(home) ?? NONE) if (inTenant.has(role)) return true
    return instance !== undefined && this.#reaches(held, instance, this.#rolesGranting(type, type, action))
  }

  evaluateAll(question: Question): Verdicts {
    return Uint8Array.from({ length: question.count }, (_, index) =>
      Number(this.evaluate(question.query(index))),
    )
  }

  /**
   * Whether the user holds one of the roles on the instance. Searches backward along the tuples of the
   * instance. Visits each role of an instance at most once.
   */
  #reaches(held: Held, instance: Instance, roles: Iterable<string>): boolean {
    const seen = new Map<string, Set<Instance>>()
    const pending: [string, Instance][] = []
    const visit = (role: string, at: Instance): boolean => {
      const visited = seen.get(role)
      if (visited?.has(at)) return false
      if (held.get(at)?.has(role)) return true
      if (visited) visited.add(at)
      else seen.set(role, new Set([at]))
      pending.push([role, at])
      return false
    }
    for (const role of roles) if (visit(role, instance)) return true
    for (let next = pending.pop(); next; next = pending.pop()) {
      const [name, at] = next
      for (const { role, onType, relation, guarded } of this.#roles.get(at.type)?.get(name)?.derivations ??
        []) {
        if (guarded && held.has(at)) continue
        for (const subject of at.subjects.get(relation) ?? []) {
          if (subject.type === onType && visit(role, subject)) return true
        }
      }
    }
    return false
  }

  /** Roles that have the permission or that extend a role with the permission. */
  #rolesGranting(roleType: string | null, type: string, action: string): ReadonlySet<string> {
    const name = JSON.stringify([roleType, type, action])
    let granting = this.#granting.get(name)
    if (!granting) {
      const roles = [...(this.#roles.get(roleType)?.values() ?? [])]
      const found = new Set(
        roles
          .filter(({ permissions }) => permissions.some(each => each.type === type && each.action === action))
          .map(({ role }) => role),
      )
      // The iteration over a Set includes the roles that are added during the iteration.
      for (const each of found)
        for (const other of roles) if (other.extends.includes(each)) found.add(other.role)
      this.#granting.set(name, (granting = found))
    }
    return granting
  }

  #instance({ type, key }: InstanceKey): Instance | undefined {
    return this.#instances.get(type)?.get(key)
  }

  #put(change: Change): void {
    switch (change.kind) {
      case 'type-put':
        this.#actions.set(change.type, new Set(change.actions))
        this.#roles.set(change.type, new Map())
        this.#instances.set(change.type, new Map())
        return
      case 'role-put':
        this.#roles.get(change.type)!.set(change.role, change)
        return
      case 'instance-put': {
        const { type, key } = change.instance
        this.#instances.get(type)!.set(key, { type, tenant: change.tenant, subjects: new Map() })
        return
      }
      case 'assignment-put':
        return this.#assign(change)
      case 'tuple-put':
        return this.#link(change)
      case 'relation-put':
      case 'tenant-put':
      case 'user-put':
        return
      default:
        throw new Error(`not for plain Maps: ${change.kind}`)
    }
  }

  #assign({ user, role, scope }: AssignmentChange): void {
    const held: Held = this.#held.get(user) ?? new Map()
    this.#held.set(user, held)
    const at = 'tenant' in scope ? scope.tenant : this.#instance(scope.instance)!
    const roles = held.get(at)
    if (roles) roles.add(role)
    else held.set(at, new Set([role]))
  }

  #link({ subject, relation, object }: TupleChange): void {
    const { subjects } = this.#instance(object)!
    const known = subjects.get(relation)
    if (known) known.push(this.#instance(subject)!)
    else subjects.set(relation, [this.#instance(subject)!])
  }
}
