/** The principal of a session compared with a literal reading of administration.md C11, for random grants. */
import { expect, test } from 'vitest'
import { requireAdmission, type RouteAccess } from '#http/routing/route-access.ts'
import { AuthzError } from '#model/errors.ts'
import { principalAnywhere, principalAt, principalIn } from '#model/members/member-reach.ts'
import { OrganizationPlaces } from '#model/members/organization-places.ts'
import {
  ACCESS_LEVELS,
  type AccessGrant,
  type AccessLevel,
  coversEnvironment,
  type Principal,
  reaches,
} from '#model/principal.ts'
import { Random } from '#testing/data/random.ts'

const ids = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
const P = { projectId: ids(1), projectKey: 'p' }
const Q = { projectId: ids(2), projectKey: 'q' }
const ENVIRONMENTS = [
  { ...P, environmentId: ids(3), environmentKey: 'a' },
  { ...P, environmentId: ids(4), environmentKey: 'b' },
  // A key that is the id of another environment: the key takes precedence.
  { ...Q, environmentId: ids(5), environmentKey: 'a' },
  { ...Q, environmentId: ids(6), environmentKey: ids(5) },
]
const places = new OrganizationPlaces({
  organizationId: ids(0),
  projects: [P, Q],
  environments: ENVIRONMENTS,
})
const caller = { sessionId: ids(7), memberId: ids(8), issuer: 'i', subject: 's', name: null }
const GRANTED = [
  [null, null],
  [P.projectId, null],
  [Q.projectId, null],
  ...ENVIRONMENTS.map(({ projectId, environmentId }) => [projectId, environmentId]),
] as const

/** Members have any level except `decide`. */
const GRANTED_LEVELS = ['no_access', 'read', 'write_facts', 'write', 'admin'] as const

/** The names of an environment in a path, and the environment that they mean; null if there is none. */
const NAMED: readonly (readonly [project: string, environment: string, number | null])[] = [
  ['p', 'a', 0],
  [P.projectId, 'b', 1],
  ['q', 'a', 2],
  ['q', ids(5), 3],
  ['q', ids(6).toUpperCase(), 3],
  ['p', ids(5), null],
  ['x', 'a', null],
]

function attempt(make: () => Principal): Principal | null {
  try {
    return make()
  } catch (error) {
    if (error instanceof AuthzError && error.code === 'FORBIDDEN') return null
    throw error
  }
}

function admitted(access: RouteAccess, level: AccessLevel, make: () => Principal): Principal | null {
  return attempt(() => {
    const principal = make()
    requireAdmission({ access, level, delegated: null }, principal)
    return principal
  })
}

test('a session is admitted exactly if one of its grants reaches the place with the level', () => {
  const random = new Random(62)
  let allowed = 0
  for (let round = 0; round < 20_000; round += 1) {
    const grants = Array.from({ length: random.below(4) }, (): AccessGrant => {
      const [projectId, environmentId] = random.pick(GRANTED)
      return { projectId, environmentId, accessLevel: random.pick(GRANTED_LEVELS), delegation: null }
    })
    const holder = { caller, grants }
    const level = random.pick(ACCESS_LEVELS)
    const [project, environment, index] = random.pick(NAMED)
    const there = index === null ? null : ENVIRONMENTS[index]!
    const width = (grant: AccessGrant) =>
      grant.projectId === null ? 0 : grant.environmentId === null ? 1 : 2
    const suffices = ({ accessLevel }: AccessGrant) => reaches(accessLevel, level)
    const isAt = (grant: AccessGrant) =>
      grant.projectId === null ||
      (grant.projectId ===
        (project === 'x' ? null : project === 'p' || project === P.projectId ? P : Q)?.projectId &&
        (grant.environmentId === null || grant.environmentId === there?.environmentId))
    const told = JSON.stringify({ grants, level, project, environment })

    const decides = admitted('environment', level, () =>
      principalIn(holder, places, { project, environment }, level),
    )
    expect(decides !== null, told).toBe(
      there !== null && grants.some(grant => isAt(grant) && suffices(grant)),
    )
    if (decides !== null) expect(decides, told).toMatchObject({ kind: 'environment', ...there })
    for (const [access, reach, widest] of [
      ['any-key', 'any', 2],
      ['project', 'project', 1],
      ['organization', 'organization', 0],
    ] as const) {
      const needed = { level, reach }
      const fits = grants.filter(grant => suffices(grant) && width(grant) <= widest)
      const at = admitted(access, level, () => principalAt(holder, places, { project, environment }, needed))
      expect(at !== null, `${told} ${access}`).toBe(fits.some(isAt))
      if (at !== null && there !== null) expect(coversEnvironment(at, there), told).toBe(true)
      const anywhere = admitted(access, level, () => principalAnywhere(holder, places, needed))
      // Without a grant, a member has the level `no_access` on the organization, and nothing else.
      const isAnywhere = fits.length > 0 || (level === 'no_access' && access !== 'organization')
      expect(anywhere !== null, `${told} ${access} anywhere`).toBe(isAnywhere)
      if (anywhere === null) continue
      allowed += 1
      for (const each of ENVIRONMENTS) {
        const isReached = fits.some(
          ({ projectId, environmentId }) =>
            projectId === null ||
            (projectId === each.projectId &&
              (environmentId === null || environmentId === each.environmentId)),
        )
        expect(coversEnvironment(anywhere, each), `${told} ${access} ${each.environmentKey}`).toBe(isReached)
      }
    }
  }
  expect(allowed).toBeGreaterThan(10_000)
})

const delegated = (level: AccessGrant['accessLevel'], tenants: string[], roles: string[]): AccessGrant => ({
  projectId: P.projectId,
  environmentId: ids(3),
  accessLevel: level,
  delegation: { tenants, roles },
})

test.each<[name: string, grants: AccessGrant[], needed: AccessLevel, expected: object]>([
  [
    'alone',
    [delegated('write_facts', ['t'], ['r'])],
    'read',
    { delegations: [{ tenants: ['t'], roles: ['r'] }] },
  ],
  [
    'next to a sufficient grant',
    [delegated('write_facts', ['t'], ['r']), { ...delegated('read', [], []), delegation: null }],
    'read',
    { level: 'read' },
  ],
  [
    'next to a lower grant',
    [delegated('write_facts', ['t'], ['r']), { ...delegated('read', [], []), delegation: null }],
    'write_facts',
    { level: 'write_facts', delegations: [{ tenants: ['t'], roles: ['r'] }] },
  ],
  [
    'with another',
    [delegated('write_facts', ['t'], ['r']), delegated('write_facts', ['u'], ['s'])],
    'write_facts',
    {
      delegations: [
        { tenants: ['t'], roles: ['r'] },
        { tenants: ['u'], roles: ['s'] },
      ],
    },
  ],
  [
    'with another of a lower level that is sufficient',
    [delegated('write_facts', ['t'], ['r']), delegated('read', ['u'], [])],
    'read',
    {
      level: 'read',
      delegations: [
        { tenants: ['t'], roles: ['r'] },
        { tenants: ['u'], roles: [] },
      ],
    },
  ],
  [
    'with another of a lower level that is not sufficient',
    [delegated('read', ['u'], []), delegated('write_facts', ['t'], ['r'])],
    'write_facts',
    { level: 'write_facts', delegations: [{ tenants: ['t'], roles: ['r'] }] },
  ],
  ['below the level', [delegated('read', ['t'], [])], 'write_facts', { level: 'read' }],
])('a limited grant %s counts as far as no other is sufficient', (_, grants, level, expected) => {
  const found = principalAt(
    { caller, grants },
    places,
    { project: 'p', environment: 'a' },
    { level, reach: 'any' },
  )
  expect(found).toMatchObject(expected)
  const everywhere = attempt(() =>
    principalAnywhere({ caller, grants }, places, { level: 'read', reach: 'any' }),
  )
  expect(everywhere?.delegations).toBe(undefined)
})
