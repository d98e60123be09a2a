/**
 * Grants that a session has from the groups of its member (administration.md S15). They are bounded, so that
 * no request with a session is expensive: per object, only the highest level counts, and beyond a limit,
 * further grants do not count. Grants only add, so this never gives more.
 *
 * The limit for each project ensures that the administrators of one project, who can give many groups many
 * permissions there, do not displace the permissions on other projects. Grants on the organization, at most
 * one of each group, do not count towards the limits, so that the grants on projects cannot displace them.
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
  let countInProjects = 0
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
      if (projectId !== null) {
        const inProject = countIn.get(projectId) ?? 0
        if (countInProjects >= SESSION_GRANTS_MAX || inProject >= SESSION_GRANTS_PER_PROJECT_MAX) {
          areCut = true
          continue
        }
        countIn.set(projectId, inProject + 1)
        countInProjects += 1
      }
      if (delegation === null) wholeOn.set(object, counted.length)
      counted.push(grant)
    }
  }
  return { grants: counted, areCut }
}
