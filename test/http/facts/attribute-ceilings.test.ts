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
  API_KEY,
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

const PROJECTS = '/v2/projects'
const send = (method: string, path: string, body: unknown): Promise<Answer<Problem>> =>
  verdict.send(method, path, { key: path.startsWith(PROJECTS) ? ADMIN_KEY : API_KEY, body })

const parts = (attributes: Attributes) => ({ name: 'Thing', actions: { read: { attributes } } })
const named = (more: object) => ({ key: fresh(), name: 'T', ...more })
const viewer = (more: object = {}) => ({ viewer: { name: 'Viewer', ...more } })
const document = { resource: 'document', tenant: 'acme' }
const bulk = (...operations: object[]) => ({ operations })
const [USERS, TENANTS, INSTANCES] = ['users', 'tenants', 'resource_instances'].map(list => `${FACTS}/${list}`)

const calls: readonly [what: string, method: string, path: string, body: (it: Attributes) => object][] = [
  ['a new user', 'POST', USERS!, attributes => ({ key: fresh(), attributes })],
  ['a user that is replaced', 'PUT', `${USERS}/alice`, attributes => ({ key: 'alice', attributes })],
  ['a user that is changed', 'PATCH', `${USERS}/alice`, attributes => ({ attributes })],
  [
    'users in bulk',
    'POST',
    `${FACTS}/bulk/users`,
    attributes => bulk({ key: fresh() }, { key: fresh(), attributes }),
  ],
  ['users replaced in bulk', 'PUT', `${FACTS}/bulk/users`, attributes => bulk({ key: 'alice', attributes })],
  ['a user of a tenant', 'POST', `${TENANTS}/acme/users`, attributes => ({ key: fresh(), attributes })],
  ['a new tenant', 'POST', TENANTS!, attributes => named({ attributes })],
  ['a tenant that is changed', 'PATCH', `${TENANTS}/acme`, attributes => ({ attributes })],
  ['tenants in bulk', 'POST', `${FACTS}/bulk/tenants`, attributes => bulk(named({ attributes }))],
  ['a new instance', 'POST', INSTANCES!, attributes => ({ key: fresh(), ...document, attributes })],
  ['an instance that is changed', 'PATCH', `${INSTANCES}/document:1`, attributes => ({ attributes })],
  [
    'instances in bulk',
    'PUT',
    `${FACTS}/bulk/resource_instances`,
    attributes => bulk({ key: '1', ...document, attributes }),
  ],
  ['a new resource', 'POST', RESOURCES, it => named({ actions: {}, type_attributes: it })],
  [
    'a resource that is replaced',
    'PUT',
    `${RESOURCES}/document`,
    it => ({ ...parts({ text: '' }), roles: viewer(), type_attributes: it }),
  ],
  ['a resource that is changed', 'PATCH', `${RESOURCES}/document`, it => ({ type_attributes: it })],
  ['an action of a new resource', 'POST', RESOURCES, it => ({ key: fresh(), ...parts(it) })],
  ['a new action', 'POST', `${RESOURCES}/document/actions`, attributes => named({ attributes })],
  [
    'an action that is changed',
    'PATCH',
    `${RESOURCES}/document/actions/read`,
    attributes => ({ attributes }),
  ],
  ['a new action group', 'POST', `${RESOURCES}/document/action_groups`, attributes => named({ attributes })],
  [
    'a role of a new resource',
    'POST',
    RESOURCES,
    it => named({ actions: {}, roles: viewer({ attributes: it }) }),
  ],
  ['a new role of a resource', 'POST', `${RESOURCES}/document/roles`, attributes => named({ attributes })],
  [
    'a role of a resource that is changed',
    'PATCH',
    `${RESOURCES}/document/roles/viewer`,
    attributes => ({ attributes }),
  ],
  ['a new tenant role', 'POST', `${SCHEMA}/roles`, attributes => named({ attributes })],
  ['a tenant role that is changed', 'PATCH', `${SCHEMA}/roles/admin`, attributes => ({ attributes })],
  ['roles in bulk', 'PUT', `${SCHEMA}/bulk/roles`, attributes => bulk(named({ attributes }))],
  ['a new project', 'POST', PROJECTS, settings => named({ settings })],
  ['a project that is changed', 'PATCH', `${PROJECTS}/default`, settings => ({ settings })],
  ['a new environment', 'POST', `${PROJECTS}/default/envs`, settings => named({ settings })],
  ["an environment's keys of identity", 'PATCH', `${PROJECTS}/default/envs/default`, jwks => ({ jwks })],
]

async function counted(): Promise<number> {
  return (await Scrape.of(verdict.address)).sum('verdict_limit_reached_total', { limit: 'attributes' })
}

test('the ceiling is 64 KiB unless the operator says otherwise', () => {
  expect(readConfig({}).attributesBytesMax).toBe(65_536)
})

describe('attributes at the ceiling are kept, and a byte more is refused with what fits', () => {
  test.each(calls)('%s', async (_, method, path, bodyWith) => {
    const call = (attributes: Attributes) => send(method, path, bodyWith(attributes))
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

test('what an older release stored above the ceiling is read, changed elsewhere, made smaller and deleted; it is not copied and not made larger', async () => {
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
  const copied = await newer.admin('POST', '/v2/projects/default/envs/default/copy', {
    target_env: { existing: 'other' },
  })
  expect(copied.status).toBe(400)
  expect((await call('PATCH', `${FACTS}/users/alice`, { attributes: fitting })).status).toBe(200)
  expect((await call('DELETE', `${FACTS}/users/alice`)).status).toBe(204)
  expect((await call('DELETE', `${RESOURCES}/document`)).status).toBe(204)
})
