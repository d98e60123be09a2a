/** Effects of the grants of a member on sessions, and changes that take effect in running sessions. */
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import {
  API_KEY,
  type Envelope,
  question,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { headersOf, regrant, sendIn, signedIn, SIGN_IN } from '#testing/requests/member-sessions.ts'

const FACTS = '/v2/facts/default/default'
const verdict = await sharedService({ ...SIGN_IN, requestsPerSecondMax: null })
await verdict.createViewer('alice', 'document:d1')
await verdict.admin('POST', '/v2/projects', { key: 'other', name: 'Other', initial_environments: [] })
for (const key of ['one', 'a b/ü'])
  await verdict.admin('POST', '/v2/projects/other/envs', { key: key === 'one' ? key : 'two', name: key })
await verdict.admin('POST', '/v2/projects/default/envs', { key: 'second', name: 'Second' })

const place = (environment: string) => ({ headers: { 'x-verdict-environment': environment } })

describe('a request about one environment', () => {
  const check = question('alice', 'read', 'document:d1')
  test.each<[header: string | null, status: number, allow?: boolean]>([
    ['default/default', 200, true],
    ['default/second', 200, false],
    ['%64efault/d%65fault', 200, true],
    [null, 400],
    ['default', 400],
    ['default/default/x', 400],
    ['default/', 400],
    ['%zz/default', 400],
    ['default%2Fdefault', 400],
    ['other/one', 403],
    ['nowhere/one', 403],
  ])('in a session names it in a header: %s is %s', async (environment, status, allow) => {
    const ann = await signedIn(verdict, 'ann', [{ on: 'default', level: 'read' }])
    const options = environment === null ? {} : place(environment)
    const answer = await sendIn(verdict, ann, 'POST', '/allowed', { ...options, body: check })
    expect([answer.status, (answer.body as { allow?: boolean }).allow]).toEqual([status, allow])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('ignores the header if it comes with a key', async () => {
    const answer = await verdict.send('POST', '/allowed', { ...place('nowhere/none'), body: check })
    expect(answer).toMatchObject({ status: 200, body: { allow: true } })
  })

  test('accepts the header where the path of facts names no environment', async () => {
    const ann = await signedIn(verdict, 'ann', [{ on: 'default', level: 'read' }])
    expect(await sendIn(verdict, ann, 'GET', '/facts/users', place('default/second'))).toMatchObject({
      status: 200,
      body: { data: [] },
    })
    const local = await sendIn(verdict, ann, 'GET', '/local/role_assignments', place('default/default'))
    expect(local).toMatchObject({ status: 200, body: [{ user: 'alice' }] })
  })
})

describe('a request without a place', () => {
  test('lists the projects and environments on which the level is sufficient', async () => {
    const leo = await signedIn(verdict, 'leo', [
      { on: 'other', level: 'read' },
      { on: 'default/second', level: 'read' },
      { on: 'default/default', level: 'no_access' },
    ])
    const keysIn = async (path: string) => {
      const { body } = await sendIn<{ key: string }[]>(verdict, leo, 'GET', path)
      return body.map(({ key }) => key)
    }
    expect(await keysIn('/v2/projects')).toEqual(['other'])
    expect(await keysIn('/v1/users')).toEqual([])
    expect(await keysIn('/v1/tenants')).toEqual(['default', 'default', 'default'])
    expect(await sendIn(verdict, leo, 'GET', '/v2/nodes')).toMatchObject({ status: 200 })
    expect(await sendIn(verdict, leo, 'GET', '/v2/api-key/scope')).toMatchObject({
      status: 200,
      body: { project_id: null, environment_id: null, access_level: 'no_access' },
    })
    const refused = await sendIn(verdict, leo, 'GET', '/v2/audit-log')
    expect(refused).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('grant on the organization') },
    })
  })

  test('creates keys only in the projects in which the member is an owner', async () => {
    const max = await signedIn(verdict, 'max', [
      { on: 'other', level: 'admin' },
      { on: 'default', level: 'write' },
      { on: 'organization', level: 'read' },
    ])
    const create = (project_id: string, environment_id: string) =>
      sendIn<{ id: string }>(verdict, max, 'POST', '/v2/api-key', { body: { project_id, environment_id } })
    const made = await create('other', 'one')
    expect(made.status).toBe(200)
    expect((await create('default', 'default')).status).toBe(404)
    const wider = await sendIn(verdict, max, 'POST', '/v2/api-key', { body: { object_type: 'org' } })
    expect(wider).toMatchObject({
      status: 403,
      body: { message: 'a grant on a project can create only API keys of its environments' },
    })
    const others = await verdict.admin<Envelope<{ id: string }>>('GET', '/v2/api-key?proj_id=default')
    const foreign = others.body.data[0]!.id
    expect((await sendIn(verdict, max, 'DELETE', `/v2/api-key/${foreign}`)).status).toBe(404)
    expect((await sendIn(verdict, max, 'DELETE', `/v2/api-key/${made.body.id}`)).status).toBe(204)
  })
})

describe('a change of the grants', () => {
  test('takes effect in running sessions before its response', async () => {
    const eva = await signedIn(verdict, 'eva', [{ on: 'organization', level: 'write' }])
    const create = (key: string) => sendIn(verdict, eva, 'POST', `${FACTS}/users`, { body: { key } })
    expect((await create('e1')).status).toBe(200)
    await regrant(verdict, eva.memberId, [{ on: 'default', level: 'read' }])
    const refused = await create('e2')
    expect(refused).toMatchObject({
      status: 403,
      body: { additional_info: { required_access_level: 'write_facts', access_level: 'read' } },
    })
    expect((await sendIn(verdict, eva, 'GET', `${FACTS}/users`)).status).toBe(200)
    await regrant(verdict, eva.memberId, [])
    expect((await sendIn(verdict, eva, 'GET', `${FACTS}/users`)).status).toBe(403)
    expect((await sendIn(verdict, eva, 'GET', '/v2/session')).status).toBe(200)
  })

  test('to a group takes effect in running sessions before its response, and ends their streams', async () => {
    const permissions = [{ object_type: 'project', project_id: 'default', access_level: 'read' }]
    const content = { group: 'ops', permissions }
    const { body: group } = await verdict.admin<{ id: string }>('POST', '/v2/member_groups', content)
    const gil = await signedIn(verdict, 'gil', [], ['ops'])
    const create = (key: string) => sendIn(verdict, gil, 'POST', `${FACTS}/users`, { body: { key } })
    expect((await create('g1')).status).toBe(403)
    const path = `/v2/member_groups/${group.id}`
    const wider = permissions.map(each => ({ ...each, access_level: 'write_facts' }))
    await verdict.admin('PUT', path, { ...content, permissions: wider })
    expect((await create('g2')).status).toBe(200)
    const stream = (await fetch(`${verdict.address}${FACTS}/changes`, { headers: headersOf(gil) })).text()
    await verdict.admin('DELETE', path)
    expect((await create('g3')).status).toBe(403)
    expect(await stream).toMatch(/event: closing/)
    await verdict.admin('POST', '/v2/member_groups', content)
    expect((await sendIn(verdict, gil, 'GET', `${FACTS}/users`)).status).toBe(200)
  })

  test.each(['sign-out', 'no grants', 'a lower level', 'a grant elsewhere'])(
    'or the end of a session ends its streams: %s',
    async how => {
      const ida = await signedIn(verdict, `ida-${how}`)
      await regrant(verdict, ida.memberId, [{ on: 'default', level: 'read' }])
      const response = await fetch(`${verdict.address}${FACTS}/changes`, { headers: headersOf(ida) })
      expect(response.status).toBe(200)
      const text = response.text()
      if (how === 'sign-out') await sendIn(verdict, ida, 'DELETE', `/v2/sessions/${ida.sessionId}`)
      else if (how === 'no grants') await regrant(verdict, ida.memberId, [])
      else if (how === 'a lower level')
        await regrant(verdict, ida.memberId, [{ on: 'default', level: 'no_access' }])
      else await regrant(verdict, ida.memberId, [{ on: 'other', level: 'admin' }])
      expect(await text).toMatch(/event: closing\nretry: \d+\ndata: .*the session of this stream has ended/)
    },
  )

  test('that keeps the level keeps the streams', async () => {
    const uma = await signedIn(verdict, 'uma')
    await regrant(verdict, uma.memberId, [{ on: 'default', level: 'read' }])
    const response = await fetch(`${verdict.address}${FACTS}/changes`, { headers: headersOf(uma) })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    await regrant(verdict, uma.memberId, [{ on: 'default/default', level: 'write' }])
    await verdict.user('seen-by-uma')
    let text = ''
    while (!text.includes('seen-by-uma')) text += (await reader.read()).value ?? ''
    expect(text).not.toContain('closing')
    await reader.cancel()
  })

  test('does not reach an environment that has the key of a removed one', async () => {
    await verdict.admin('POST', '/v2/projects/other/envs', { key: 'gone', name: 'Gone' })
    const zoe = await signedIn(verdict, 'zoe', [{ on: 'other/gone', level: 'write' }])
    await regrant(verdict, zoe.memberId, [])
    const ask = () => sendIn(verdict, zoe, 'GET', '/v2/facts/other/gone/users')
    await verdict.admin('DELETE', '/v2/projects/other/envs/gone')
    await verdict.admin('POST', '/v2/projects/other/envs', { key: 'gone', name: 'Again' })
    expect((await ask()).status).toBe(403)
  })
})

test('several delegated grants permit in each tenant the roles of the grants with this tenant', async () => {
  const ids = []
  for (const key of ['t', 'u']) {
    await verdict.tenant(key)
    ids.push((await verdict.get<{ id: string }>(`${FACTS}/tenants/${key}`)).body.id)
  }
  for (const role of ['clerk', 'boss']) await verdict.tenantRole(role, [])
  const [t, u] = ids as [string, string]
  const dee = await signedIn(verdict, 'dee')
  const given = (level: 'read' | 'write_facts', tenants: string[], roles: string[]) => ({
    on: 'default/default',
    level,
    delegation: { tenants, roles },
  })
  await regrant(verdict, dee.memberId, [
    given('write_facts', [t], ['clerk']),
    given('write_facts', [u], ['boss']),
    given('read', [(await verdict.get<{ id: string }>(`${FACTS}/tenants/default`)).body.id], []),
  ])
  const assigned = async (role: string, tenant: string) => {
    const body = { user: 'alice', role, tenant }
    return (await sendIn(verdict, dee, 'POST', `${FACTS}/role_assignments`, { body })).status
  }
  const listed = async (query: string) =>
    (await sendIn(verdict, dee, 'GET', `${FACTS}/role_assignments${query}`)).status
  const bulk = async (...pairs: readonly (readonly [role: string, tenant: string])[]) => {
    const body = pairs.map(([role, tenant]) => ({ user: 'bea', role, tenant }))
    return (await sendIn(verdict, dee, 'POST', `${FACTS}/role_assignments/bulk`, { body })).status
  }
  expect(await sendIn(verdict, dee, 'GET', '/v1/users')).toMatchObject({
    status: 403,
    body: { message: 'this operation is not available to a session that is limited to tenants and roles' },
  })
  await verdict.user('bea')
  expect(await bulk(['clerk', 't'], ['clerk', 'u'])).toBe(403)
  expect(await bulk(['clerk', 't'], ['boss', 'u'])).toBe(200)
  expect([await assigned('clerk', 't'), await assigned('boss', 'u')]).toEqual([200, 200])
  for (const [role, tenant] of [
    ['boss', 't'],
    ['clerk', 'u'],
    ['clerk', 'default'],
  ] as const)
    expect([role, tenant, await assigned(role, tenant)]).toEqual([role, tenant, 403])
  expect(await Promise.all(['?tenant=t', '?tenant=u', '?tenant=default', ''].map(listed))).toEqual([
    200, 200, 200, 403,
  ])
})

describe('sessions', () => {
  test('are listed and ended by their members, and by owners of the organization', async () => {
    const [tom, tim] = [await signedIn(verdict, 'tom'), await signedIn(verdict, 'tim')]
    for (const { memberId } of [tom, tim])
      await regrant(verdict, memberId, [{ on: 'default', level: 'admin' }])
    type Listed = Envelope<{ id: string; member_id: string; is_current: boolean; user_agent: string }>
    const own = await sendIn<Listed>(verdict, tom, 'GET', '/v2/sessions')
    expect(own.body.data).toMatchObject([{ id: tom.sessionId, is_current: true, user_agent: 'Browser 1.0' }])
    expect(
      (await sendIn<Listed>(verdict, tom, 'GET', `/v2/sessions?member_id=${tim.memberId}`)).body.data,
    ).toEqual([])
    expect((await sendIn(verdict, tom, 'DELETE', `/v2/sessions/${tim.sessionId}`)).status).toBe(404)
    expect((await verdict.get('/v2/sessions')).status).toBe(403)
    expect((await verdict.delete(`/v2/sessions/${tim.sessionId}`)).status).toBe(403)

    // Only level `admin` on the organization sees and ends those of others.
    const { body: lesser } = await verdict.admin<{ secret: string }>('POST', '/v2/api-key', {
      object_type: 'org',
      access_level: 'write',
    })
    for (const [method, path] of [
      ['GET', '/v2/sessions'],
      ['DELETE', `/v2/sessions/${tim.sessionId}`],
    ] as const)
      expect((await verdict.send(method, path, { key: lesser.secret })).status).toBe(403)
    await regrant(verdict, tom.memberId, [{ on: 'organization', level: 'write' }])
    expect((await sendIn<Listed>(verdict, tom, 'GET', '/v2/sessions')).body.data).toHaveLength(1)
    expect((await sendIn(verdict, tom, 'DELETE', `/v2/sessions/${tim.sessionId}`)).status).toBe(404)

    const all = await verdict.admin<Listed>('GET', `/v2/sessions?member_id=${tim.memberId.toUpperCase()}`)
    expect(all.body.data).toMatchObject([{ id: tim.sessionId, is_current: false }])
    expect(JSON.stringify(all.body)).not.toContain(tim.secret)
    expect((await verdict.admin('DELETE', `/v2/sessions/${tim.sessionId}`)).status).toBe(204)
    expect((await sendIn(verdict, tim, 'GET', '/v2/session')).status).toBe(401)
    const root = await signedIn(verdict, 'root')
    expect((await sendIn(verdict, root, 'DELETE', `/v2/sessions/${tom.sessionId}`)).status).toBe(204)
    expect((await sendIn(verdict, tom, 'GET', '/v2/session')).status).toBe(401)
  })

  test('that belong to one member share the limits of a key', async () => {
    const limited = await startedService({ ...SIGN_IN, requestsPerSecondMax: 5, changeStreamsPerKeyMax: 1 })
    const sessions = [
      await signedIn(limited, 'ann'),
      await signedIn(limited, 'ann'),
      await signedIn(limited, 'bob'),
    ]
    for (const { memberId } of sessions)
      await regrant(limited, memberId, [{ on: 'organization', level: 'read' }])
    const [ann, again, bob] = sessions as [(typeof sessions)[0], (typeof sessions)[0], (typeof sessions)[0]]
    const stream = await fetch(`${limited.address}${FACTS}/changes`, { headers: headersOf(ann) })
    const statusOf = async (session: typeof ann, path: string) =>
      (await sendIn(limited, session, 'GET', path)).status
    expect(await sendIn(limited, again, 'GET', `${FACTS}/changes`)).toMatchObject({
      status: 429,
      body: { message: expect.stringContaining('1 change streams of this member are open') },
    })
    expect(await statusOf(bob, `${FACTS}/changes`)).toBe(200)
    await stream.body?.cancel()
    // Up to twice the limit can pass around the boundary of two seconds.
    const asked = await Promise.all(
      Array.from({ length: 40 }, (_, n) => statusOf(n % 2 === 0 ? ann : again, `${FACTS}/users`)),
    )
    expect(asked.filter(status => status === 200).length).toBeLessThanOrEqual(10)
    expect(new Set(asked)).toEqual(new Set([200, 429]))
    expect(await statusOf(bob, `${FACTS}/users`)).toBe(200)
  })

  test('do not exist without sign-in', async () => {
    const plain = await startedService({})
    for (const [method, path] of [
      ['GET', '/v2/session'],
      ['DELETE', '/v2/session'],
      ['GET', '/v2/sessions'],
      ['DELETE', '/v2/sessions/x'],
    ] as const) {
      expect((await plain.admin(method, path)).status).toBe(404)
    }
    const ann = await signedIn(verdict, 'ann')
    const answer = await plain.send('GET', `${FACTS}/users`, { key: null, headers: headersOf(ann) })
    expect(answer.status).toBe(401)
    expect([answer.headers.get('set-cookie'), answer.headers.get('cache-control')]).toEqual([null, null])
  })
})

describe('the member of a session', () => {
  test('is the actor of audit entries and change events, and is found by filters', async () => {
    const pia = await signedIn(verdict, 'pia')
    await regrant(verdict, pia.memberId, [{ on: 'organization', level: 'admin' }])
    const stream = await fetch(`${verdict.address}${FACTS}/changes`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await sendIn(verdict, pia, 'POST', `${FACTS}/users`, { body: { key: 'by-pia' } })).status).toBe(
      200,
    )
    const actor = {
      kind: 'member',
      member_id: pia.memberId,
      issuer: SIGN_IN.oidcIssuer,
      subject: 'pia',
      name: 'pia',
    }
    let text = ''
    while (!text.includes('by-pia')) text += (await reader.read()).value ?? ''
    await reader.cancel()
    const data = text.split('\n').find(line => line.startsWith('data: ') && line.includes('by-pia'))!
    expect(JSON.parse(data.slice(6))).toMatchObject({ api_key_id: null, actor })
    expect(data).not.toContain(pia.sessionId)

    const found = async (query: string) =>
      (await verdict.get<Envelope<AuditEntry>>(`/v2/audit-log/default/default?${query}`)).body.data
    const [entry, ...others] = await found(`member_id=${pia.memberId}`)
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      operation: 'createUser',
      api_key_id: null,
      actor: { ...actor, session_id: pia.sessionId },
    })
    expect(JSON.stringify(entry)).not.toContain('@example.com')
    expect((await found('actor_kind=member')).map(({ id }) => id)).toContain(entry!.id)
    for (const query of ['api_key_id=admin', 'actor_kind=none', 'actor_kind=claimed', 'actor=pia']) {
      expect((await found(`${query}&per_page=100`)).map(({ id }) => id)).not.toContain(entry!.id)
    }
  })

  test('is in the entries about the ends of sessions, without secrets', async () => {
    const kim = await signedIn(verdict, 'kim')
    const kai = await signedIn(verdict, 'kai')
    await sendIn(verdict, kim, 'DELETE', '/v2/session')
    await sendIn(verdict, kai, 'DELETE', `/v2/sessions/${kai.sessionId}`)
    const log = await verdict.admin<Envelope<AuditEntry>>('GET', '/v2/audit-log?per_page=2')
    expect(log.body.data).toMatchObject([
      {
        operation: 'deleteSession',
        actor: { member_id: kai.memberId },
        input: { session_id: kai.sessionId },
      },
      { operation: 'endSession', actor: { member_id: kim.memberId, session_id: kim.sessionId } },
    ])
    for (const { secret, token } of [kim, kai]) {
      for (const text of [secret, token]) expect(JSON.stringify(log.body)).not.toContain(text)
    }
  })
})
