/** Where facts carry a role: the scope of its bank, and its bit there (`layout.ts`). */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Role } from './schema.ts'

/**
 * The scope that a role is stored under, on an instance or on the tenant's line that has its bank. Only the low
 * bits of the bank count.
 */
export function scopeOf(role: Role, line: number): number {
  return line | ((role.roleIndex >>> 5) << L.BANK_SHIFT)
}

/** The role's bit in that scope's mask. */
export function maskOf(role: Role): number {
  return 1 << (role.roleIndex & 31)
}
