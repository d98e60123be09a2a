/** The caller of a route that takes environment keys only. */
import { assert } from '#model/assert.ts'
import type { Principal } from '#model/principal.ts'

export function environmentOf(principal: Principal | null): string {
  assert(principal?.kind === 'environment', 'only environment keys reach a decision')
  return principal.environmentId
}
