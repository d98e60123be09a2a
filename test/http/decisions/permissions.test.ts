/** `/user-permissions` and `/authorized_users` (native.md A.4, A.5, 0.2, 0.11, D-14 and D-46). */
import { describe, expect, test } from 'vitest'
import { ask, changedAt } from '../../support/calls/access-requests.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import { type Client, FACTS, sharedService, startedService } from '#testing/processes/running-service.ts'

/** Two tenants and documents in folders; alice has roles of all kinds. */
async function fill(client: Client): Promise<void> {
  const viewer = { name: 'Viewer', permissions: ['read'] }
  await client.resource({ key: 'folder', actions: { read: {} }, roles: { viewer } })
  await client.resource({
    key: 'document',
    actions: { read: {}, comment: {}, update: {} },
    relations: { parent: 'folder' },
    roles: {
      viewer: {
        ...viewer,
        granted_to: {
          users_with_role: [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }],
        },
      },
      commenter: { name: 'Commenter', permissions: ['comment'], extends: ['viewer'] },
      editor: { name: 'Editor', permissions: ['update', 'read'] },
      guest: { name: 'Guest' },
    },
  })
  await client.post(`${FACTS}/tenants`, { key: 'acme', name: 'Acme', attributes: { plan: 'gold' } })
  await client.tenantRole('reader', ['document:read', 'folder:read'])
  await client.tenantRole('updater', ['document:update', 'document:read'])
  await client.tenantRole('empty', [])
  await client.users('alice', 'bob', 'carol', 'dave')
  await client.post(`${FACTS}/resource_instances`, {
    resource: 'document',
    key: 'd1',
    attributes: { secret: true },
  })
  await client.instance('document:a1', 'acme')
  await client.assign('alice', 'commenter', 'document:d1')
  await client.assign('alice', 'guest', 'document:d2')
  await client.assign('alice', 'editor', 'document:a1', 'acme')
  await client.assign('alice', 'viewer', 'folder:f1')
  await client.relate('folder:f1', 'parent', 'document:d1')
  await client.relate('folder:f1', 'parent', 'document:d3')
  await client.assign('alice', 'reader', 'default')
  await client.assign('alice', 'updater', 'default')
  await client.assign('alice', 'empty', 'acme')
}

const verdict = await sharedService()
await fill(verdict)

type Body = Readonly<Record<string, unknown>>

/** The members of a `/user-permissions` response, in the order of the text. */
async function permissions(
  filter: Body = {},
  user = 'alice',
  client = verdict,
): Promise<Map<string, unknown>> {
  const answer = await ask(client, '/user-permissions', { body: { user: { key: user }, ...filter } })
  expect([answer.status, answer.headers.get('content-type')], answer.text).toEqual([200, 'application/json'])
  const body = JSON.parse(answer.text)
  expect(answerFindings('getUserPermissions', 200, body)).toEqual([])
  const names = membersOf(answer.text)
  expect(new Set(names).size).toBe(names.length)
  return new Map(names.map(name => [name, Object.hasOwn(body, name) ? body[name] : undefined]))
}

async function listed(filter: Body, user?: string, client?: Client): Promise<string[]> {
  return [...(await permissions(filter, user, client)).keys()]
}

/** Member names of a JSON object, in the order of its text. `JSON.parse` would move names like `123`. */
function membersOf(text: string): string[] {
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, literal => JSON.stringify(`.${JSON.parse(literal)}`))
  return Object.keys(JSON.parse(marked)).map(name => name.slice(1))
}

const [ACME, DEFAULT] = ['__tenant:acme', '__tenant:default']
const TENANTS = [ACME, DEFAULT]
const ALL_THREE = { resources: ['d1', 'a1', 'f1'], resource_types: ['document', '__tenant'] }
const INSTANCES = ['document:a1', 'document:d1', 'document:d2', 'document:d3', 'folder:f1']

describe('/user-permissions', () => {
  test('lists tenants and instances with their roles, permissions and attributes', async () => {
    const found = await permissions()
    expect([...found.keys()]).toEqual([...TENANTS, ...INSTANCES])
    expect(Object.fromEntries(found)).toEqual({
      '__tenant:acme': {
        tenant: { key: 'acme', attributes: { plan: 'gold' } },
        permissions: [],
        roles: ['empty'],
      },
      '__tenant:default': {
        tenant: { key: 'default', attributes: {} },
        permissions: ['read:document', 'read:folder', 'update:document'],
        roles: ['reader', 'updater'],
      },
      'document:a1': {
        resource: { key: 'a1', type: 'document', attributes: {} },
        permissions: ['read:document', 'update:document'],
        roles: ['editor'],
      },
      'document:d1': {
        resource: { key: 'd1', type: 'document', attributes: { secret: true } },
        permissions: ['comment:document', 'read:document'],
        roles: ['commenter', 'viewer'],
      },
      'document:d2': {
        resource: { key: 'd2', type: 'document', attributes: {} },
        permissions: [],
        roles: ['guest'],
      },
      'document:d3': {
        resource: { key: 'd3', type: 'document', attributes: {} },
        permissions: ['read:document'],
        roles: ['viewer'],
      },
      'folder:f1': {
        resource: { key: 'f1', type: 'folder', attributes: {} },
        permissions: ['read:folder'],
        roles: ['viewer'],
      },
    })
  })

  test.each(['stranger', '__proto__', 'bob'])('is {} for %s, who has no roles', async key => {
    expect((await ask(verdict, '/user-permissions', { body: { user: { key } } })).text).toBe('{}')
  })

  test.each<[filter: Body, tenants: readonly string[], instances: readonly string[]]>([
    [{ tenants: null, resources: null, resource_types: null }, TENANTS, INSTANCES],
    [{ tenants: ['acme'] }, [ACME], ['document:a1']],
    [{ tenants: [ACME] }, [ACME], ['document:a1']],
    [{ tenants: [ACME, 'default'] }, TENANTS, INSTANCES],
    [{ tenants: ['nowhere'] }, [], []],
    [{ tenants: [] }, [], []],
    [{ resource_types: ['folder'] }, [], ['folder:f1']],
    [{ resource_types: ['folder', 'document', 'castle'] }, [], INSTANCES],
    [{ resource_types: ['__tenant'] }, TENANTS, []],
    [{ resource_types: ['__tenant', 'folder'] }, TENANTS, ['folder:f1']],
    [{ resource_types: [] }, [], []],
    [{ resources: ['document:d1', 'folder:f1'] }, [], ['document:d1', 'folder:f1']],
    [{ resources: ['d1', 'f1'] }, [], ['document:d1', 'folder:f1']],
    [{ resources: ['document:f1', 'x'] }, [], []],
    [{ resources: [ACME] }, [ACME], INSTANCES],
    [{ resources: [ACME, 'd1'] }, [ACME], ['document:d1']],
    [{ resources: ['acme'] }, [], []],
    [{ resources: [] }, [], []],
    [{ resources: ['d1', 'a1'], tenants: ['acme'] }, [ACME], ['document:a1']],
    [{ resources: [DEFAULT], tenants: ['acme'] }, [ACME], ['document:a1']],
    [{ resources: ['d1', 'f1'], resource_types: ['folder'] }, [], ['folder:f1']],
    [{ resources: [ACME], resource_types: ['folder'] }, [], ['folder:f1']],
    [{ resources: [ACME], resource_types: ['__tenant'] }, [ACME], []],
    [{ tenants: ['default'], resource_types: ['folder', 'document'] }, [], INSTANCES.slice(1)],
    [{ tenants: ['default'], resource_types: ['__tenant'] }, [DEFAULT], []],
    [{ ...ALL_THREE, tenants: ['default'] }, [DEFAULT], ['document:d1']],
    [{ tenants: ['acme'], resources: ['d1'], resource_types: ['document'] }, [], []],
  ])('with %j lists the entries that match all filters', async (filter, tenants, instances) => {
    const found = await permissions(filter)
    expect([...found.keys()]).toEqual([...tenants, ...instances])
    const complete = await permissions()
    for (const [name, entry] of found) expect(entry).toEqual(complete.get(name))
  })

  test('ignores unknown members and accepts whole user records', async () => {
    const user = { key: 'alice', id: 7, roles: [], attributes: null, email: null, first_name: 'A' }
    expect(await listed({ user, context: { a: 1 }, sdk: 7, unknown: {} })).toEqual([...TENANTS, ...INSTANCES])
  })

  test('lists permissions in the form `resource:action` if PERMISSION_FORMAT selects this form, in order', async () => {
    const other = await startedService({ permissionFormat: 'resource:action' })
    await fill(other)
    const found = await permissions({ tenants: ['default'] }, 'alice', other)
    expect(found.get('__tenant:default')).toMatchObject({
      permissions: ['document:read', 'document:update', 'folder:read'],
    })
    expect(found.get('document:d1')).toMatchObject({ permissions: ['document:comment', 'document:read'] })
  })

  test('handles keys that are special in JavaScript, and lists them in the order of their bytes', async () => {
    const keys = ['123', '7', '__proto__', 'a:b:c', 'constructor', '"quoted\\"', 'é', '\uffee', '😀']
    await verdict.resource({
      key: '007',
      actions: { read: {} },
      roles: { viewer: { name: 'V', permissions: ['read'] } },
    })
    await verdict.user('odd')
    for (const key of keys.toReversed()) await verdict.assign('odd', 'viewer', `folder:${key}`)
    await verdict.assign('odd', 'viewer', '007:1')
    const names = ['007:1', ...keys.map(key => `folder:${key}`)].toSorted((left, right) =>
      Buffer.compare(Buffer.from(left), Buffer.from(right)),
    )
    expect(await listed({}, 'odd')).toEqual(names)
    for (const key of keys) {
      expect(await listed({ resources: [key] }, 'odd')).toEqual([`folder:${key}`])
      expect(await listed({ resources: [`folder:${key}`] }, 'odd')).toEqual([`folder:${key}`])
    }
  })
})

interface Grant {
  readonly user: string
  readonly tenant: string
  readonly resource: string
  readonly role: string
}

/** Returns the assignments as `user role resource`, in the order of the response. */
async function authorized(action: string, resource: Body, client = verdict) {
  const answer = await ask(client, '/authorized_users', { body: { action, resource } })
  expect([answer.status, answer.headers.get('content-type')], answer.text).toEqual([200, 'application/json'])
  const body = JSON.parse(answer.text) as {
    readonly resource: string
    readonly tenant: string
    readonly users: Readonly<Record<string, readonly Grant[]>>
  }
  expect(answerFindings('getAuthorizedUsers', 200, body)).toEqual([])
  expect(Object.keys(body)).toEqual(['resource', 'tenant', 'users'])
  const users = membersOf(answer.text.slice(answer.text.indexOf('"users":') + '"users":'.length, -1))
  const lines = users.flatMap(key => {
    const grants = body.users[key]!
    expect(grants).not.toEqual([])
    return grants.map(({ user, tenant, resource: on, role, ...rest }) => {
      expect([user, tenant, rest]).toEqual([key, body.tenant, {}])
      return `${user} ${role} ${on}`
    })
  })
  return { resource: body.resource, tenant: body.tenant, lines }
}

describe('/authorized_users', () => {
  test('lists allowed users in order, each with instance assignments and then tenant assignments', async () => {
    const client = await startedService()
    await fill(client)
    await client.assign('bob', 'reader', 'default')
    await client.assign('dave', 'viewer', 'folder:f1')
    await client.groups('inner', 'support')
    await client.nest('inner', { into: 'support' })
    await client.join('support', 'bob')
    await client.join('inner', 'carol')
    await client.grant('support', 'viewer', 'document:d1')
    expect(await authorized('read', { type: 'document', key: 'd1' }, client)).toEqual({
      resource: 'document:d1',
      tenant: 'default',
      lines: [
        'alice commenter document:d1',
        'alice viewer folder:f1',
        'alice reader __tenant:default',
        'alice updater __tenant:default',
        'bob member group:support',
        'bob reader __tenant:default',
        'carol member group:inner',
        'dave viewer folder:f1',
      ],
    })
    await client.leave('support', 'bob')
    const { lines } = await authorized('read', { type: 'document', key: 'd1' }, client)
    expect(lines.filter(line => line.startsWith('bob'))).toEqual(['bob reader __tenant:default'])
  })

  test('without an instance key lists only tenant assignments, and names the resource type:*', async () => {
    for (const key of [undefined, null]) {
      expect(await authorized('read', { type: 'document', key })).toEqual({
        resource: 'document:*',
        tenant: 'default',
        lines: ['alice reader __tenant:default', 'alice updater __tenant:default'],
      })
    }
    const inAcme = await authorized('read', { type: 'document', tenant: 'acme' })
    expect(inAcme).toEqual({ resource: 'document:*', tenant: 'acme', lines: [] })
  })

  test('uses the tenant of the instance; without an instance, only tenant roles (native.md D-15, D-36)', async () => {
    expect(await authorized('update', { type: 'document', key: 'a1' })).toEqual({
      resource: 'document:a1',
      tenant: 'acme',
      lines: ['alice editor document:a1'],
    })
    expect(await authorized('update', { type: 'document', key: 'unknown' })).toMatchObject({
      tenant: 'default',
      lines: ['alice updater __tenant:default'],
    })
    const elsewhere = await authorized('update', { type: 'document', key: 'unknown', tenant: 'acme' })
    expect(elsewhere).toMatchObject({ tenant: 'acme', lines: [] })
    // The instance is in another tenant (native.md D-14).
    expect((await authorized('read', { type: 'document', key: 'd1', tenant: 'acme' })).lines).toEqual([])
  })
})

test.each<[path: string, good: Body, wrong: Readonly<Record<string, readonly unknown[]>>]>([
  [
    '/user-permissions',
    { user: { key: 'alice' } },
    { user: [undefined, 'alice'], 'user.key': [''], tenants: ['acme'], resources: [[1]], context: [[]] },
  ],
  [
    '/authorized_users',
    { action: 'read', resource: { type: 'document' } },
    {
      action: [undefined, ''],
      resource: [undefined, 'document:d1'],
      'resource.type': [''],
      'resource.tenant': [''],
      sdk: [7],
    },
  ],
])('%s with a wrong member is rejected with 400 and {code, message}', async (path, good, wrong) => {
  for (const [place, values] of Object.entries(wrong)) {
    for (const value of values) {
      const answer = await verdict.post<{ message: string }>(path, changedAt(good, place, value))
      expect([answer.status, answer.body]).toEqual([400, { code: 400, message: expect.any(String) }])
      expect(answer.body.message).toContain(place)
    }
  }
})

describe('the limit MAX_LISTED_ENTRIES', () => {
  const refusal = async (client: Client, path: string, body: Body) => {
    const answer = await client.post<{ code: number; message: string }>(path, body)
    expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([400, 400])
    return answer.body.message
  }

  test('is inclusive in /user-permissions; above the limit, the error names the setting and alternatives', async () => {
    const exact = await startedService({ listedEntriesMax: 7 })
    const below = await startedService({ listedEntriesMax: 6 })
    for (const client of [exact, below]) await fill(client)
    expect(await listed({}, 'alice', exact)).toEqual([...TENANTS, ...INSTANCES])
    const message = await refusal(below, '/user-permissions', { user: { key: 'alice' } })
    const parts = ['6', 'MAX_LISTED_ENTRIES', 'tenants', 'resources', 'resource_types', 'resource search']
    for (const part of parts) expect(message).toContain(part)
    // A filter that the message names reduces the list.
    expect(await listed({ resource_types: ['document', 'folder'] }, 'alice', below)).toEqual(INSTANCES)
    expect(await listed({ resource_types: ['__tenant'] }, 'alice', below)).toEqual(TENANTS)
  })

  test('is inclusive in /authorized_users; above the limit, the error names the setting and an alternative', async () => {
    const client = await startedService({ listedEntriesMax: 3 })
    await client.createDocumentModel()
    await client.users('alice', 'bob', 'carol')
    for (const key of ['alice', 'bob', 'carol']) await client.assign(key, 'viewer', 'document:d1')
    const resource = { type: 'document', key: 'd1' }
    expect((await authorized('read', resource, client)).lines).toHaveLength(3)
    await client.assign('carol', 'editor', 'document:d1')
    const message = await refusal(client, '/authorized_users', { action: 'read', resource })
    for (const part of ['3', 'MAX_LISTED_ENTRIES', 'subject search']) expect(message).toContain(part)
    expect((await authorized('update', resource, client)).lines).toEqual(['carol editor document:d1'])
  })
})
