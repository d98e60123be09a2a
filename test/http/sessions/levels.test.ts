/**
 * Every operation in a session, with each level on each kind of object, inside of the grant and outside of it
 * (administration.md K3, C11).
 */
import { expect, test } from 'vitest'
import { ACCESS_LEVELS, type AccessGrant } from '#model/principal.ts'
import { sharedService } from '#testing/processes/running-service.ts'
import { routes } from '#testing/requests/routes.ts'
import { regrant, sendIn, signedIn, SIGN_IN } from '#testing/requests/member-sessions.ts'
import { levelOf } from '../../support/calls/operation-levels.ts'

const verdict = await sharedService({ ...SIGN_IN, requestsPerSecondMax: null })
await verdict.admin('POST', '/v2/projects', { key: 'other', name: 'Other', initial_environments: [] })
await verdict.admin('POST', '/v2/projects/other/envs', { key: 'one', name: 'One' })

const namesIn = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))
/** Operations that need a grant on the organization. */
const ON_ORGANIZATION = namesIn('getEnvironmentApiKey createProject backUp listOrganizationAuditEntries')
/** Operations that need a grant on the organization or on a project. */
const ON_PROJECT =
  namesIn(`listApiKeys createApiKey getApiKey updateApiKey deleteApiKey rotateApiKey listProjects
  getProject updateProject deleteProject listEnvironments createEnvironment getEnvironment updateEnvironment
  deleteEnvironment getEnvironmentStats copyEnvironment copyEnvironmentAsync getCopyEnvironmentResult`)
/** Operations that take the environment from a header. */
const IN_HEADER =
  namesIn(`isAllowed explainAllowed isAllowedBulk isAllowedUrl isAllowedNginx isAllowedNginxByPost
  isAllowedKong getUserPermissions getAuthorizedUsers getAllowedTenants getUserTenants accessEvaluation
  accessEvaluations searchSubjects searchResources searchActions planAccess listLocalRoleAssignments
  triggerDataUpdate triggerPolicyUpdate`)
/** These would remove the place or the session of the other requests. */
const REMOVALS = namesIn('deleteProject deleteEnvironment endSession')

const OBJECTS = { organization: 0, project: 1, environment: 2 } as const
type Object_ = keyof typeof OBJECTS

/** Whether a grant at this level on an object of the project `default` is sufficient. */
function isSufficient(
  object: Object_,
  held: AccessGrant['accessLevel'],
  { operationId, method, path }: (typeof routes)[number],
  place: 'own' | 'other',
): boolean {
  const width = OBJECTS[object]
  if (width > 0 && ON_ORGANIZATION.has(operationId)) return false
  if (width > 1 && ON_PROJECT.has(operationId)) return false
  const needed = levelOf(operationId, method)!
  const isInEnvironment = path.includes('{env_id}') || IN_HEADER.has(operationId)
  if (isInEnvironment || path.includes('{proj_id}')) {
    if (place === 'other' && width > 0) return false
    if (!isInEnvironment && width > 1) return false
  }
  return ACCESS_LEVELS.indexOf(held) >= ACCESS_LEVELS.indexOf(needed)
}

const CASES = (Object.keys(OBJECTS) as Object_[]).flatMap(object =>
  ACCESS_LEVELS.flatMap(level => (level === 'decide' ? [] : [{ object, level }])),
)
const withLevel = routes.filter(({ level, isDescribed }) => level !== null && isDescribed)

test.each(CASES)(
  'a session with $level on the $object can use exactly the operations of the table',
  async ({ object, level }) => {
    expect(withLevel.length).toBeGreaterThan(150)
    const on = { organization: 'organization', project: 'default', environment: 'default/default' }[object]
    const ann = await signedIn(verdict, `ann-${object}-${level}`)
    await regrant(verdict, ann.memberId, [{ on, level }])
    for (const route of withLevel) {
      for (const place of ['own', 'other'] as const) {
        const isAllowed = isSufficient(object, level, route, place)
        if (isAllowed && REMOVALS.has(route.operationId)) continue
        const [project, environment] = place === 'own' ? ['default', 'default'] : ['other', 'one']
        const named = route.path.replace('{proj_id}', project).replace('{env_id}', environment)
        // The content is not valid, so that no request changes anything.
        const answer = await sendIn(
          verdict,
          ann,
          route.method,
          named.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000'),
          {
            headers: { 'x-verdict-environment': `${project}/${environment}` },
            ...(route.method !== 'GET' && { body: 'x' }),
          },
        )
        const told = [route.operationId, place, answer.status, answer.body]
        if (isAllowed)
          expect(String(answer.status), JSON.stringify(told)).toMatch(/^(2..|400|404|409|412|422)$/)
        else expect(answer.status, JSON.stringify(told)).toBe(403)
      }
    }
  },
)
