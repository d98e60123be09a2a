/** The audit log narrowed by what its entries are about: calls that named a thing, by whichever of its names. */
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/audit.ts'
import {
  ADMIN_KEY,
  type Client,
  type Envelope,
  FACTS,
  GROUPS,
  refusal,
  SCHEMA,
  startedService,
} from '#testing/processes/running-service.ts'

const LOG = '/v2/audit-log/default/default'

/** The operations about it, oldest first. */
async function about(verdict: Client, thing: string, more = ''): Promise<string[]> {
  const query = `about=${encodeURIComponent(thing)}&order=oldest&per_page=100${more}`
  const { body, status } = await verdict.get<Envelope<AuditEntry>>(`${LOG}?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.total_count).toBe(body.data.length)
  return body.data.map(({ operation }) => operation)
}

async function companyOf(verdict: Client) {
  await verdict.createDocumentModel()
  await verdict.tenantRole('clerk', ['document:read'])
  await verdict.tenant('acme')
  await verdict.users('alice', 'bob')
  await verdict.instance('document:readme')
  await verdict.instance('document:other')
  await verdict.group('support')
  await verdict.group('staff')
  await verdict.join('support', 'alice')
  await verdict.nest('support', { into: 'staff' })
  await verdict.assign('alice', 'clerk', 'acme')
  await verdict.grant('support', 'viewer', 'document:readme')
}

test('a user: made, granted, put into groups, in a bulk, gone; by its key and by its id', async () => {
  const verdict = await startedService()
  await companyOf(verdict)
  const { body: alice } = await verdict.get<{ id: string }>(`${FACTS}/users/alice`)
  await verdict.patch(`${FACTS}/users/${alice.id.toUpperCase()}`, { attributes: { user: 'bob', key: 'bob' } })
  await verdict.put(`${FACTS}/bulk/users`, { operations: [{ key: 'carol' }, { key: 'alice' }] })
  await verdict.post(`${FACTS}/role_assignments/bulk`, [
    { user: 'bob', role: 'clerk', tenant: 'acme' },
    { user: 'alice', role: 'clerk', tenant: 'default' },
  ])
  const ofAlice = [
    'createUser',
    'addGroupMember',
    'createRoleAssignment',
    'updateUser',
    'replaceUsers',
    'assignRoles',
  ]
  expect(await about(verdict, 'user:alice')).toEqual(ofAlice)
  expect(await about(verdict, `user:${alice.id}`)).toEqual(ofAlice)
  expect(await about(verdict, `user:${alice.id.toUpperCase()}`)).toEqual(ofAlice)
  expect(await about(verdict, 'user:bob')).toEqual(['createUser', 'assignRoles'])
  expect(await about(verdict, 'user:nobody')).toEqual([])
  await verdict.send('DELETE', `${FACTS}/bulk/users`, { body: { idents: ['alice', 'carol'] } })
  // The id says nothing of the user any more; what was called by the key is still there.
  const byKey = ofAlice.filter(operation => operation !== 'updateUser')
  expect(await about(verdict, 'user:alice')).toEqual([...byKey, 'deleteUsers'])
  expect(await about(verdict, `user:${alice.id}`)).toEqual(['updateUser'])
})

test('a group, whichever way it is named; another one of the same key is none of it', async () => {
  const verdict = await startedService()
  await companyOf(verdict)
  await verdict.post(GROUPS, {
    group_instance_key: 'support',
    group_tenant: 'default',
    group_resource_type_key: 'team',
  })
  const ofSupport = ['createGroup', 'addGroupMember', 'assignGroup', 'addGroupRole']
  const { body } = await verdict.get<{ id: string }>(`${GROUPS}/support`)
  for (const name of ['support', 'group:support', body.id]) {
    expect(await about(verdict, `group:${name}`), name).toEqual(ofSupport)
  }
  expect(await about(verdict, 'resource_instance:group:support')).toEqual(ofSupport)
  expect(await about(verdict, 'group:team:support')).toEqual(['createGroup'])
  expect(await about(verdict, 'group:staff')).toEqual(['createGroup', 'assignGroup'])
  await verdict.delete(`${GROUPS}/${body.id}`)
  expect(await about(verdict, 'group:support')).toEqual(ofSupport)
})

test('a type, its instances, a tenant, a role, a condition set', async () => {
  const verdict = await startedService()
  await companyOf(verdict)
  await verdict.patch(`${SCHEMA}/resources/document`, { name: 'Document' })
  await verdict.conditionSet({ key: 'large', type: 'resourceset', resource_id: 'document', conditions: {} })
  await verdict.post(`${FACTS}/set_rules`, {
    user_set: 'clerk',
    permission: 'document:read',
    resource_set: 'large',
  })
  expect(await about(verdict, 'resource:document')).toEqual([
    'createResource',
    'createTenantRole',
    'updateResource',
    'createConditionSet',
    'createSetRule',
  ])
  expect(await about(verdict, 'resource_instance:document:readme')).toEqual([
    'createResourceInstance',
    'addGroupRole',
  ])
  expect(await about(verdict, 'tenant:acme')).toEqual(['createTenant', 'createRoleAssignment'])
  expect(await about(verdict, 'role:clerk')).toEqual([
    'createTenantRole',
    'createRoleAssignment',
    'createSetRule',
  ])
  expect(await about(verdict, 'role:viewer')).toContain('addGroupRole')
  expect(await about(verdict, 'condition_set:large')).toEqual(['createConditionSet', 'createSetRule'])
})

test('a grant that ended by itself is about its user, its role and its place', async () => {
  const verdict = await startedService()
  await companyOf(verdict)
  const expires_at = new Date(Date.now() + 3_000).toISOString()
  const ending = { user: 'bob', role: 'clerk', tenant: 'acme', expires_at }
  expect((await verdict.post(`${FACTS}/role_assignments`, ending)).status).toBe(200)
  for (;;) if ((await about(verdict, 'user:bob')).includes('expireGrants')) break
  for (const thing of ['role:clerk', 'tenant:acme']) {
    expect(await about(verdict, thing), thing).toContain('expireGrants')
  }
  expect(await about(verdict, 'user:alice')).not.toContain('expireGrants')
})

test('goes together with the other filters, in pages, newest first; what is no kind and key is refused', async () => {
  const verdict = await startedService()
  await companyOf(verdict)
  for (let level = 0; level < 5; level += 1) {
    await verdict.patch(`${FACTS}/users/alice`, { attributes: { level } })
    await verdict.patch(`${FACTS}/users/bob`, { attributes: { level } })
  }
  expect(await about(verdict, 'user:alice', '&operation=updateUser')).toHaveLength(5)
  const levels = async (page: number): Promise<unknown[]> => {
    const query = `about=user:alice&operation=updateUser&per_page=2&page=${page}`
    const { body } = await verdict.get<Envelope<AuditEntry>>(`${LOG}?${query}`)
    expect([body.total_count, body.page_count]).toEqual([5, 3])
    return body.data.map(({ input }) => JSON.stringify(input['body']).replaceAll(/\D/g, ''))
  }
  expect(await Promise.all([1, 2, 3, 4].map(levels))).toEqual([['4', '3'], ['2', '1'], ['0'], []])
  for (const thing of ['alice', 'user:', 'person:alice', '']) {
    expect(refusal(await verdict.get(`${LOG}?about=${thing}`))[0], thing).toBe(422)
  }
  const organization = await verdict.send('GET', '/v2/audit-log?about=user:alice', { key: ADMIN_KEY })
  expect(organization.status).toBe(422)
})

test('of a body that was not kept, what the path named is found', async () => {
  const verdict = await startedService()
  await companyOf(verdict)
  const long = { attributes: { long: 'x'.repeat(3_000) } }
  await verdict.patch(`${FACTS}/users/alice`, long)
  await verdict.put(`${FACTS}/users/bob`, { key: 'bob', ...long })
  await verdict.post(`${FACTS}/users`, { key: 'dora', ...long })
  expect(await about(verdict, 'user:alice', '&operation=updateUser')).toHaveLength(1)
  expect(await about(verdict, 'user:bob', '&operation=replaceUser')).toHaveLength(1)
  expect(await about(verdict, 'user:dora')).toEqual([])
})
