/**
 * Which roles a role may extend: those of its own scope, without a cycle (native.md D-21), and not more than
 * the ceiling (`extends-ceiling.ts`).
 */
import type { Draft } from '#management/commands/draft.ts'
import { requireRole } from '#management/commands/lookups.ts'
import { AuthzError } from '#model/errors.ts'
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import type { TypeRecord } from '#model/records.ts'
import { reachesTooFar } from './extends-ceiling.ts'
import { extendedOf } from './extended-roles.ts'

/**
 * Returns the keys of the roles that `references` name. `type` is the scope of the role, null for tenant roles. Throws
 * `NOT_FOUND` for an unknown role, `INVALID_INPUT` for a cycle, `LIMIT_EXCEEDED` over the ceiling. Two commands that would
 * close a cycle together both overwrite or rely on a role of it, so one of them runs again.
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
    // A role that is mentioned must not be removed. What it extends in turn must not change, or a cycle could close.
    records.touch(role)
    const extended = extendedOf(records, role)
    if (key === roleKey || extended.has(roleKey)) {
      throw new AuthzError('INVALID_INPUT', `role ${JSON.stringify(roleKey)} would extend itself`)
    }
    if (direct.size > 1) for (const other of extended.keys()) reached.add(other)
    const count = direct.size > 1 ? reached.size : 1 + extended.size
    if (count > EXTENDS_REACH_MAX) throw reachesTooFar(roleKey)
  }
  return [...direct.keys()]
}
