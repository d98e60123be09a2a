/** Maps a role to its position in facts: the scope of its bank, and its bit in the mask (`layout.ts`). */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Role } from './schema.ts'

/**
 * Returns the scope of a role at a line: an instance, or the line of a tenant that has the role's bank. The
 * scope contains only the low bits of the bank.
 */
export function scopeOf(role: Role, line: number): number {
  return line | ((role.roleIndex >>> 5) << L.BANK_SHIFT)
}

/** Returns the bit of the role in the mask of that scope. */
export function maskOf(role: Role): number {
  return 1 << (role.roleIndex & 31)
}
