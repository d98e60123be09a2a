/** Maps a role to its position in facts: the scope of its bank, and its bit in the mask (`layout.ts`). */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Role } from './schema.ts'

/**
 * Returns the scope under which a role is stored, on an instance or on the line of the tenant that has its
 * bank. Only the low bits of the bank are used.
 */
export function scopeOf(role: Role, line: number): number {
  return line | ((role.roleIndex >>> 5) << L.BANK_SHIFT)
}

/** Returns the bit of the role in the mask of that scope. */
export function maskOf(role: Role): number {
  return 1 << (role.roleIndex & 31)
}
