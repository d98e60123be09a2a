/**
 * Checks which roles a role may extend: those of the same scope, without a cycle (native.md D-21), and at
 * most as many as the limit allows (`extends-ceiling.ts`).
 */
import type { Draft } from '#management/drafts/draft.ts'
import { requireRole } from '#management/drafts/lookups.ts'
import { AuthzError } from '#model/errors.ts'
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import type { TypeRecord } from '#entities/records.ts'
import { reachesTooFar } from './extends-ceiling.ts'
import { extendedOf } from './extended-roles.ts'

/**
 * Returns the keys of the roles that `references` name. `type` is the scope of the role, null for tenant
 * roles. Throws `NOT_FOUND` for an unknown role, `INVALID_INPUT` for a cycle, `LIMIT_EXCEEDED` above the
 * limit of inheritance. Two concurrent commands that together would close a cycle conflict, because one of
 * them writes a role that the other one requires to be unchanged. One of the commands then runs again.
 */
export function resolveExtends(
  records: Draft,
  type: TypeRecord | null,
  roleKey: string,
  references: readonly string[],
): string[] {
  const direct = new Map(
    references.map(reference => {
      const role = requireRole(records, type, reference)
      return [role.key, role] as const
    }),
  )
  const reached = new Set(direct.keys())
  for (const [key, role] of direct) {
    // A referenced role must not be removed concurrently. Its own `extends` must not change, because a cycle
    // could close.
    records.touch(role)
    const extended = extendedOf(records, role)
    if (key === roleKey || extended.has(roleKey)) {
      const through = key === roleKey ? '' : ` through ${JSON.stringify(key)}`
      throw new AuthzError('INVALID_INPUT', `role ${JSON.stringify(roleKey)} would extend itself${through}`)
    }
    if (direct.size > 1) for (const other of extended.keys()) reached.add(other)
    const count = direct.size > 1 ? reached.size : 1 + extended.size
    if (count > EXTENDS_REACH_MAX) throw reachesTooFar(roleKey)
  }
  return [...direct.keys()]
}
