/**
 * Everything one user holds on instances, direct and derived (contract C.2): the fixed point, computed forward from the
 * direct assignments. A worklist, so cycles end; memory follows what the user reaches.
 */
import type { Instance, Relation, Role, User } from './nodes.ts'
import type { Schema } from './schema.ts'

/** "`source`, over `relation`, gives `derived`": a derivation seen from where it starts. */
interface Consequence {
  readonly derived: Role
  readonly relation: Relation
  readonly guarded: boolean
}

/** The roles a user holds, each with the instances it is held on. */
export type HeldRoles = ReadonlyMap<Role, ReadonlySet<Instance>>

/** O(roles of the schema + pairs of role and instance reached, with their tuples). */
export function effectiveRoles(schema: Schema, user: User): HeldRoles {
  const held = new Map<Role, Set<Instance>>()
  const waiting: { readonly role: Role; readonly instance: Instance }[] = []
  const consequences = consequencesBySource(schema)

  for (const role of schema.allRoles()) {
    if (role.type === null) continue
    for (const instance of role.holders.rightsOf(user)) add(role, instance as Instance)
  }
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const { derived, relation, guarded } of consequences.get(next.role) ?? []) {
      for (const object of relation.tuples.rightsOf(next.instance)) {
        if (!guarded || !holdsAnyDirectly(user, object)) add(derived, object)
      }
    }
  }
  return held

  function add(role: Role, instance: Instance): void {
    const instances = held.get(role) ?? new Set()
    if (instances.has(instance)) return
    held.set(role, instances.add(instance))
    waiting.push({ role, instance })
  }
}

/** What blocks a guarded derivation: any direct role at all, whatever it grants. O(roles of the type). */
export function holdsAnyDirectly(user: User, instance: Instance): boolean {
  for (const role of instance.type.roles.values()) {
    if (role.holders.has(user, instance)) return true
  }
  return false
}

function consequencesBySource(schema: Schema): Map<Role, Consequence[]> {
  const bySource = new Map<Role, Consequence[]>()
  for (const derived of schema.allRoles()) {
    for (const { source, relation, guarded } of derived.derivations) {
      const consequences = bySource.get(source) ?? []
      consequences.push({ derived, relation, guarded })
      bySource.set(source, consequences)
    }
  }
  return bySource
}
