/**
 * Limits `extends`: a role extends at most `EXTENDS_REACH_MAX` other roles, directly and through others.
 * Roles that are written are checked in `check-extends.ts`. This file checks the roles that extend them.
 * Their number of extended roles grows if a role extends more than before, or if a bulk writes that role
 * after them.
 */
import type { Draft } from '#management/drafts/draft.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import type { RoleRecord } from '#entities/records.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { extendedOf } from './extended-roles.ts'

/**
 * Throws `LIMIT_EXCEEDED` if the draft makes a role extend too many roles. O(roles of the types in which a
 * role extends more than before + roles that these extend). The commit does not require the list to be
 * unchanged. A concurrent command that makes another role extend one of these writes the row of the extended
 * role, so one of the two commands runs again.
 */
export function* checkExtendsReach(records: Draft): Resumable<void> {
  const grown = new Map<string | null, { readonly keys: Set<string>; isExisting: boolean }>()
  for (const [before, after] of records.written('role')) {
    if (!after || after.extends.every(key => before?.extends.includes(key))) continue
    let ofType = grown.get(after.typeId)
    if (!ofType) grown.set(after.typeId, (ofType = { keys: new Set(), isExisting: false }))
    ofType.keys.add(after.key)
    if (before) ofType.isExisting = true
  }
  for (const [typeId, { keys, isExisting }] of grown) {
    const extendedBy = new Map<string, string[]>()
    const note = ({ key, extends: extended }: RoleRecord): void => {
      for (const other of extended) {
        const known = extendedBy.get(other)
        if (known) known.push(key)
        else extendedBy.set(other, [key])
      }
    }
    // Stored roles cannot extend a new one, so only roles that the draft writes can.
    if (isExisting) yield* records.visit('role', lists.rolesOfType(typeId), note)
    else for (const [, after] of records.written('role')) if (after?.typeId === typeId) note(after)
    // The set is also the worklist: a `Set` iterates over elements that are added during the iteration.
    for (const key of keys) {
      for (const other of extendedBy.get(key) ?? []) keys.add(other)
      const role = records.get('role', rowKeys.role(typeId, key))
      if (role !== null && reachOf(records, role) > EXTENDS_REACH_MAX) throw reachesTooFar(key)
      yield
    }
  }
}

export function reachesTooFar(roleKey: string): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `role ${JSON.stringify(roleKey)} would extend more than ${EXTENDS_REACH_MAX} roles, directly and through others`,
  )
}

/**
 * Number of roles that the role extends. Counting stops above the limit. O(1) for a role that extends one
 * role whose result is cached.
 */
function reachOf(records: Draft, role: RoleRecord): number {
  const direct = role.extends.flatMap(key => {
    const other = records.get('role', rowKeys.role(role.typeId, key))
    return other === null ? [] : [other]
  })
  for (const other of direct) records.requireUnchanged(other)
  const [only] = direct
  if (only && direct.length === 1) return 1 + extendedOf(records, only).size
  const reached = new Set(direct.map(({ key }) => key))
  for (const other of direct) {
    for (const key of extendedOf(records, other).keys()) reached.add(key)
    if (reached.size > EXTENDS_REACH_MAX) break
  }
  return reached.size
}
