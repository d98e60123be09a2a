/** Lists of facts over HTTP: filters, search, paging, envelopes, and bulk calls (native.md B.6 to B.11). */
import { describe, expect, test } from 'vitest'
import type { RelationshipTuple } from '#entities/relationship-tuple.ts'
import type { RoleAssignment } from '#entities/role-assignment.ts'
import type { User } from '#entities/user.ts'
import { ADMIN_KEY, type Envelope, FACTS, sharedService } from '#testing/processes/running-service.ts'
import type { Problem } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const editor = { name: 'Editor', permissions: ['read'] }
await verdict.resource({ key: 'folder', actions: { read: {} }, roles: { editor } })
await verdict.resource({
  key: 'document',
  actions: { read: {} },
  roles: { editor, viewer: { name: 'Viewer' } },
  relations: { parent: 'folder', next: 'document' },
})
await verdict.tenantRole('admin', ['document:read'])
await verdict.tenantRole('auditor', [])
for (const key of ['acme', 'umbrella']) await verdict.tenant(key)
await verdict.put(`${FACTS}/bulk/users`, {
  operations: [
    { key: 'ann', email: 'Ann@example.com', first_name: 'Ann', last_name: 'Lee' },
    { key: 'bob', email: 'bob@example.org', first_name: 'Robert' },
    { key: 'cy', last_name: '100%_sure' },
    { key: 'dee' },
  ],
})
await verdict.assign('ann', 'admin', 'acme')
await verdict.assign('ann', 'auditor', 'acme')
await verdict.assign('ann', 'admin', 'umbrella')
await verdict.assign('bob', 'admin', 'umbrella')
await verdict.assign('bob', 'editor', 'document:d1', 'acme')
await verdict.assign('cy', 'editor', 'folder:f1', 'acme')
await verdict.assign('cy', 'viewer', 'document:d1', 'acme')
await verdict.relate('folder:f1', 'parent', 'document:d1', 'acme')
await verdict.relate('document:d1', 'next', 'document:d2', 'acme')
await verdict.relate('document:x1', 'next', 'document:x2', 'umbrella')

async function assignments(query: string): Promise<string[]> {
  const { body } = await verdict.get<RoleAssignment[]>(`${FACTS}/role_assignments?${query}`)
  return body.map(({ user, role, tenant, resource_instance }) =>
    [user, role, resource_instance ?? tenant].join(' '),
  )
}

async function tuples(query: string): Promise<string[]> {
  const { body } = await verdict.get<RelationshipTuple[]>(`${FACTS}/relationship_tuples?${query}`)
  return body.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`)
}

async function users(path: string): Promise<string[]> {
  const { body } = await verdict.get<Envelope<User>>(`${FACTS}/${path}`)
  expect(body.total_count).toBe(body.data.length)
  return body.data.map(({ key }) => key)
}

describe('role assignments', () => {
  test.each([
    ['user=bob', ['bob admin umbrella', 'bob editor document:d1']],
    ['role=editor', ['bob editor document:d1', 'cy editor folder:f1']],
    ['role=admin', ['ann admin acme', 'ann admin umbrella', 'bob admin umbrella']],
    ['user=cy&user=ann&user=nobody&resource=document', ['cy viewer document:d1']],
    [
      'role=editor&role=viewer&role=editor',
      ['bob editor document:d1', 'cy editor folder:f1', 'cy viewer document:d1'],
    ],
    ['tenant=umbrella', ['ann admin umbrella', 'bob admin umbrella']],
    ['resource=document', ['bob editor document:d1', 'cy viewer document:d1']],
    ['resource_instance=document:d1', ['bob editor document:d1', 'cy viewer document:d1']],
    ['resource_instance=document%3Ad1&role=viewer', ['cy viewer document:d1']],
    ['user=ann&tenant=acme', ['ann admin acme', 'ann auditor acme']],
    ['user=nobody', []],
    ['role=nothing', []],
    ['tenant=nowhere', []],
    ['resource=nothing', []],
    ['resource_instance=nothing:n1', []],
    ['user=ann&page=2&per_page=2', ['ann admin umbrella']],
    ['user=ann&page=3&per_page=2', []],
  ])('filtered by %s are returned in creation order', async (query, expected) => {
    expect(await assignments(query)).toEqual(expected)
  })

  test('filtered by several tenants are returned in creation order', async () => {
    expect(await assignments('tenant=umbrella&tenant=acme')).toEqual(await assignments(''))
  })

  test('are counted on request, also with two filters', async () => {
    const path = `${FACTS}/role_assignments?user=ann&role=admin&per_page=1&include_total_count=true`
    const { body } = await verdict.get<Envelope<RoleAssignment>>(path)
    expect([body.data.length, body.total_count, body.page_count]).toEqual([1, 2, 2])
  })

  test('are returned in pages of at most 1,000', async () => {
    expect((await verdict.get(`${FACTS}/role_assignments?per_page=1000`)).status).toBe(200)
    expect((await verdict.get(`${FACTS}/role_assignments?per_page=1001`)).status).toBe(422)
  })

  test('are returned by a call that deletes them, if the request asks for the deleted assignments', async () => {
    const body = { user: 'dee', role: 'auditor', tenant: 'acme' }
    const made = await verdict.post(`${FACTS}/role_assignments`, body)
    const deleted = await verdict.delete(`${FACTS}/role_assignments?return_deleted=true`, body)
    expect([deleted.status, deleted.body]).toEqual([200, made.body])
    expect((await verdict.delete(`${FACTS}/role_assignments`, body)).status).toBe(404)
    await verdict.post(`${FACTS}/users/dee/roles`, { role: 'auditor', tenant: 'acme' })
    const other = await verdict.delete(`${FACTS}/users/dee/roles`, { role: 'auditor', tenant: 'acme' })
    expect([other.status, other.body]).toEqual([204, undefined])
  })
})

describe('users', () => {
  test.each([
    ['users?search=ANN', ['ann']],
    ['users?search=example', ['ann', 'bob']],
    ['users?search=b*t', ['bob']],
    ['users?search=100%25_', ['cy']],
    ['users?search=_', ['cy']],
    ['users?search=example.com&search_operator=endswith', ['ann']],
    ['users?search=rob&search_operator=startswith', ['bob']],
    ['users?search=obert&search_operator=startswith', []],
    ['users?role=admin', ['ann', 'bob']],
    ['users?role=editor', ['bob', 'cy']],
    ['users?role=admin&search=bob', ['bob']],
    ['users?role=', ['dee']],
    ['users?role=nothing', []],
    ['tenants/acme/users', ['ann', 'bob', 'cy']],
    ['tenants/umbrella/users', ['ann', 'bob']],
    ['tenants/acme/users?role=admin', ['ann']],
    ['tenants/umbrella/users?role=admin', ['ann', 'bob']],
    ['tenants/acme/users?role=editor', ['bob', 'cy']],
    ['tenants/umbrella/users?role=editor', []],
    ['tenants/acme/users?role=editor&search=cy', ['cy']],
    ['tenants/acme/users?role=', []],
    ['tenants/acme/users?role=nothing', []],
    ['tenants/acme/users?search=E*M', ['ann', 'bob']],
    ['tenants/default/users', []],
  ])('%s returns the matching users', async (path, expected) => {
    expect(await users(path)).toEqual(expected)
  })

  test('show roles on instances only on request', async () => {
    const plain = await verdict.get<User>(`${FACTS}/users/bob`)
    expect(plain.body.associated_tenants.map(({ tenant }) => tenant)).toEqual(['umbrella'])
    const path = `${FACTS}/users?search=bob&include_resource_instance_roles=true`
    const [whole] = (await verdict.get<Envelope<User>>(path)).body.data
    expect(whole!.associated_tenants.at(-1)).toEqual({
      tenant: 'acme',
      roles: [],
      status: 'active',
      resource_instance_roles: [{ resource: 'document', resource_instance: 'd1', role: 'editor' }],
    })
  })

  test('are created by PUT with 201; PUT of an existing user returns 200 and keeps its id and roles', async () => {
    const body = { key: 'eve', email: 'eve@x', role_assignments: [{ role: 'auditor', tenant: 'default' }] }
    const created = await verdict.put<User>(`${FACTS}/users/eve`, body)
    const known = await verdict.put<User>(`${FACTS}/users/eve`, { key: 'eve' })
    expect([created.status, known.status]).toEqual([201, 200])
    expect(known.body).toMatchObject({ id: created.body.id, email: null, roles: created.body.roles })
    expect((await verdict.put(`${FACTS}/users/eve`, { key: 'other' })).status).toBe(400)
    expect((await verdict.delete(`${FACTS}/users/eve`)).status).toBe(204)
    expect((await verdict.get(`${FACTS}/users/eve`)).status).toBe(404)
  })

  test('lose all their roles in a tenant when they are removed from this tenant', async () => {
    await verdict.user('fay')
    await verdict.assign('fay', 'auditor', 'acme')
    await verdict.assign('fay', 'viewer', 'document:d2', 'acme')
    await verdict.assign('fay', 'auditor', 'umbrella')
    expect((await verdict.delete(`${FACTS}/tenants/acme/users/fay`)).status).toBe(204)
    expect(await assignments('user=fay')).toEqual(['fay auditor umbrella'])
    expect((await verdict.delete(`${FACTS}/tenants/acme/users/fay`)).status).toBe(404)
    await verdict.delete(`${FACTS}/users/fay`)
  })

  test('are listed by /v1/users as an array, for keys of the organization and of an environment', async () => {
    for (const key of [ADMIN_KEY, undefined]) {
      const { body } = await verdict.send<User[]>('GET', '/v1/users?per_page=2&page=2', {
        ...(key && { key }),
      })
      expect(body.map(user => user.key)).toEqual(['cy', 'dee'])
    }
    const { body } = await verdict.admin<{ key: string }[]>('GET', '/v1/tenants')
    expect(body.map(({ key }) => key)).toEqual(['default', 'acme', 'umbrella'])
  })
})

describe('relationship tuples', () => {
  const [inFolder, next, elsewhere] = [
    'folder:f1 parent document:d1',
    'document:d1 next document:d2',
    'document:x1 next document:x2',
  ]
  test.each([
    ['', [inFolder, next, elsewhere]],
    ['tenant=acme', [inFolder, next]],
    ['subject=document:d1', [next]],
    ['object=document:d1', [inFolder]],
    ['relation=next', [next, elsewhere]],
    ['subject_type=folder', [inFolder]],
    ['object_type=document', [inFolder, next, elsewhere]],
    ['subject_type=document&tenant=umbrella', [elsewhere]],
    ['relation=nothing', []],
    ['subject=document:nothing', []],
  ])('filtered by "%s" are returned in creation order', async (query, expected) => {
    expect(await tuples(query)).toEqual(expected)
  })

  test.each([
    ['relationship_tuples/detailed?subject=folder:f1', (body: unknown) => (body as Envelope<unknown>).data],
    ['relationship_tuples?subject=folder:f1&detailed=true', (body: unknown) => body as unknown[]],
  ])('have both instances with their tenants in the details of GET %s', async (path, itemsOf) => {
    const { body } = await verdict.get(`${FACTS}/${path}`)
    const side = { id: expect.any(String), tenant: 'acme', attributes: {} }
    expect(itemsOf(body)).toMatchObject([
      {
        subject_details: { ...side, resource: 'folder', key: 'f1' },
        object_details: { ...side, resource: 'document', key: 'd1' },
      },
    ])
  })

  test('are skipped by bulk calls that create existing tuples or delete missing ones', async () => {
    const before = await tuples('')
    const made = { subject: 'document:d2', relation: 'next', object: 'document:d1' }
    const known = { subject: 'document:d1', relation: 'next', object: 'document:d2' }
    for (let round = 0; round < 2; round += 1) {
      const answer = await verdict.post(`${FACTS}/relationship_tuples/bulk`, { operations: [made, known] })
      expect([answer.status, answer.body]).toEqual([200, {}])
    }
    expect(await tuples('')).toHaveLength(before.length + 1)
    const idents = [made, made, { ...made, subject: 'document:nothing' }]
    expect((await verdict.delete(`${FACTS}/relationship_tuples/bulk`, { idents })).status).toBe(200)
    expect(await tuples('')).toEqual(before)
  })
})

describe('lists of instances and tenants', () => {
  test('filter instances by tenant, type and part of the instance key', async () => {
    const keys = (query: string) => verdict.keysIn(`${FACTS}/resource_instances?${query}`)
    expect(await keys('resource=folder')).toEqual(['f1'])
    expect(await keys('tenant=umbrella')).toEqual(['x1', 'x2'])
    expect(await keys('search=X')).toEqual(['x1', 'x2'])
    expect(await keys('tenant=acme&resource=document&search=2')).toEqual(['d2'])
  })

  test('show the relationships of an instance if the request asks for details', async () => {
    const { body } = await verdict.get(`${FACTS}/resource_instances/document:d1?detailed=true`)
    expect(body).toMatchObject({
      relationships: [
        { subject: 'document:d1', relation: 'next', object: 'document:d2' },
        { subject: 'folder:f1', relation: 'parent', object: 'document:d1' },
      ],
    })
  })

  test('show that a PUT does not move an instance to another tenant', async () => {
    const operations = [{ resource: 'document', key: 'd1', tenant: 'umbrella' }]
    const answer = await verdict.put<Problem>(`${FACTS}/bulk/resource_instances`, { operations })
    expect([answer.status, answer.body.error_code]).toEqual([400, 'MISMATCH_RESOURCE_INSTANCES_TENANTS'])
  })

  test('find tenants by key and name', async () => {
    expect(await verdict.keysIn(`${FACTS}/tenants?search=DEF*LT`)).toEqual(['default'])
  })
})

describe('a bulk call', () => {
  const good = { user: 'dee', role: 'auditor', tenant: 'acme' }
  const post = (body: unknown, query = '') =>
    verdict.post<Problem>(`${FACTS}/role_assignments/bulk${query}`, body)

  test('with one invalid element does nothing and names the element', async () => {
    const answer = await post([good, { ...good, user: 'nobody' }])
    expect(answer.status).toBe(404)
    expect(answer.body.message).toContain('[1]')
    expect(answer.body.detail?.[0]?.loc).toEqual(['body', 1])
    expect(await assignments('user=dee')).toEqual([])
  })

  test('reports the error with the highest priority, at any position', async () => {
    const operations = [{ key: 'ann' }, { key: 'new', role_assignments: [{ role: 'admin', tenant: 'no' }] }]
    const missing = await verdict.post<Problem>(`${FACTS}/bulk/users`, { operations })
    expect([missing.status, missing.body.detail?.[0]?.loc]).toEqual([404, ['body', 'operations', 1]])
    const taken = await verdict.post<Problem>(`${FACTS}/bulk/users`, {
      operations: [{ key: 'new' }, { key: 'ann' }],
    })
    expect([taken.status, taken.body.message]).toEqual([409, expect.stringContaining('operations[1]')])
    expect((await verdict.get(`${FACTS}/users/new`)).status).toBe(404)
  })

  test('for role assignments handles missing users according to missing_user_policy', async () => {
    const body = [good, good, { ...good, user: 'gus' }]
    expect((await post(body, '?missing_user_policy=ignore')).body).toEqual({ assignments_created: 1 })
    expect((await post(body, '?missing_user_policy=create')).body).toEqual({ assignments_created: 1 })
    expect((await post(body, '?missing_user_policy=guess')).status).toBe(422)
    const impossible = await post([good, { ...good, user: 'a\nb' }], '?missing_user_policy=create')
    expect(impossible).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 1, 'user'] }] } })
    const gone = await verdict.delete(`${FACTS}/role_assignments/bulk`, [good, good])
    expect(gone.body).toEqual({ assignments_removed: 1 })
    const idents = { idents: ['gus', 'gus'] }
    expect((await verdict.delete(`${FACTS}/bulk/users`, idents)).body).toEqual({})
  })

  test('is rejected if it has more than 10,000 elements', async () => {
    const idents = Array.from({ length: 10_001 }, () => 'ann')
    expect((await verdict.delete(`${FACTS}/bulk/users`, { idents })).status).toBe(422)
  })
})
