/** Own grants of a member: at most one on each object (administration.md M2). */
import type { AccessGrant } from '#model/principal.ts'
import type { GrantPlace } from '#management/scopes/named-objects.ts'

export function isSamePlace(left: GrantPlace, right: GrantPlace): boolean {
  return left.projectId === right.projectId && left.environmentId === right.environmentId
}

/** The grants with `added`, each of which replaces the grant on the same object. */
export function mergedGrants(
  grants: readonly AccessGrant[],
  added: readonly AccessGrant[],
): readonly AccessGrant[] {
  return [...grants.filter(each => !added.some(other => isSamePlace(each, other))), ...added]
}
