/**
 * Delegates: keys, members and member groups that are limited to tenants and roles (administration.md D3 to
 * D7). The tables list requests in order. After each rejected request, the facts are unchanged.
 */
import { describe, expect, test } from 'vitest'
import { headersOf, SIGN_IN, signedIn } from '#testing/requests/member-sessions.ts'
import {
  type Answer,
  FACTS,
  grantBody,
  groupPath,
  GROUPS,
  memberPath,
  RESOURCES,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'

const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const keeper = (relation: string, guard = false) => ({
  users_with_role: [
    {
      role: 'keeper',
      on_resource: 'folder',
      linked_by_relation: relation,
      ...(guard && { when: { no_direct_roles_on_object: true } }),
    },
  ],
})
const viewer = { name: 'Viewer', permissions: ['read'] }

const HOLDERS = ['key', 'member', 'group'] as const

/** A service with the entities of the tables, and a function that sends a request of the delegate. */
async function withDelegate(holder: (typeof HOLDERS)[number]) {
  const verdict = await sharedService({ ...SIGN_IN, requestsPerSecondMax: null })
  for (const tenant of ['t', 't2', 'u']) await verdict.tenant(tenant)
  const tenantU = (await verdict.get<{ id: string }>(`${FACTS}/tenants/u`)).body.id
  await verdict.users('ann', 'bob')
  for (const role of ['clerk', 'boss']) await verdict.tenantRole(role, [])
  await verdict.resource({ key: 'folder', roles: { keeper: { name: 'Keeper' } } })
  const derived = (relation: string, granted_to: object) =>
    verdict.resource({
      key: relation === 'parent' ? 'document' : relation,
      actions: { read: {} },
      roles: { viewer, admin: { name: 'Admin', permissions: ['read'], granted_to } },
      relations: { [relation]: 'folder' },
    })
  await derived('parent', keeper('parent'))
  await verdict.relation('document', 'near', 'folder')
  // The guard is that of the whole role on pages, and that of the derivation on sheets.
  await derived('page', { ...keeper('page'), when: { no_direct_roles_on_object: true } })
  await derived('sheet', keeper('sheet', true))
  for (const name of ['folder:f', 'folder:g', 'document:d', 'document:e', 'document:h'])
    await verdict.instance(name, 't')
  for (const name of ['page:p', 'page:q', 'sheet:p', 'sheet:q']) await verdict.instance(name, 't')
  const documentX = (await verdict.instance('document:x', 'u')).id
  await verdict.instance('folder:x', 'u')
  for (const group of ['team', 'chiefs', 'clerks']) await verdict.group(group, 't')
  await verdict.group('others', 'u')
  await verdict.grant('team', 'viewer', 'document:d', 't')
  await verdict.grant('chiefs', 'admin', 'document:d', 't')
  await verdict.relate('folder:f', 'parent', 'document:d', 't')
  for (const type of ['page', 'sheet']) {
    await verdict.relate('folder:f', type, `${type}:p`, 't')
    await verdict.assign('bob', 'viewer', `${type}:p`, 't')
  }
  await verdict.assign('bob', 'boss', 't')
  await verdict.join('chiefs', 'bob', 't')
  await verdict.assign('bob', 'clerk', 'u')
  const roles = ['clerk', 'document#viewer', 'group#member', 'folder#keeper', 'page#viewer', 'sheet#viewer']
  const place = { project_id: 'default', environment_id: 'default' }
  const limits = { access_level: 'write_facts', tenants: ['t', 't2'], roles }
  const permissions = [{ object_type: 'env', ...place, ...limits }]
  let headers: Readonly<Record<string, string>>
  if (holder === 'key') {
    headers = { authorization: `Bearer ${(await verdict.createKey({ ...place, ...limits })).secret}` }
  } else if (holder === 'member') {
    const dee = await signedIn(verdict, 'dee')
    await verdict.admin('POST', '/v2/members', { id: dee.memberId, permissions })
    headers = { ...headersOf(dee), 'x-verdict-environment': 'default/default' }
  } else {
    await verdict.admin('POST', '/v2/member_groups', { group: 'clerks', permissions })
    const dee = await signedIn(verdict, 'dee', [], ['clerks'])
    headers = { ...headersOf(dee), 'x-verdict-environment': 'default/default' }
  }
  const send = <Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> =>
    verdict.send<Body>(method, path, { key: null, headers, body })
  return { verdict, tenantU, documentX, send }
}

type Delegate = Awaited<ReturnType<typeof withDelegate>>
const delegates = new Map<string, Delegate>()
for (const holder of HOLDERS) delegates.set(holder, await withDelegate(holder))

async function facts({ verdict }: Delegate) {
  const lists = [`${ASSIGNMENTS}?per_page=100`, `${TUPLES}?per_page=100`, `${FACTS}/resource_instances`]
  const bodies = [...lists, `${FACTS}/users`, RESOURCES, GROUPS].map(
    async path => (await verdict.get(path)).body,
  )
  return Promise.all(bodies)
}

const ASSIGN = ['POST', ASSIGNMENTS] as const
const REVOKE = ['DELETE', ASSIGNMENTS] as const
const RELATE = ['POST', TUPLES] as const
const UNRELATE = ['DELETE', TUPLES] as const
const role = (name: string, on: object, user = 'ann') => ({ user, role: name, ...on })
const on = (resource_instance: string, tenant?: string) => ({
  resource_instance,
  ...(tenant !== undefined && { tenant }),
})
const tuple = (subject: string, object: string, rest: object = {}) => ({
  subject,
  relation: 'parent',
  object,
  ...rest,
})

/** A tuple over which no role is derived. */
const near = (tenant: string) => tuple('folder:g', 'document:e', { relation: 'near', tenant })

type Row = readonly [name: string, method: string, path: string, body: object | undefined, status: number]

const VECTORS: readonly Row[] = [
  ['1: a role of the list', ...ASSIGN, role('clerk', { tenant: 't' }), 200],
  ['1: in another tenant', ...ASSIGN, role('clerk', { tenant: 'u' }), 403],
  ['1: another role', ...ASSIGN, role('boss', { tenant: 't' }), 403],
  ['2: on an instance', ...ASSIGN, role('viewer', on('document:d')), 200],
  ['2: on an instance of another tenant', ...ASSIGN, role('viewer', on('document:x')), 404],
  ['2: on a missing instance', ...ASSIGN, role('viewer', on('document:new', 't')), 404],
  ['3: a role from which another follows', ...ASSIGN, role('keeper', on('folder:f')), 403],
  ['3: the same role where none follows', ...ASSIGN, role('keeper', on('folder:g')), 200],
  ['4: a member of a group', 'PUT', memberPath('team', 'ann'), { tenant: 't' }, 200],
  ['4: a member of a group with another role', 'PUT', memberPath('chiefs', 'ann'), { tenant: 't' }, 403],
  [
    '5: a group whose members gain another role',
    'PUT',
    `${groupPath('chiefs')}/assign_group`,
    { group_instance_key: 'team' },
    403,
  ],
  [
    '5: a group whose members gain a role of the list',
    'PUT',
    `${groupPath('team')}/assign_group`,
    { group_instance_key: 'chiefs' },
    200,
  ],
  ['6: a tuple over which another role is derived', ...RELATE, tuple('folder:f', 'document:e'), 403],
  ['6: the removal of such a tuple', ...UNRELATE, tuple('folder:f', 'document:d'), 403],
  [
    '7: a grant that exists',
    'POST',
    `${groupPath('team')}/roles`,
    grantBody('viewer', 'document:d', 't'),
    409,
  ],
  [
    '7: a grant of another role',
    'POST',
    `${groupPath('team')}/roles`,
    grantBody('admin', 'document:d', 't'),
    403,
  ],
  [
    '7: the first grant of a role on a page',
    'POST',
    `${groupPath('team')}/roles`,
    grantBody('viewer', 'page:q', 't'),
    200,
  ],
  ['7: its removal', 'DELETE', `${groupPath('team')}/roles`, grantBody('viewer', 'page:q', 't'), 204],
  ['8: the removal of another role', ...REVOKE, role('boss', { tenant: 't' }, 'bob'), 403],
  [
    '8: the removal of a member of a group with another role',
    'DELETE',
    memberPath('chiefs', 'bob'),
    undefined,
    403,
  ],
  [
    '9: a bulk with another role',
    'POST',
    `${ASSIGNMENTS}/bulk`,
    [role('clerk', { tenant: 't2' }), role('boss', { tenant: 't' })],
    403,
  ],
  ['10: a list of the tenant', 'GET', `${ASSIGNMENTS}?tenant=t`, undefined, 200],
  ['10: a list without a tenant', 'GET', ASSIGNMENTS, undefined, 403],
  ['10: a list of another tenant', 'GET', `${ASSIGNMENTS}?tenant=u`, undefined, 403],
  ...['page', 'sheet'].flatMap((type): Row[] => [
    [`11: a direct role under a guard (${type})`, ...ASSIGN, role('viewer', on(`${type}:p`)), 403],
    [`11: its removal (${type})`, ...REVOKE, role('viewer', on(`${type}:p`), 'bob'), 403],
    [`11: without a tuple to the instance (${type})`, ...ASSIGN, role('viewer', on(`${type}:q`)), 200],
    [`11: its removal (${type})`, ...REVOKE, role('viewer', on(`${type}:q`)), 204],
  ]),
]

describe.each(HOLDERS)('a change of a delegate (%s)', holder => {
  const delegate = delegates.get(holder)!
  const { tenantU, documentX } = delegate

  test('is accepted or rejected as the vectors of D5 state', async () => {
    await follow(VECTORS)
  })

  test('never makes a member, a group, a key, or an import, nor changes the model', async () => {
    const place = { project_id: 'default', environment_id: 'default' }
    const limits = { access_level: 'write_facts', tenants: ['t'], roles: [] }
    const permissions = [{ object_type: 'env', ...place, ...limits }]
    await follow([
      ['a member', 'POST', '/v2/members', { subject: 'eve', permissions }, 403],
      ['a member group', 'POST', '/v2/member_groups', { group: 'all', permissions }, 403],
      ['a key', 'POST', '/v2/api-key', { ...place, ...limits }, 403],
      ['an import', 'POST', '/v2/projects/default/envs/default/import', {}, 403],
      ['a copy', 'POST', '/v2/projects/default/envs/default/copy', {}, 403],
      ['a role', 'POST', `${SCHEMA}/roles`, { key: 'all', name: 'All' }, 403],
      ['a derivation', 'POST', `${RESOURCES}/document/roles/viewer/implicit_grants`, {}, 403],
    ])
  })

  test('never reaches another tenant, whatever names it', async () => {
    const missing = '00000000-0000-4000-8000-000000000000'
    const bulk = (path: string, method: string, body: unknown, status: number): Row => [
      `${method} ${path}`,
      method,
      path,
      body as object,
      status,
    ]
    await follow([
      ['by the id of the tenant', ...ASSIGN, role('clerk', { tenant: tenantU }), 403],
      ['a missing tenant', ...ASSIGN, role('clerk', { tenant: 'nowhere' }), 403],
      ['by the id of the instance', ...ASSIGN, role('viewer', on(documentX)), 404],
      ['a missing id', ...ASSIGN, role('viewer', on(missing)), 404],
      ['with the tenant of the delegate', ...ASSIGN, role('viewer', on('document:x', 't')), 404],
      ['with its own tenant', ...ASSIGN, role('viewer', on('document:x', 'u')), 403],
      ['removal', ...REVOKE, role('clerk', { tenant: 'u' }, 'bob'), 403],
      ['as subject', ...RELATE, tuple('folder:x', 'document:e'), 404],
      ['as object', ...RELATE, tuple('folder:g', 'document:x'), 404],
      ['as both sides', ...RELATE, tuple('folder:x', documentX, { tenant: 't' }), 404],
      ['named next to two instances', ...RELATE, near('u'), 403],
      ['the tenant of both instances', ...RELATE, near('t'), 200],
      ['as object of a removal', ...UNRELATE, tuple('folder:x', 'document:x'), 404],
      ['missing subject', ...RELATE, tuple('folder:new', 'document:e'), 404],
      ['its group', 'PUT', memberPath('others', 'ann'), { tenant: 't' }, 404],
      ['its group, removal', 'DELETE', memberPath('others', 'ann'), undefined, 404],
      ['tenant of a membership', 'PUT', memberPath('team', 'bob'), { tenant: 'u' }, 403],
      ['the other own tenant', 'PUT', memberPath('team', 'bob'), { tenant: 't2' }, 400],
      [
        'grant on its instance',
        'POST',
        `${groupPath('team')}/roles`,
        grantBody('viewer', 'document:x', 't'),
        404,
      ],
      [
        'grant on a missing one',
        'POST',
        `${groupPath('team')}/roles`,
        grantBody('viewer', 'document:new', 't'),
        404,
      ],
      [
        'nesting of its group',
        'PUT',
        `${groupPath('team')}/assign_group`,
        { group_instance_key: 'others' },
        404,
      ],
      ['roles of a user', 'POST', `${FACTS}/users/ann/roles`, role('clerk', { tenant: 'u' }), 403],
      ['roles of a user', 'POST', `${FACTS}/users/ann/roles`, role('boss', { tenant: 't' }), 403],
      ['roles of a user', 'DELETE', `${FACTS}/users/bob/roles`, role('boss', { tenant: 't' }), 403],
      ['second path', 'POST', '/facts/role_assignments', role('boss', { tenant: 't' }), 403],
      bulk(
        `${ASSIGNMENTS}/bulk`,
        'POST',
        [role('clerk', { tenant: 't2' }), role('clerk', { tenant: 'u' })],
        403,
      ),
      bulk(
        `${ASSIGNMENTS}/bulk`,
        'POST',
        [role('clerk', { tenant: 't2' }), role('viewer', on('document:x'))],
        404,
      ),
      bulk(`${ASSIGNMENTS}/bulk?missing_user_policy=create`, 'POST', [role('clerk', { tenant: 't2' })], 403),
      bulk(`${ASSIGNMENTS}/bulk`, 'POST', [role('clerk', { tenant: 't2' }, 'new')], 404),
      bulk(
        `${ASSIGNMENTS}/bulk`,
        'DELETE',
        [role('clerk', { tenant: 't' }), role('boss', { tenant: 't' }, 'bob')],
        403,
      ),
      bulk(`${TUPLES}/bulk`, 'POST', { operations: [tuple('folder:g', 'document:new')] }, 404),
      bulk(`${TUPLES}/bulk`, 'POST', { operations: [tuple('folder:g', 'document:e')] }, 403),
      bulk(`${TUPLES}/bulk`, 'DELETE', { idents: [tuple('folder:f', 'document:d')] }, 403),
      bulk(
        `${ASSIGNMENTS}/bulk`,
        'POST',
        [role('clerk', { tenant: 't2' }, 'new'), role('clerk', { tenant: 'u' })],
        403,
      ),
      [
        'several roles',
        'POST',
        `${ASSIGNMENTS}/bulk`,
        [role('clerk', { tenant: 't2' }), role('viewer', on('document:h'))],
        200,
      ],
    ])
  })

  async function follow(rows: readonly Row[]) {
    let before = await facts(delegate)
    for (const [name, method, path, body, status] of rows) {
      const answer = await delegate.send(method, path, body)
      expect([name, answer.status, answer.body]).toEqual([name, status, answer.body])
      const after = await facts(delegate)
      if (status >= 300 || method === 'GET') expect([name, after]).toEqual([name, before])
      before = after
    }
  }
})

describe.each(HOLDERS)('a read of a delegate (%s)', holder => {
  const { verdict, tenantU, documentX, send } = delegates.get(holder)!

  test.each([
    ['t2', 200],
    ['u', 403],
    [() => tenantU, 403],
    ['nowhere', 403],
  ] as const)('list what belongs to tenant %s only if it is one of the key', async (name, status) => {
    const tenant = typeof name === 'string' ? name : name()
    for (const path of [
      `${FACTS}/tenants/${tenant}`,
      `${ASSIGNMENTS}?tenant=${tenant}`,
      `${TUPLES}?tenant=${tenant}`,
      `${FACTS}/resource_instances?tenant=${tenant}`,
      `${GROUPS}/direct?tenant=${tenant}`,
      `${GROUPS}/direct?tenant=${tenant}&user=bob`,
    ])
      expect([path, (await send('GET', path)).status]).toEqual([path, status])
  })

  test('find no things of other tenants, return the whole model, and reject lists without a tenant', async () => {
    for (const [path, status] of [
      [`${FACTS}/resource_instances/document:d`, 200],
      [`${FACTS}/resource_instances/document:x`, 404],
      [`${FACTS}/resource_instances/${documentX}`, 404],
      [`${FACTS}/resource_instances/document:new`, 404],
      ...['', '/direct', '/users', '/roles', '/children', '/parents'].flatMap(part => {
        const pathOf = (group: string) =>
          part === '/direct' ? `${GROUPS}/direct/${group}` : `${groupPath(group)}${part}`
        return [
          [pathOf('team'), 200],
          [pathOf('others'), 404],
        ] as const
      }),
      [`${RESOURCES}/document`, 200],
      [RESOURCES, 200],
      [`${RESOURCES}/document/relations/parent`, 200],
      [`${RESOURCES}/document/roles`, 200],
      [`${SCHEMA}/roles/boss`, 200],
      [TUPLES, 403],
      [`${FACTS}/resource_instances`, 403],
      [`${GROUPS}/direct`, 403],
      [`${GROUPS}/direct?user=bob`, 403],
      [`${ASSIGNMENTS}?tenant=t&tenant=u`, 403],
      [`${ASSIGNMENTS}?tenant=t&detailed=true`, 403],
      [`${ASSIGNMENTS}/detailed?tenant=t`, 403],
    ] as const)
      expect([path, (await send('GET', path)).status]).toEqual([path, status])
    const listed = await send<object[]>('GET', `${ASSIGNMENTS}?tenant=t&user=bob`)
    expect(listed.body).toMatchObject([
      { tenant: 't' },
      { tenant: 't' },
      { tenant: 't', role: 'boss' },
      { tenant: 't', role: 'member' },
    ])
    const elsewhere = await send('GET', `${TUPLES}?tenant=t&object=document:x`)
    expect(elsewhere.body).toEqual([])
  })

  test('is all that a key of level `read` can do', async () => {
    const place = { project_id: 'default', environment_id: 'default' }
    const made = await verdict.createKey({ ...place, access_level: 'read', tenants: ['t'] })
    const sendAs = (method: string, path: string, body?: object) =>
      verdict.send(method, path, { key: made.secret, body })
    expect((await sendAs('GET', `${ASSIGNMENTS}?tenant=t`)).status).toBe(200)
    const refused = await sendAs('POST', ASSIGNMENTS, role('clerk', { tenant: 't' }))
    expect(refused).toMatchObject({ status: 403, body: { additional_info: { access_level: 'read' } } })
  })
})
