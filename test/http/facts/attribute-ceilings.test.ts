/**
 * Limit for free-form JSON (attributes, settings) in bytes, checked by every call that writes such JSON. The
 * limit bounds rows, pages, exports and memory. Larger values that an older release stored can still be read,
 * changed and deleted.
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
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import type { Problem } from '../../support/calls/refusals.ts'
import { content, importInto, type Line } from '../../support/content.ts'

const BYTES_MAX = 2_048

/** Attributes with this number of bytes as JSON. Includes an escaped quote and a letter of two bytes. */
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
const fresh = (): string => `key-${(made += 1)}`

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

const BULK_USERS = `${FACTS}/bulk/users`
const DOCUMENT = `${RESOURCES}/document`

const calls: readonly [what: string, method: string, path: string, body: (it: Attributes) => object][] = [
  ['a new user', 'POST', USERS!, it => ({ key: fresh(), attributes: it })],
  ['a user that is replaced', 'PUT', `${USERS}/alice`, it => ({ key: 'alice', attributes: it })],
  ['a user that is changed', 'PATCH', `${USERS}/alice`, it => ({ attributes: it })],
  ['users in bulk', 'POST', BULK_USERS, it => bulk({ key: fresh() }, { key: fresh(), attributes: it })],
  ['users replaced in bulk', 'PUT', BULK_USERS, it => bulk({ key: 'alice', attributes: it })],
  ['a user of a tenant', 'POST', `${TENANTS}/acme/users`, it => ({ key: fresh(), attributes: it })],
  ['a new tenant', 'POST', TENANTS!, it => named({ attributes: it })],
  ['a tenant that is changed', 'PATCH', `${TENANTS}/acme`, it => ({ attributes: it })],
  ['tenants in bulk', 'POST', `${FACTS}/bulk/tenants`, it => bulk(named({ attributes: it }))],
  ['a new instance', 'POST', INSTANCES!, it => ({ key: fresh(), ...document, attributes: it })],
  ['an instance that is changed', 'PATCH', `${INSTANCES}/document:1`, it => ({ attributes: it })],
  [
    'instances in bulk',
    'PUT',
    `${FACTS}/bulk/resource_instances`,
    it => bulk({ key: '1', ...document, attributes: it }),
  ],
  ['a new resource', 'POST', RESOURCES, it => named({ actions: {}, type_attributes: it })],
  [
    'a resource that is replaced',
    'PUT',
    DOCUMENT,
    it => ({ ...parts({ text: '' }), roles: viewer(), type_attributes: it }),
  ],
  ['a resource that is changed', 'PATCH', DOCUMENT, it => ({ type_attributes: it })],
  ['an action of a new resource', 'POST', RESOURCES, it => ({ key: fresh(), ...parts(it) })],
  ['a new action', 'POST', `${DOCUMENT}/actions`, it => named({ attributes: it })],
  ['an action that is changed', 'PATCH', `${DOCUMENT}/actions/read`, it => ({ attributes: it })],
  ['a new action group', 'POST', `${DOCUMENT}/action_groups`, it => named({ attributes: it })],
  [
    'a role of a new resource',
    'POST',
    RESOURCES,
    it => named({ actions: {}, roles: viewer({ attributes: it }) }),
  ],
  ['a new role of a resource', 'POST', `${DOCUMENT}/roles`, it => named({ attributes: it })],
  ['a role of a resource that is changed', 'PATCH', `${DOCUMENT}/roles/viewer`, it => ({ attributes: it })],
  ['a new tenant role', 'POST', `${SCHEMA}/roles`, it => named({ attributes: it })],
  ['a tenant role that is changed', 'PATCH', `${SCHEMA}/roles/admin`, it => ({ attributes: it })],
  ['roles in bulk', 'PUT', `${SCHEMA}/bulk/roles`, it => bulk(named({ attributes: it }))],
  ['a new project', 'POST', PROJECTS, it => named({ settings: it })],
  ['a project that is changed', 'PATCH', `${PROJECTS}/default`, it => ({ settings: it })],
  ['a new environment', 'POST', `${PROJECTS}/default/envs`, it => named({ settings: it })],
  ['the JWKS of an environment', 'PATCH', `${PROJECTS}/default/envs/default`, it => ({ jwks: it })],
]

async function counted(): Promise<number> {
  return (await Scrape.of(verdict.address)).sum('verdict_limit_reached_total', { limit: 'attributes' })
}

test('the limit is 64 KiB by default', () => {
  expect(readConfig({}).attributesBytesMax).toBe(65_536)
})

describe('attributes of an entity', () => {
  test.each(calls)(
    'at the limit are stored by a call for %s; one more byte is a 400 that states the limit',
    async (_, method, path, bodyWith) => {
      const call = (attributes: Attributes) => send(method, path, bodyWith(attributes))
      const before = await counted()
      const refused = await call(tooLarge)
      expect([refused.status, refused.body.error_code]).toEqual([400, 'INVALID_INPUT'])
      expect(refused.body.message).toContain(`${BYTES_MAX} bytes as JSON (MAX_ATTRIBUTES_BYTES)`)
      expect(await counted()).toBe(before + 1)
      const taken = await call(fitting)
      expect([taken.status, taken.body]).toEqual([expect.toBeOneOf([200, 201, 204]), taken.body])
    },
  )

  test('have a limit in total for a resource and all its parts', async () => {
    const key = fresh()
    const actions = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`action-${n}`, { attributes: fitting }]))
    const of16 = { key, name: 'T', actions: actions(16) }
    expect((await send('POST', RESOURCES, { ...of16, key: fresh(), actions: actions(17) })).status).toBe(400)
    expect((await send('POST', RESOURCES, of16)).status).toBe(200)
    const another = { key: 'another', name: 'A', attributes: fitting }
    const refused = await send('POST', `${RESOURCES}/${key}/actions`, another)
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('and its parts')])
    expect(
      (await send('PATCH', `${RESOURCES}/${key}/actions/action-3`, { attributes: fitting })).status,
    ).toBe(200)
  })
})

const importKey = await neighbourOf(verdict, 'imported')

test.each<Line>([
  { kind: 'user', key: 'u' },
  { kind: 'tenant', key: 't', name: 'T' },
  { kind: 'role', key: 'r', name: 'R' },
])('an import is rejected if the attributes of %j are too large, and names the line', async entity => {
  const importLines = (status: number, ...lines: readonly Line[]) =>
    importInto(verdict, 'imported', content(...lines), importKey, status, '?replace=true')
  const { body } = await importLines(400, entity, { ...entity, key: 'last', attributes: tooLarge })
  expect((body as Problem).message).toMatch(/^line [34]: .*MAX_ATTRIBUTES_BYTES/u)
  await importLines(200, { ...entity, attributes: fitting })
})

test('attributes above the limit from an older release can be read, reduced and deleted, but not copied or enlarged', async () => {
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
