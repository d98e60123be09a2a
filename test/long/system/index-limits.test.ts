/**
 * Limits of a schema with their real values and the real index. Every operation accepts a schema up to the
 * limit and rejects a larger one before the commit. A process that is killed at the limit starts again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PARTS_PER_RESOURCE_MAX, RELATIONS_MAX, TENANT_ROLES_MAX } from '#model/limits.ts'
import { content } from '../../support/content.ts'
import { ADMIN_KEY, API_KEY, type Client } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { sharedDirectory } from '../../support/processes/temporary-directories.ts'
import { clientOf, PROCESS_SETTINGS } from '../../support/processes/started-process.ts'

const ENVIRONMENTS = '/v2/projects/default/envs'
const OF_DEFAULT = 'default/default'

const cwd = sharedDirectory()
let service: ServiceProcess
let client: Client

async function start(): Promise<void> {
  service = new ServiceProcess({ cwd, env: PROCESS_SETTINGS })
  client = await clientOf(service)
}

async function killAndStart(): Promise<void> {
  await service.end('SIGKILL')
  await start()
}

beforeAll(start)
afterAll(() => service.end('SIGKILL'))

type Answer = { readonly allow?: boolean; readonly message?: string } | undefined

function send(method: string, path: string, body?: unknown, key = ADMIN_KEY) {
  return client.send<Answer>(method, path, { key, ...(typeof body === 'string' ? { text: body } : { body }) })
}

async function accepted(method: string, path: string, body?: unknown): Promise<void> {
  const { status, body: answered } = await send(method, path, body)
  expect(status < 300 ? null : answered, `${method} ${path}: ${status}`).toBe(null)
}

async function refused(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await send(method, path, body)
  expect([answer.status, answer.body], `${method} ${path}`).toEqual([
    400,
    expect.objectContaining({ message: expect.stringContaining('which is the maximum') }),
  ])
}

async function allows(user: string, action: string, key = 'd', type = 'doc'): Promise<boolean | undefined> {
  const question = { user: { key: user }, action, resource: { type, key, tenant: 'default' } }
  const answer = await send('POST', '/allowed', question, API_KEY)
  expect(answer.status).toBe(200)
  return answer.body?.allow
}

function numbered<Part>(count: number, make: (n: number) => Part): Part[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

function keyed<Part>(count: number, prefix: string, part: Part): Record<string, Part> {
  return Object.fromEntries(numbered(count, n => [`${prefix}${n}`, part]))
}

function tenantRole(key: string) {
  return { key, name: 'X', permissions: ['doc:read'] }
}

function putRoles(environment: string, roles: readonly object[]): [string, string, unknown] {
  return ['PUT', `/v2/schema/${environment}/bulk/roles`, { operations: roles }]
}

test('all roles of a resource at the limit can be replaced repeatedly', async () => {
  const path = `/v2/schema/${OF_DEFAULT}/resources/busy`
  for (const key of ['alice', 'bob']) await accepted('POST', `/v2/facts/${OF_DEFAULT}/users`, { key })
  const instance = { key: 'i', resource: 'busy', tenant: 'default' }
  // In total, these are more roles than an index can contain at the same time.
  for (let round = 0; round < 3; round++) {
    const roles = keyed(PARTS_PER_RESOURCE_MAX, `r${round}-`, { name: 'X', permissions: ['open'] })
    await accepted('PUT', path, { name: 'Busy', actions: { open: {} }, roles })
    if (round === 0) await accepted('POST', `/v2/facts/${OF_DEFAULT}/resource_instances`, instance)
    expect(await allows('alice', 'open', 'i', 'busy')).toBe(false)
    const role = `r${round}-${PARTS_PER_RESOURCE_MAX - 1}`
    const held = { user: 'alice', role, tenant: 'default', resource_instance: 'busy:i' }
    await accepted('POST', `/v2/facts/${OF_DEFAULT}/role_assignments`, held)
    expect(await allows('alice', 'open', 'i', 'busy')).toBe(true)
  }
  await refused('POST', `${path}/roles`, { key: 'beyond', name: 'X' })
  await killAndStart()
  expect(await allows('alice', 'open', 'i', 'busy')).toBe(true)
  expect(await allows('bob', 'open', 'i', 'busy')).toBe(false)
  await accepted('DELETE', path)
})

test('the limit of tenant roles applies to single requests, bulks, copies and imports', async () => {
  const doc = { key: 'doc', name: 'Doc', actions: { read: {} } }
  await accepted('POST', `/v2/schema/${OF_DEFAULT}/resources`, doc)
  await accepted(
    ...putRoles(
      OF_DEFAULT,
      numbered(TENANT_ROLES_MAX - 1, n => tenantRole(`r${n}`)),
    ),
  )
  const last = TENANT_ROLES_MAX - 1
  await accepted('POST', `/v2/schema/${OF_DEFAULT}/roles`, tenantRole(`r${last}`))
  await refused('POST', `/v2/schema/${OF_DEFAULT}/roles`, tenantRole('beyond'))
  await refused(...putRoles(OF_DEFAULT, [tenantRole('r1'), tenantRole('beyond')]))
  await accepted(...putRoles(OF_DEFAULT, [tenantRole('r1')]))

  const held = { user: 'alice', role: `r${last}`, tenant: 'default' }
  await accepted('POST', `/v2/facts/${OF_DEFAULT}/role_assignments`, held)
  expect([await allows('alice', 'read'), await allows('bob', 'read')]).toEqual([true, false])

  const copyTo = (target: object): [string, string, unknown] => [
    'POST',
    `${ENVIRONMENTS}/default/copy`,
    { target_env: target },
  ]
  await accepted(...copyTo({ new: { key: 'copied', name: 'Copied' } }))
  await refused('POST', '/v2/schema/default/copied/roles', tenantRole('beyond'))
  await accepted('POST', ENVIRONMENTS, { key: 'full', name: 'Full' })
  await accepted('POST', '/v2/schema/default/full/roles', { key: 'own', name: 'Own' })
  // The target already has a role, so the copy would exceed the limit.
  await refused(...copyTo({ existing: 'full' }))

  const file = (count: number): string =>
    content(
      { kind: 'resource', ...doc },
      ...numbered(count, n => ({ kind: 'role', ...tenantRole(`i${n}`) })),
      { kind: 'tenant', key: 'default', name: 'Default' },
    )
  const imports = `${ENVIRONMENTS}/full/import?replace=true`
  await refused('POST', imports, file(TENANT_ROLES_MAX + 1))
  expect((await send('GET', '/v2/schema/default/full/roles/own')).status).toBe(200)
  await accepted('POST', imports, file(TENANT_ROLES_MAX))
  await refused('POST', '/v2/schema/default/full/roles', tenantRole('beyond'))

  await killAndStart()
  expect([await allows('alice', 'read'), await allows('bob', 'read')]).toEqual([true, false])
  for (const environment of [OF_DEFAULT, 'default/copied', 'default/full']) {
    await refused('POST', `/v2/schema/${environment}/roles`, tenantRole('beyond'))
  }
  // An action that all roles use can still be deleted.
  await accepted('DELETE', `/v2/schema/${OF_DEFAULT}/resources/doc/actions/read`)
  expect(await allows('alice', 'read')).toBe(false)
})

test('the limit of relations of all resources applies to imports and single requests', async () => {
  const file = (resources: number): string => {
    const one = (n: number) => {
      const relations = keyed(PARTS_PER_RESOURCE_MAX, 'l', `t${n}`)
      return { kind: 'resource', key: `t${n}`, name: 'X', actions: { read: {} }, relations }
    }
    return content(...numbered(resources, one), { kind: 'tenant', key: 'default', name: 'Default' })
  }
  const full = RELATIONS_MAX / PARTS_PER_RESOURCE_MAX
  await accepted('POST', ENVIRONMENTS, { key: 'wide', name: 'Wide' })
  const imports = `${ENVIRONMENTS}/wide/import?replace=true`
  await refused('POST', imports, file(full + 1))
  await accepted('POST', imports, file(full))
  const all = '/v2/schema/default/wide/resources'
  const beyond = { key: 'beyond', name: 'X', actions: {}, relations: { l: 'beyond' } }
  await refused('POST', all, beyond)
  await killAndStart()
  await refused('POST', all, beyond)
  await accepted('DELETE', `${all}/t0`)
  await accepted('POST', all, beyond)
})
