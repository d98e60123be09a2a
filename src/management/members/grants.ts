/** Own grants of a member: at most one on each object (administration.md M2). */
import type { AccessGrant } from '#model/principal.ts'
import type { GrantPlace } from '#management/scopes/named-objects.ts'

export function isSamePlace(left: GrantPlace, right: GrantPlace): boolean {
  return left.projectId === right.projectId && left.environmentId === right.environmentId
}

/** Whether one of two objects contains the other, or they are the same. */
export function isAlong(one: GrantPlace, other: GrantPlace): boolean {
  if (one.projectId === null || other.projectId === null) return true
  if (one.projectId !== other.projectId) return false
  const isWide = one.environmentId === null || other.environmentId === null
  return isWide || one.environmentId === other.environmentId
}

/** The grants with `added`, each of which replaces the grant on the same object. */
export function mergedGrants(
  grants: readonly AccessGrant[],
  added: readonly AccessGrant[],
): readonly AccessGrant[] {
  return [...grants.filter(each => !added.some(other => isSamePlace(each, other))), ...added]
}
