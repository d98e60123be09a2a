/**
 * Grants that a session has from the groups of its member (administration.md S15). They are bounded, so that
 * no request with a session is expensive: per object, only the highest level counts, and beyond a limit,
 * further grants do not count. Grants only add, so this never gives more.
 *
 * The limit for each project ensures that the administrators of one project, who can give many groups many
 * permissions there, do not displace the permissions on other projects.
 */
import { SESSION_GRANTS_MAX, SESSION_GRANTS_PER_PROJECT_MAX } from '#model/limits.ts'
import { type AccessGrant, reaches } from '#model/principal.ts'

export interface CountedGrants {
  readonly grants: readonly AccessGrant[]
  /** Whether some grants do not count because of a limit. */
  readonly areCut: boolean
}

/** The grants of groups that count, in the order of the groups. O(grants of the groups). */
export function countedGrants(groups: Iterable<readonly AccessGrant[]>): CountedGrants {
  const counted: AccessGrant[] = []
  /** Positions of the grants without limits, by their object. */
  const wholeOn = new Map<string | null, number>()
  const countIn = new Map<string, number>()
  let areCut = false
  for (const grants of groups) {
    for (const grant of grants) {
      const { projectId, environmentId, accessLevel, delegation } = grant
      if (accessLevel === 'no_access') continue
      const object = environmentId ?? projectId
      const known = delegation === null ? wholeOn.get(object) : undefined
      if (known !== undefined) {
        if (!reaches(counted[known]!.accessLevel, accessLevel)) counted[known] = grant
        continue
      }
      const isFull = counted.length >= SESSION_GRANTS_MAX
      const inProject = isFull || projectId === null ? 0 : (countIn.get(projectId) ?? 0)
      if (isFull || inProject >= SESSION_GRANTS_PER_PROJECT_MAX) {
        areCut = true
        continue
      }
      if (delegation === null) wholeOn.set(object, counted.length)
      if (projectId !== null) countIn.set(projectId, inProject + 1)
      counted.push(grant)
    }
  }
  return { grants: counted, areCut }
}
