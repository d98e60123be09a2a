/** Members, their permissions, invitations and member groups over HTTP (administration.md M1 to M11). */
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import type { Member, MemberGroup } from '#model/wire/organization/member.ts'
import {
  ADMIN_KEY,
  type Answer,
  API_KEY,
  type Envelope,
  sharedService,
} from '#testing/processes/running-service.ts'
import { SIGN_IN } from '../../support/calls/member-calls.ts'
import { refusal } from '../../support/calls/refusals.ts'
import { content, contentOf, importInto } from '../../support/content.ts'

const MEMBERS = '/v2/members'
const GROUPS = '/v2/member_groups'
const verdict = await sharedService(SIGN_IN)
const { organization_id: organizationId } = (
  await verdict.get<{ organization_id: string }>('/v2/api-key/scope')
).body
const t = await verdict.tenant('t')
await verdict.tenantRole('clerk', [])

const ORGANIZATION = { object_type: 'org' }
const PROJECT = { object_type: 'project', project_id: 'default' }
const ENVIRONMENT = { object_type: 'env', project_id: 'default', environment_id: 'default' }
const one = (object: object, level = 'read', others: object = {}) => ({
  permissions: [{ ...object, access_level: level, ...others }],
})

const post = (body: object) => verdict.admin<Member>('POST', MEMBERS, body)
const read = (reference: string, key = ADMIN_KEY) =>
  verdict.send<Member>('GET', `${MEMBERS}/${encodeURIComponent(reference)}`, { key })
const list = async (query: string, key = ADMIN_KEY) =>
  (await verdict.send<Member[]>('GET', `${MEMBERS}?${query}`, { key })).body.map(({ email }) => email)
const levelsOf = ({ body }: Answer<Member>) =>
  body.grants.map(grant => [grant.object_type, grant.project_key, grant.environment_key, grant.access_level])

test('a change with the key of an environment is rejected before errors in its body', async () => {
  for (const body of [{}, { email: 'x@example.com', ...one(ENVIRONMENT) }]) {
    const answer = await verdict.send('POST', MEMBERS, { body, key: API_KEY })
    expect(answer).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('API key of a project') },
    })
  }
})

describe('a member', () => {
  test('is invited with a link that is shown once, and is found by id and by address', async () => {
    const { status, body: made } = await post({ email: 'Ann@example.com', ...one(ENVIRONMENT, 'write') })
    expect(status).toBe(200)
    const { invite_url: url, ...invite } = made.invite!
    expect(url).toMatch(/^http:\/\/localhost:2\/console#\/invite\/[A-Za-z0-9_-]{43}$/)
    const { project_id, environment_id } = (await verdict.get<Record<string, string>>('/v2/api-key/scope'))
      .body
    const shown = {
      id: made.id,
      email: 'Ann@example.com',
      email_verified: false,
      name: null,
      given_name: null,
      family_name: null,
      picture: null,
      is_superuser: false,
      is_onboarding: false,
      onboarding_step: 'done',
      created_at: made.created_at,
      last_login: null,
      last_ip: '0.0.0.0',
      logins_count: 0,
      identities: [],
      invite: {
        id: invite.id,
        organization_id: organizationId,
        member_id: made.id,
        email: 'Ann@example.com',
        invite_code: invite.id,
        created_at: made.created_at,
        expires_at: new Date(Date.parse(made.created_at) + 7 * 86_400_000).toISOString(),
        status: 'pending',
        failed_reason: null,
      },
      settings: {},
      grants: [
        {
          organization_id: organizationId,
          organization_key: 'default',
          organization_name: 'Default',
          project_id,
          project_key: 'default',
          project_name: 'Default project',
          environment_id,
          environment_key: 'default',
          environment_name: 'Default environment',
          object_type: 'env',
          access_level: 'write',
          via: 'own',
        },
      ],
    }
    for (const reference of [made.id, made.id.toUpperCase(), 'Ann@example.com', 'ANN@EXAMPLE.COM']) {
      expect((await read(reference)).body).toEqual(shown)
    }
    expect(refusal(await read('ann@example.org'))).toEqual([404, 'NOT_FOUND'])
    const again = (await post({ email: 'ann@example.com', ...one(PROJECT) })).body
    expect([again.id, again.invite!.id === invite.id, again.invite!.invite_url === url]).toEqual([
      made.id,
      false,
      false,
    ])
    expect(levelsOf(await read(made.id))).toEqual([['project', 'default', null, 'read']])
    expect((await verdict.admin('DELETE', `${MEMBERS}/${made.id}`)).status).toBe(204)
    expect(refusal(await read(made.id))).toEqual([404, 'NOT_FOUND'])
  })

  test('has at most one permission on an object, and is deleted with the last one', async () => {
    const { body } = await post({ subject: 'bob', ...one(ENVIRONMENT, 'write') })
    const { id } = body
    expect(body).toMatchObject({
      invite: null,
      identities: [{ provider: SIGN_IN.oidcIssuer, sub: 'bob', user_id: 'bob' }],
    })
    expect(levelsOf(await post({ id, ...one(ORGANIZATION, 'no_access') }))).toEqual([
      ['org', null, null, 'no_access'],
      ['env', 'default', 'default', 'write'],
    ])
    await post({ subject: 'bob', ...one({ ...ENVIRONMENT, organization_id: organizationId }, 'write_facts') })
    const remove = (object: object) => verdict.admin('DELETE', MEMBERS, { id, ...one(object) })
    expect((await remove(ORGANIZATION)).status).toBe(204)
    expect(levelsOf(await read(id))).toEqual([['env', 'default', 'default', 'write_facts']])
    expect(refusal(await remove(PROJECT))).toEqual([404, 'NOT_FOUND'])
    expect((await remove(ENVIRONMENT)).status).toBe(204)
    expect(refusal(await read(id))).toEqual([404, 'NOT_FOUND'])
  })

  test('is listed by text and by the objects that its permissions concern', async () => {
    await verdict.admin('POST', '/v2/projects', { key: 'shop', name: 'Shop' })
    const { body: key } = await verdict.admin<{ secret: string }>('POST', '/v2/api-key', {
      project_id: 'shop',
    })
    await post({ email: 'org@example.com', ...one(ORGANIZATION) })
    await post({ email: 'shop@example.com', ...one({ object_type: 'project', project_id: 'shop' }) })
    await post({ email: 'env@example.com', ...one(ENVIRONMENT) })
    const [org, shop, env] = ['org@example.com', 'shop@example.com', 'env@example.com']
    expect(await list('')).toEqual([org, shop, env])
    expect(await list('per_page=1&page=2')).toEqual([shop])
    expect(await list('search=SHOP')).toEqual([shop])
    expect(await list('project_id=shop')).toEqual([org, shop])
    expect(await list('project_id=default&env_id=default')).toEqual([org, env])
    expect(await list('project_id=shop&env_id=dev')).toEqual([org, shop])
    expect(await list('', key.secret)).toEqual([org, shop])
    expect(await list('', API_KEY)).toEqual([org, env])
    for (const query of ['project_id=nothing', 'env_id=default', 'project_id=default&env_id=dev']) {
      expect(refusal(await verdict.admin('GET', `${MEMBERS}?${query}`)), query).toEqual([404, 'NOT_FOUND'])
    }
    const foreign = await verdict.send('GET', `${MEMBERS}?project_id=default`, { key: key.secret })
    expect(refusal(foreign)).toEqual([404, 'NOT_FOUND'])
    expect(refusal(await read(env, key.secret))).toEqual([404, 'NOT_FOUND'])
  })

  test('has settings of up to 4 KiB, which null clears', async () => {
    const { id } = (await post({ subject: 'set', ...one(PROJECT) })).body
    const patch = (settings: unknown) =>
      verdict.admin<Member>('PATCH', `${MEMBERS}/${id}`, { settings, onboarding_step: 'x' })
    const full = { a: 'x'.repeat(4_096 - '{"a":""}'.length) }
    expect((await patch(full)).body.settings).toEqual(full)
    expect(refusal(await patch({ a: `${full.a}x` }))).toEqual([400, 'INVALID_INPUT'])
    expect((await patch(undefined)).body.settings).toEqual(full)
    expect((await patch(null)).body.settings).toEqual({})
  })

  test('can be bound to a subject once', async () => {
    const { body: invited } = await post({ email: 'late@example.com', ...one(PROJECT) })
    const { body: bound } = await post({ id: invited.id, subject: 'late', ...one(ENVIRONMENT) })
    expect(bound).toMatchObject({ id: invited.id, invite: null, identities: [{ sub: 'late' }] })
    const other = (await post({ subject: 'early', email: 'early@example.com', ...one(PROJECT) })).body
    expect(other).toMatchObject({ email: 'early@example.com', email_verified: false, invite: null })
    for (const body of [
      { id: other.id, subject: 'late' },
      { id: other.id, subject: 'unused' },
    ]) {
      expect(refusal(await post({ ...body, ...one(PROJECT) }))).toEqual([409, 'DUPLICATE_ENTITY'])
    }
    expect(refusal(await read('early@example.com'))).toEqual([404, 'NOT_FOUND'])
    await post({ email: 'early@example.com', ...one(ORGANIZATION) })
    expect((await read('early@example.com')).status).toBe(200)
    const { secret: key } = await verdict.createKey({ project_id: 'default' })
    await verdict.send('POST', MEMBERS, { key, body: { email: 'early@example.com', ...one(PROJECT) } })
    expect(refusal(await read('early@example.com'))).toEqual([400, 'INVALID_INPUT'])
  })

  const tenants = { tenants: ['t'], roles: ['clerk'] }
  test.each([
    ['no name', one(PROJECT), 400, 'INVALID_INPUT'],
    ['two names', { id: organizationId, email: 'a@b', ...one(PROJECT) }, 400, 'INVALID_INPUT'],
    ['an unknown id', { id: organizationId, ...one(PROJECT) }, 404, 'NOT_FOUND'],
    ['an address without @', { email: 'ann', ...one(PROJECT) }, 422, 'INVALID_INPUT'],
    ['a subject that is not ASCII', { subject: 'é', ...one(PROJECT) }, 422, 'INVALID_INPUT'],
    ['no permissions', { subject: 'x', permissions: [] }, 422, 'INVALID_INPUT'],
    ['the level decide', { subject: 'x', ...one(ENVIRONMENT, 'decide') }, 422, 'INVALID_INPUT'],
    [
      'two permissions on an object',
      { subject: 'x', permissions: [...one(PROJECT).permissions, ...one(PROJECT).permissions] },
      400,
      'INVALID_INPUT',
    ],
    ['a project without an id', { subject: 'x', ...one({ object_type: 'project' }) }, 400, 'INVALID_INPUT'],
    [
      'an organization with a project',
      { subject: 'x', ...one({ ...PROJECT, object_type: 'org' }) },
      400,
      'INVALID_INPUT',
    ],
    [
      'another organization',
      { subject: 'x', ...one({ ...PROJECT, organization_id: t.id }) },
      404,
      'NOT_FOUND',
    ],
    ['an unknown project', { subject: 'x', ...one({ ...PROJECT, project_id: 'none' }) }, 404, 'NOT_FOUND'],
    [
      'an unknown environment',
      { subject: 'x', ...one({ ...ENVIRONMENT, environment_id: 'none' }) },
      404,
      'NOT_FOUND',
    ],
    ['tenants of a project', { subject: 'x', ...one(PROJECT, 'write_facts', tenants) }, 422, 'INVALID_INPUT'],
    [
      'tenants with a wide level',
      { subject: 'x', ...one(ENVIRONMENT, 'write', tenants) },
      422,
      'INVALID_INPUT',
    ],
    [
      'an unknown tenant',
      { subject: 'x', ...one(ENVIRONMENT, 'read', { tenants: ['none'] }) },
      404,
      'NOT_FOUND',
    ],
    [
      '101 permissions',
      { subject: 'x', permissions: Array.from({ length: 101 }, () => one(PROJECT).permissions[0]) },
      400,
      'INVALID_INPUT',
    ],
  ] as const)('with %s is rejected', async (_, body, status, code) => {
    expect(refusal(await post(body))).toEqual([status, code])
  })

  test('can have a permission that is limited to tenants', async () => {
    const { body } = await post({ subject: 'delegate', ...one(ENVIRONMENT, 'write_facts', tenants) })
    expect(body.grants).toMatchObject([{ access_level: 'write_facts', tenants: [t.id], roles: ['clerk'] }])
  })

  test('is in the audit log by id, without its address and without the link', async () => {
    const { body: made } = await post({ email: 'secret@example.com', ...one(PROJECT) })
    await verdict.admin('PATCH', `${MEMBERS}/secret@example.com`, { settings: {} })
    await verdict.admin('DELETE', `${MEMBERS}/secret@example.com`)
    const { body } = await verdict.admin<Envelope<AuditEntry>>('GET', '/v2/audit-log?per_page=3')
    const about = [{ kind: 'member', key: null, id: made.id }]
    expect(body.data).toMatchObject([
      { operation: 'deleteMember', input: { member_id: '***' }, about },
      { operation: 'updateMember', input: { member_id: '***' }, about },
      { operation: 'createMember', input: { body: { email: '***' } }, about: expect.arrayContaining(about) },
    ])
    expect(JSON.stringify(body)).not.toContain('secret@example.com')
    expect(JSON.stringify(body)).not.toContain(made.invite!.invite_url!.split('/').at(-1))
  })
})

test('a member is changed and deleted with the tag of the state that the client has seen', async () => {
  const { body: made } = await post({ subject: 'tagged', ...one(PROJECT) })
  const path = `${MEMBERS}/${made.id}`
  const tag = async () => (await verdict.send('GET', path, { key: ADMIN_KEY })).headers.get('etag')!
  const change = (method: string, ifMatch: string, body?: object) =>
    verdict.send<Member>(method, path, { key: ADMIN_KEY, body, headers: { 'if-match': ifMatch } })
  const first = await tag()
  const { status, headers } = await change('PATCH', first, { settings: { a: 1 } })
  expect([status, headers.get('etag')]).toEqual([200, await tag()])
  expect(refusal(await change('PATCH', first, { settings: null }))).toEqual([412, 'PRECONDITION_FAILED'])
  await post({ id: made.id, ...one(PROJECT, 'write') })
  expect(refusal(await change('DELETE', headers.get('etag')!))).toEqual([412, 'PRECONDITION_FAILED'])
  expect((await change('DELETE', await tag())).status).toBe(204)
})

test('a member group is changed and deleted with the tag of the state that the client has seen', async () => {
  const create = (group: string) => verdict.admin<MemberGroup>('POST', GROUPS, { group, ...one(PROJECT) })
  const { body: made } = await create('ops')
  expect(refusal(await create('ops'))).toEqual([409, 'DUPLICATE_ENTITY'])
  await create('devs')
  const path = `${GROUPS}/${made.id}`
  const tag = async () => (await verdict.send('GET', path, { key: ADMIN_KEY })).headers.get('etag')!
  const change = (method: string, ifMatch: string, body?: object) =>
    verdict.send<MemberGroup>(method, path, { key: ADMIN_KEY, body, headers: { 'if-match': ifMatch } })
  const first = await tag()
  const wanted = { group: 'operators', ...one(ORGANIZATION, 'write') }
  expect(refusal(await change('PUT', '"other"', wanted))).toEqual([412, 'PRECONDITION_FAILED'])
  const { status, headers, body } = await change('PUT', first, wanted)
  expect([status, headers.get('etag')]).toEqual([200, await tag()])
  expect(body).toMatchObject({ id: made.id, group: 'operators', permissions: [{ object_type: 'org' }] })
  expect(refusal(await change('DELETE', first))).toEqual([412, 'PRECONDITION_FAILED'])
  expect(refusal(await change('PUT', '*', { ...wanted, group: 'devs' }))).toEqual([409, 'DUPLICATE_ENTITY'])
  const listed = async (query = '') =>
    (await verdict.admin<MemberGroup[]>('GET', `${GROUPS}?${query}`)).body.map(({ group }) => group)
  expect([await listed(), await listed('search=OPER')]).toEqual([['operators', 'devs'], ['operators']])
  expect((await change('DELETE', headers.get('etag')!)).status).toBe(204)
  expect(refusal(await verdict.admin('GET', path))).toEqual([404, 'NOT_FOUND'])
})

test('grants follow an environment that an import replaces, and end with their environment and project', async () => {
  await verdict.admin('POST', '/v2/projects', { key: 'gone', name: 'Gone' })
  const [project, dev, production] = [
    { object_type: 'project', project_id: 'gone' },
    { object_type: 'env', project_id: 'gone', environment_id: 'dev' },
    { object_type: 'env', project_id: 'gone', environment_id: 'production' },
  ].map(object => ({ ...object, access_level: 'read' }))
  const permissions = [project, dev, production]
  const { id } = (await post({ subject: 'moved', permissions })).body
  const { body: group } = await verdict.admin<MemberGroup>('POST', GROUPS, { group: 'moved', permissions })
  const guest = (await post({ email: 'moved@example.com', permissions: [dev] })).body
  const limited = [{ ...dev!, tenants: ['default'] }]
  const delegate = (await post({ subject: 'moved-delegate', permissions: limited })).body
  const invited = (await post({ email: 'moved-delegate@example.com', permissions: limited })).body
  const text = content({ kind: 'tenant', key: 'default', name: 'D' })
  const imported = await verdict.send<{ environment_id: string }>(
    'POST',
    '/v2/projects/gone/envs/dev/import',
    {
      key: ADMIN_KEY,
      text,
    },
  )
  expect(imported.status).toBe(200)
  const { environment_id: newId } = imported.body
  // The tenants of the import are other ones, so nothing is left of delegated grants.
  for (const each of [delegate, invited]) expect(refusal(await read(each.id))).toEqual([404, 'NOT_FOUND'])
  const exported = await verdict.send<string>('GET', '/v2/projects/gone/envs/dev/export', { key: ADMIN_KEY })
  expect(exported.body).not.toContain('moved')
  const keysOf = (grants: MemberGroup['permissions']) =>
    grants.map(grant => `${grant.project_key}/${grant.environment_key}`)
  const shown = async () => {
    const { grants } = (await read(id)).body
    expect((await verdict.admin<MemberGroup>('GET', `${GROUPS}/${group.id}`)).body.permissions).toEqual(
      grants,
    )
    return grants
  }
  const moved = await shown()
  expect(keysOf(moved)).toEqual(['gone/null', 'gone/dev', 'gone/production'])
  expect(moved[1]!.environment_id).toBe(newId)
  await verdict.admin('DELETE', '/v2/projects/gone/envs/dev')
  expect(keysOf(await shown())).toEqual(['gone/null', 'gone/production'])
  expect(refusal(await read(guest.id))).toEqual([404, 'NOT_FOUND'])
  await verdict.admin('DELETE', '/v2/projects/gone')
  for (const path of [`${MEMBERS}/${id}`, `${GROUPS}/${group.id}`]) {
    expect(refusal(await verdict.admin('GET', path)), path).toEqual([404, 'NOT_FOUND'])
  }
})

// administration.md X3
test('an import cannot bring members, groups, keys or sessions, and an export contains none', async () => {
  await verdict.admin('POST', '/v2/projects/default/envs', { key: 'carried', name: 'Carried' })
  const place = { project_id: 'default', environment_id: 'carried' }
  const admitted = one({ object_type: 'env', ...place }, 'admin')
  const { secret: key } = await verdict.createKey(place)
  await post({ email: 'carried@example.com', ...admitted })
  await verdict.admin('POST', GROUPS, { group: 'carried', ...admitted })
  const exported = await contentOf(verdict, '/v2/projects/default/envs/carried/export', key)
  const kinds = exported
    .trim()
    .split('\n')
    .map(line => (JSON.parse(line) as { kind: string }).kind)
  expect(new Set(kinds)).toEqual(new Set(['environment', 'tenant', 'end']))
  for (const kind of ['member', 'member-group', 'member_group', 'api-key', 'api_key', 'session', 'audit']) {
    const text = content({ kind: 'tenant', key: 'default', name: 'D' }, { kind, key: 'eve', grants: [] })
    const answer = await importInto(verdict, 'carried', text, key, 400, '?replace=true')
    expect(JSON.stringify(answer.body)).toContain(`line 3`)
  }
  const { body } = await verdict.admin<Member[]>('GET', `${MEMBERS}?search=eve`)
  expect(body).toEqual([])
})
