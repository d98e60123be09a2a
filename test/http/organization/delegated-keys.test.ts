/** API keys that are limited to tenants and roles (administration.md K9, K10, D1, D2). */
import { describe, expect, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import { routes } from '#testing/requests/routes.ts'
import { FACTS, question, sharedService } from '#testing/processes/running-service.ts'

const KEYS = '/v2/api-key'
const ENVIRONMENT = { project_id: 'default', environment_id: 'default' }
const NO_ID = '00000000-0000-4000-8000-000000000000'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.tenantRole('clerk', [])
const t = await verdict.tenant('t')
const u = await verdict.tenant('u')

type Made = ApiKey & { readonly secret: string }

const WRITE = { access_level: 'write_facts', tenants: ['t'], roles: ['clerk', 'document#viewer'] }
const READ = { access_level: 'read', tenants: ['t'] }

function create(body: object, place: object = ENVIRONMENT) {
  return verdict.admin<Made>('POST', KEYS, { ...place, ...body })
}

function change({ id }: ApiKey, body: object) {
  return verdict.admin<ApiKey>('PATCH', `${KEYS}/${id}`, body)
}

async function scopeOf({ secret: key }: Made) {
  const { body } = await verdict.send<object>('GET', `${KEYS}/scope`, { key })
  return body
}

type Rejected = [name: string, body: object, status: number, member: string, place?: object]

describe('a key that is limited to tenants', () => {
  test('is stored with ids of tenants and keys of roles, and is shown with them everywhere', async () => {
    const { body: made } = await create({
      ...WRITE,
      tenants: ['t', t.id, 'u'],
      roles: ['clerk', 'document#viewer', 'clerk'],
    })
    const limits = { tenants: [t.id, u.id], roles: ['clerk', 'document#viewer'] }
    expect(made).toMatchObject({ access_level: 'write_facts', ...limits })
    expect(await scopeOf(made)).toMatchObject({ access_level: 'write_facts', ...limits })
    const rotated = await verdict.admin<Made>('POST', `${KEYS}/${made.id}/rotate-secret`)
    expect(rotated.body).toMatchObject(limits)
    const { body: listed } = await verdict.admin<{ data: ApiKey[] }>('GET', `${KEYS}?per_page=100`)
    expect(listed.data.find(({ id }) => id === made.id)).toMatchObject(limits)
    expect(listed.data[0]).not.toHaveProperty('tenants')
    const read = (await create(READ)).body
    expect(read).toMatchObject({ tenants: [t.id], roles: [] })
    expect(await scopeOf(read)).toMatchObject({ access_level: 'read', tenants: [t.id], roles: [] })
  })

  const long = Array.from({ length: 101 }, (_, index) => `r${index}`)
  test.each<Rejected>([
    ['an empty list of tenants', { ...WRITE, tenants: [] }, 422, 'tenants'],
    ['101 tenants', { ...WRITE, tenants: long }, 422, 'tenants'],
    ['101 roles', { ...WRITE, roles: long }, 422, 'roles'],
    ['a role with two separators', { ...WRITE, roles: ['a#b#c'] }, 422, 'roles'],
    ['roles without tenants', { ...WRITE, tenants: null }, 422, 'tenants'],
    ['`write_facts` without roles', { ...WRITE, roles: null }, 422, 'roles'],
    ['`read` with roles', { ...READ, roles: ['clerk'] }, 422, 'roles'],
    ['no level, which means `admin`', { ...WRITE, access_level: null }, 422, 'access_level'],
    ...['admin', 'write', 'decide', 'no_access'].map((level): Rejected => [
      level,
      { ...WRITE, access_level: level },
      422,
      'access_level',
    ]),
    ['a key of a project', WRITE, 422, 'tenants', { project_id: 'default' }],
    ['a key of the organization', WRITE, 422, 'tenants', { object_type: 'org' }],
    ['an unknown tenant', { ...WRITE, tenants: ['t', 'x'] }, 404, 'tenant \\"x\\"'],
    ['an unknown tenant role', { ...WRITE, roles: ['viewer'] }, 404, 'role \\"viewer\\"'],
    ['an unknown resource', { ...WRITE, roles: ['file#viewer'] }, 404, 'resource \\"file\\"'],
    ['an unknown resource role', { ...WRITE, roles: ['document#clerk'] }, 404, 'role \\"clerk\\"'],
  ])('cannot be created with %s', async (_name, body, status, member, place) => {
    const answer = await create(body, place ?? ENVIRONMENT)
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(member)])
  })

  test('can have no roles, so that it gives and takes none', async () => {
    expect((await create({ ...WRITE, roles: [] })).body).toMatchObject({ tenants: [t.id], roles: [] })
  })

  test('changes in place and keeps what the request does not name', async () => {
    const { body: key } = await create(WRITE)
    const steps: [body: object, status: number, shown: object | null][] = [
      [{ name: 'N' }, 200, { tenants: [t.id], roles: WRITE.roles }],
      [{ name: 'N', tenants: null, roles: null }, 200, { tenants: [t.id], roles: WRITE.roles }],
      [{ tenants: ['u'] }, 200, { tenants: [u.id], roles: WRITE.roles }],
      [{ roles: ['clerk'] }, 200, { tenants: [u.id], roles: ['clerk'] }],
      [{ access_level: 'admin' }, 422, null],
      [{ access_level: 'no_access' }, 422, null],
      [{ tenants: ['x'] }, 404, null],
      [{ access_level: 'read' }, 200, { access_level: 'read', tenants: [u.id], roles: [] }],
      [{ access_level: 'write_facts' }, 422, null],
      [{ access_level: 'write_facts', roles: ['clerk'] }, 200, { tenants: [u.id], roles: ['clerk'] }],
    ]
    for (const [body, status, shown] of steps) {
      const answer = await change(key, body)
      expect([body, answer.status]).toEqual([body, status])
      if (shown) {
        expect(answer.body).toMatchObject(shown)
        expect(await scopeOf(key)).toMatchObject(shown)
      }
    }
    const plain = (await create({ access_level: 'write_facts' })).body
    expect((await change(plain, WRITE)).body).toMatchObject({ tenants: [t.id], roles: WRITE.roles })
  })

  test('keeps its limits without the tenant, and a tenant with the same key is another one', async () => {
    const gone = await verdict.tenant('gone')
    const { body: key } = await create({ ...READ, tenants: ['gone'] })
    await verdict.delete(`${FACTS}/tenants/gone`)
    const again = await verdict.tenant('gone')
    expect(again.id).not.toBe(gone.id)
    expect((await change(key, { name: 'N' })).body).toMatchObject({ tenants: [gone.id] })
  })

  test('is never the key that is fetched for an environment', async () => {
    await verdict.admin('POST', '/v2/projects/default/envs', { key: 'fetched', name: 'Fetched' })
    const place = { project_id: 'default', environment_id: 'fetched' }
    const own = (await verdict.admin<Made>('GET', `${KEYS}/default/fetched`)).body
    await change(own, { access_level: 'decide' })
    expect((await create({ ...READ, tenants: ['default'] }, place)).status).toBe(200)
    const fetched = await verdict.admin<ApiKey>('GET', `${KEYS}/default/fetched`)
    expect(fetched.body).toMatchObject({ id: own.id, access_level: 'decide' })
  })
})

/** Operations of the table in section 6, by the use that the routes state. */
const OPEN: Readonly<Record<string, string>> = {
  read: `getApiKeyScope listRoleAssignments listRelationshipTuples listResourceInstances listGroupRecords
    getTenant getResourceInstance getGroup getGroupRecord listGroupUsers listGroupRoles
    listGroupChildren listGroupParents listResources getResource listRelations getRelation
    listResourceRoles getResourceRole listTenantRoles getTenantRole`,
  write: `createRoleAssignment deleteRoleAssignment assignRoles unassignRoles assignUserRole unassignUserRole
    createRelationshipTuple deleteRelationshipTuple createRelationshipTuples deleteRelationshipTuples
    addGroupMember removeGroupMember addGroupRole removeGroupRole assignGroup unassignGroup`,
}

describe('a route for a key that is limited to tenants', () => {
  test('states its use exactly if the table contains it', () => {
    const stated = (use: string) =>
      routes.filter(({ delegated }) => delegated === use).map(({ operationId }) => operationId)
    for (const [use, names] of Object.entries(OPEN))
      expect([...new Set(stated(use))].toSorted()).toEqual(names.split(/\s+/).toSorted())
  })

  test('is closed otherwise, whatever the level, on every path', async () => {
    const { secret: key } = (await create(WRITE)).body
    const message = 'this operation is not available to a key that is limited to tenants and roles'
    for (const [method, path, body] of [
      ['POST', '/allowed', question('alice', 'read', 'document:d1')],
      ['POST', '/access/v1/evaluation', {}],
      ['GET', `${FACTS}/users`, undefined],
      ['GET', '/facts/users', undefined],
      ['POST', `${FACTS}/tenants`, { key: 'mine', name: 'Mine' }],
      ['DELETE', `${FACTS}/users/${NO_ID}`, undefined],
      ['GET', `${FACTS}/changes`, undefined],
      ['GET', '/v2/orgs/active/org', undefined],
      ['GET', '/v1/tenants', undefined],
    ] as const) {
      const answer = await verdict.send(method, path, { key, body })
      expect([path, answer.status, JSON.stringify(answer.body)]).toEqual([
        path,
        403,
        expect.stringContaining(message),
      ])
    }
    const metadata = await verdict.send('GET', '/.well-known/authzen-configuration', { key })
    expect(metadata.status).toBe(200)
  })
})
