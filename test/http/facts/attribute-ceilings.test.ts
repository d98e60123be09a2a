/**
 * What callers keep in a form of their own (attributes, settings) has a ceiling in bytes of JSON, whichever way it comes: it
 * bounds rows, pages, exports and memory. What an older release stored above it can still be read, changed and deleted.
 */
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/read-config.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import {
  ADMIN_KEY,
  type Answer,
  FACTS,
  neighbourOf,
  type Problem,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { content, importInto, type Line } from '../../support/content.ts'

const BYTES_MAX = 2_048

/** Attributes of exactly so many bytes of JSON. Escaped quotes and letters of two bytes count as what they are sent as. */
function attributesOf(bytes: number): { readonly text: string } {
  const start = '{"text":"\\"é'
  return { text: `"é${'x'.repeat(bytes - Buffer.byteLength(`${start}"}`))}` }
}

const fitting = attributesOf(BYTES_MAX)
const tooLarge = attributesOf(BYTES_MAX + 1)

const verdict = await sharedService({ attributesBytesMax: BYTES_MAX })
await verdict.post(RESOURCES, {
  key: 'document',
  name: 'Document',
  actions: { read: {} },
  roles: { viewer: { name: 'Viewer' } },
})
await verdict.post(`${RESOURCES}/document/action_groups`, { key: 'all', name: 'All' })
await verdict.tenant('acme')
await verdict.user('alice')
await verdict.instance('document:1', 'acme')
await verdict.post(`${SCHEMA}/roles`, { key: 'admin', name: 'Admin' })
let made = 0
/** A key that nothing has yet. */
const fresh = (): string => `thing-${(made += 1)}`

type Attributes = ReturnType<typeof attributesOf>
type Call = (attributes: Attributes) => Promise<Answer<Problem>>

const send = (method: string, path: string, body: unknown): Promise<Answer<Problem>> =>
  verdict.send(method, path, {
    key: path.startsWith('/v2/projects') ? ADMIN_KEY : undefined,
    body,
  } as never) as Promise<Answer<Problem>>

const parts = (attributes: Attributes) => ({ name: 'Thing', actions: { read: { attributes } } })

const calls: Readonly<Record<string, Call>> = {
  'a new user': attributes => send('POST', `${FACTS}/users`, { key: fresh(), attributes }),
  'a user that is replaced': attributes => send('PUT', `${FACTS}/users/alice`, { key: 'alice', attributes }),
  'a user that is changed': attributes => send('PATCH', `${FACTS}/users/alice`, { attributes }),
  'users in bulk': attributes =>
    send('POST', `${FACTS}/bulk/users`, { operations: [{ key: fresh() }, { key: fresh(), attributes }] }),
  'users replaced in bulk': attributes =>
    send('PUT', `${FACTS}/bulk/users`, { operations: [{ key: 'alice', attributes }] }),
  'a user of a tenant': attributes =>
    send('POST', `${FACTS}/tenants/acme/users`, { key: fresh(), attributes }),
  'a new tenant': attributes => send('POST', `${FACTS}/tenants`, { key: fresh(), name: 'T', attributes }),
  'a tenant that is changed': attributes => send('PATCH', `${FACTS}/tenants/acme`, { attributes }),
  'tenants in bulk': attributes =>
    send('POST', `${FACTS}/bulk/tenants`, { operations: [{ key: fresh(), name: 'T', attributes }] }),
  'a new instance': attributes =>
    send('POST', `${FACTS}/resource_instances`, {
      key: fresh(),
      resource: 'document',
      tenant: 'acme',
      attributes,
    }),
  'an instance that is changed': attributes =>
    send('PATCH', `${FACTS}/resource_instances/document:1`, { attributes }),
  'instances in bulk': attributes =>
    send('PUT', `${FACTS}/bulk/resource_instances`, {
      operations: [{ key: '1', resource: 'document', tenant: 'acme', attributes }],
    }),
  'a new resource': attributes =>
    send('POST', RESOURCES, { key: fresh(), name: 'T', actions: {}, type_attributes: attributes }),
  'a resource that is replaced': attributes =>
    send('PUT', `${RESOURCES}/document`, {
      ...parts({ text: '' }),
      roles: { viewer: { name: 'Viewer' } },
      type_attributes: attributes,
    }),
  'a resource that is changed': attributes =>
    send('PATCH', `${RESOURCES}/document`, { type_attributes: attributes }),
  'an action of a new resource': attributes =>
    send('POST', RESOURCES, { key: fresh(), ...parts(attributes) }),
  'a new action': attributes =>
    send('POST', `${RESOURCES}/document/actions`, { key: fresh(), name: 'T', attributes }),
  'an action that is changed': attributes =>
    send('PATCH', `${RESOURCES}/document/actions/read`, { attributes }),
  'a new action group': attributes =>
    send('POST', `${RESOURCES}/document/action_groups`, { key: fresh(), name: 'T', attributes }),
  'a role of a new resource': attributes =>
    send('POST', RESOURCES, {
      key: fresh(),
      name: 'T',
      actions: {},
      roles: { viewer: { name: 'V', attributes } },
    }),
  'a new role of a resource': attributes =>
    send('POST', `${RESOURCES}/document/roles`, { key: fresh(), name: 'T', attributes }),
  'a role of a resource that is changed': attributes =>
    send('PATCH', `${RESOURCES}/document/roles/viewer`, { attributes }),
  'a new tenant role': attributes => send('POST', `${SCHEMA}/roles`, { key: fresh(), name: 'T', attributes }),
  'a tenant role that is changed': attributes => send('PATCH', `${SCHEMA}/roles/admin`, { attributes }),
  'roles in bulk': attributes =>
    send('PUT', `${SCHEMA}/bulk/roles`, { operations: [{ key: fresh(), name: 'T', attributes }] }),
  'a new project': settings => send('POST', '/v2/projects', { key: fresh(), name: 'P', settings }),
  'a project that is changed': settings => send('PATCH', '/v2/projects/default', { settings }),
  'a new environment': settings =>
    send('POST', '/v2/projects/default/envs', { key: fresh(), name: 'E', settings }),
  "an environment's keys of identity": jwks => send('PATCH', '/v2/projects/default/envs/default', { jwks }),
}

async function counted(): Promise<number> {
  return (await Scrape.of(verdict.address)).sum('verdict_limit_reached_total', { limit: 'attributes' })
}

test('the ceiling is 64 KiB unless the operator says otherwise', () => {
  expect(readConfig({}).attributesBytesMax).toBe(65_536)
})

describe('attributes at the ceiling are kept, and a byte more is refused with what fits', () => {
  test.each(Object.entries(calls))('%s', async (_, call) => {
    const before = await counted()
    const refused = await call(tooLarge)
    expect([refused.status, refused.body.error_code]).toEqual([400, 'INVALID_INPUT'])
    expect(refused.body.message).toContain(`${BYTES_MAX} bytes as JSON (MAX_ATTRIBUTES_BYTES)`)
    expect(await counted()).toBe(before + 1)
    const taken = await call(fitting)
    expect([taken.status, taken.body]).toEqual([expect.toBeOneOf([200, 201, 204]), taken.body])
  })

  test('a resource with all its parts, in sum', async () => {
    const key = fresh()
    const actions = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`action-${n}`, { attributes: fitting }]))
    const of16 = { key, name: 'T', actions: actions(16) }
    expect((await send('POST', RESOURCES, { ...of16, key: fresh(), actions: actions(17) })).status).toBe(400)
    expect((await send('POST', RESOURCES, of16)).status).toBe(200)
    const another = { key: 'another', name: 'A', attributes: fitting }
    const refused = await send('POST', `${RESOURCES}/${key}/actions`, another)
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining('with those of all its parts'),
    ])
    expect(
      (await send('PATCH', `${RESOURCES}/${key}/actions/action-3`, { attributes: fitting })).status,
    ).toBe(200)
  })
})

describe('an import', async () => {
  const key = await neighbourOf(verdict, 'imported')
  const sent = (status: number, ...lines: readonly Line[]) =>
    importInto(verdict, 'imported', content(...lines), key, status, '?replace=true')

  test.each<Line>([
    { kind: 'user', key: 'u' },
    { kind: 'tenant', key: 't', name: 'T' },
    { kind: 'role', key: 'r', name: 'R' },
  ])('is refused for the attributes of %j, with the line', async thing => {
    const { body } = await sent(400, thing, { ...thing, key: 'last', attributes: tooLarge })
    expect((body as Problem).message).toMatch(/^line [34]: .*MAX_ATTRIBUTES_BYTES/u)
    await sent(200, { ...thing, attributes: fitting })
  })
})

describe('what an older release stored above the ceiling', () => {
  test('is read, changed elsewhere, made smaller and deleted; it is not copied and not made larger', async () => {
    const storeUrl = `lmdb:${storeDirectory()}`
    const older = await startedService({ storeUrl, attributesBytesMax: 1_048_576 })
    const much = attributesOf(10 * BYTES_MAX)
    await older.post(`${FACTS}/users`, { key: 'alice', attributes: much })
    await older.post(RESOURCES, {
      key: 'document',
      name: 'D',
      actions: { read: { attributes: much }, edit: {} },
    })
    await older.close()
    const newer = await startedService({ storeUrl, attributesBytesMax: BYTES_MAX })
    expect((await newer.get<{ attributes: object }>(`${FACTS}/users/alice`)).body.attributes).toEqual(much)
    const call = (method: string, path: string, body?: unknown) => newer.send(method, path, { body } as never)
    expect((await call('PATCH', `${FACTS}/users/alice`, { email: 'a@b.c' })).status).toBe(200)
    expect((await call('PATCH', `${FACTS}/users/alice`, { attributes: much })).status).toBe(400)
    expect(
      (await call('POST', `${RESOURCES}/document/actions`, { key: 'more', name: 'M', attributes: fitting }))
        .status,
    ).toBe(200)
    expect((await call('DELETE', `${RESOURCES}/document/actions/edit`)).status).toBe(204)
    await neighbourOf(newer, 'other')
    const copied = await newer.send('POST', '/v2/projects/default/envs/default/copy', {
      key: ADMIN_KEY,
      body: { target_env: { existing: 'other' } },
    })
    expect(copied.status).toBe(400)
    expect((await call('PATCH', `${FACTS}/users/alice`, { attributes: fitting })).status).toBe(200)
    expect((await call('DELETE', `${FACTS}/users/alice`)).status).toBe(204)
    expect((await call('DELETE', `${RESOURCES}/document`)).status).toBe(204)
  })
})

test('a page of more than 8 MiB is refused with how many fit, and of so many there is one', async () => {
  const roomy = await startedService({ attributesBytesMax: 200_000 })
  const operations = Array.from({ length: 60 }, (_, n) => ({
    key: `user-${n}`,
    attributes: attributesOf(150_000),
  }))
  expect((await roomy.send('PUT', `${FACTS}/bulk/users`, { body: { operations } })).status).toBe(200)
  const refused = await roomy.get<Problem>(`${FACTS}/users?per_page=60`)
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('8388608 bytes') } })
  const fits = Number(/(\d+) or fewer/.exec(refused.body.message)?.[1])
  expect(fits).toBeGreaterThan(50)
  const page = await roomy.get<{ data: unknown[] }>(`${FACTS}/users?per_page=${fits}`)
  expect([page.status, page.body.data.length]).toEqual([200, fits])
})
