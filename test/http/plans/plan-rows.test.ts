/**
 * Plans over HTTP for one model with all its parts: for every row of a table, the filter is true if and only
 * if `/allowed/bulk` allows (filter.md P18 to P37).
 */
import { expect, test } from 'vitest'
import { rowCheck, type TableRow } from '#filter/row-values.ts'
import { planRequest, type TableDescription, table } from '#filter/table.ts'
import type { AccessPlan } from '#filter/tree.ts'
import { verifyPlan } from '#filter/verify-plan.ts'
import { neighbourOf, question, revisionOf, sharedService } from '#testing/processes/running-service.ts'
import { content, importInto, type Line } from '../../support/content.ts'

const client = await sharedService({ poolThreads: 1 })
const key = await neighbourOf(client, 'rows')

const over = (role: string, on: string, isGuarded = false) => ({
  users_with_role: [{ role, on_resource: on, linked_by_relation: 'parent' }],
  ...(isGuarded && { when: { no_direct_roles_on_object: true } }),
})
const set = (name: string, type: 'userset' | 'resourceset', conditions: object, more: object = {}): Line => ({
  kind: 'condition_set',
  key: name,
  name,
  type,
  conditions,
  ...more,
})
const rule = (user_set: string, action: string, resource_set: string): Line => ({
  kind: 'rule',
  user_set,
  permission: `document:${action}`,
  resource_set,
})
const role = (user: string, name: string, on: object): Line => ({
  kind: 'assignment',
  user,
  role: name,
  ...on,
})
const on = (instance: string) => ({ resource_instance: instance })
const tuple = (subject: string, relation: string, object: string): Line => ({
  kind: 'tuple',
  subject,
  relation,
  object,
})

const TENANTS = ['default', 'acme', 'solo']
const FOLDERS = ['f0', 'f1', 'f2', 'f3', 'f4', 'f5']
const tenantOfFolder = (index: number) => TENANTS[index % 2]!
const DOCUMENTS = Array.from({ length: 36 }, (_, index) => ({
  key: `d${index}`,
  tenant: TENANTS[index % 3]!,
  // Folders in the tenant of the document, or none.
  parent:
    index % 3 === 2 || index % 5 === 0
      ? null
      : FOLDERS[(index % 3) + 2 * (index % 3 === 0 ? index % 2 : index % 3)]!,
  owner: ['alice', 'bob', 'erin', null][index % 4]!,
  level: [1, 3, 5, null, 7][index % 5]!,
}))

const lines: Line[] = [
  { kind: 'resource', key: 'team', name: 'Team', actions: {}, roles: { member: { name: 'Member' } } },
  {
    kind: 'resource',
    key: 'folder',
    name: 'Folder',
    actions: { read: {} },
    relations: { parent: 'folder', reviewers: 'team' },
    roles: {
      viewer: {
        name: 'Viewer',
        permissions: ['read'],
        granted_to: {
          users_with_role: [
            { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' },
            { role: 'member', on_resource: 'team', linked_by_relation: 'reviewers' },
          ],
        },
      },
      owner: { name: 'Owner', extends: ['viewer'] },
    },
  },
  {
    kind: 'resource',
    key: 'document',
    name: 'Document',
    actions: { read: {}, update: {}, review: {} },
    relations: { parent: 'folder' },
    roles: {
      viewer: { name: 'Viewer', permissions: ['read'], granted_to: over('viewer', 'folder') },
      editor: { name: 'Editor', permissions: ['update'], extends: ['viewer'] },
      reviewer: { name: 'Reviewer', permissions: ['review'], granted_to: over('viewer', 'folder', true) },
    },
  },
  { kind: 'role', key: 'reader', name: 'Reader', permissions: ['document:read'] },
  { kind: 'role', key: 'manager', name: 'Manager', permissions: [] },
  set('sales', 'userset', { 'user.department': { equals: 'sales' } }),
  set('managers', 'userset', { 'user.roles': { array_contains: 'manager' } }),
  set('everyone', 'userset', {}),
  set('open', 'resourceset', { 'resource.level': { 'less-than-equals': 3 } }, { resource: 'document' }),
  set('own', 'resourceset', { 'resource.owner': { equals: { ref: 'user.key' } } }, { resource: 'document' }),
  set(
    'hidden',
    'resourceset',
    { not: { 'resource.level': { 'greater-than': 3 } } },
    { resource: 'document' },
  ),
  set('of-rich', 'resourceset', { 'tenant.plan': { equals: 'rich' } }, { resource: 'document' }),
  set('first', 'resourceset', { 'resource.key': { in: ['d1', 'd2', 'new-1'] } }, { resource: 'document' }),
  rule('sales', 'update', 'open'),
  rule('everyone', 'review', 'own'),
  rule('managers', 'review', 'hidden'),
  rule('managers', 'update', 'of-rich'),
  rule('__autogen_manager', 'read', 'first'),
  { kind: 'tenant', key: 'default', name: 'Default' },
  { kind: 'tenant', key: 'acme', name: 'Acme', attributes: { plan: 'rich' } },
  { kind: 'tenant', key: 'solo', name: 'Solo' },
  ...['alice', 'bob', 'carol', 'erin', 'frank'].map((user): Line => ({ kind: 'user', key: user })),
  { kind: 'user', key: 'dave', attributes: { department: 'sales' } },
  { kind: 'instance', resource: 'team', key: 'reviewers', tenant: 'default' },
  ...FOLDERS.map((folder, index): Line => ({
    kind: 'instance',
    resource: 'folder',
    key: folder,
    tenant: tenantOfFolder(index),
  })),
  ...DOCUMENTS.map(({ key: document, tenant, owner, level }): Line => ({
    kind: 'instance',
    resource: 'document',
    key: document,
    tenant,
    attributes: { ...(owner !== null && { owner }), ...(level !== null && { level }) },
  })),
  role('alice', 'viewer', on('folder:f0')),
  role('alice', 'editor', on('document:d1')),
  role('alice', 'viewer', on('document:d5')),
  role('bob', 'member', on('team:reviewers')),
  role('bob', 'viewer', on('document:d6')),
  role('carol', 'reader', { tenant: 'acme' }),
  role('carol', 'manager', { tenant: 'acme' }),
  role('carol', 'manager', { tenant: 'solo' }),
  role('dave', 'owner', on('folder:f1')),
  role('erin', 'viewer', on('folder:f2')),
  role('erin', 'viewer', on('document:d8')),
  role('erin', 'editor', on('document:d2')),
  tuple('folder:f0', 'parent', 'folder:f4'),
  tuple('folder:f1', 'parent', 'folder:f3'),
  tuple('team:reviewers', 'reviewers', 'folder:f2'),
  ...DOCUMENTS.flatMap(({ key: document, parent }) =>
    parent === null ? [] : [tuple(`folder:${parent}`, 'parent', `document:${document}`)],
  ),
]
await importInto(client, 'rows', content(...lines), key, 200, '?replace=true')

/** Rows of the table of documents. Some are not stored, and some columns differ from stored attributes. */
const ROWS: readonly TableRow[] = [
  ...DOCUMENTS.map(({ owner, ...row }, index) => ({ ...row, owner: index % 7 === 0 ? 'alice' : owner })),
  ...TENANTS.map((tenant, index) => ({
    key: `new-${index}`,
    tenant,
    parent: null,
    owner: 'erin',
    level: 3 - index,
  })),
  { key: 'new-4', tenant: 'acme', parent: null, owner: null, level: null },
]

const owner = { type: 'string', column: 'owner' } as const
const level = { type: 'number', column: 'level', as: 'double' } as const
const ATTRIBUTES: readonly TableDescription['attributes'][] = [
  {},
  { owner, level },
  { level: { ...level, nulls: 'missing' } },
]
const TENANT_MODES = [
  { tenant: 'acme' },
  { tenant: 'acme', tenantsAgree: true },
  { hasColumn: true },
  { hasColumn: true, tenantsAgree: true },
  { hasColumn: true, tenant: 'default' },
  {},
] as const

async function bulk(checks: readonly object[]): Promise<boolean[]> {
  const answer = await client.send<{ allow: { allow: boolean }[] }>('POST', '/allowed/bulk', {
    key,
    body: checks,
  })
  return answer.body.allow.map(({ allow }) => allow)
}

test.each(['read', 'update', 'review'])(
  'the filter for %s selects the rows that checks allow',
  async action => {
    const met = { always: 0, conditional: 0, refused: 0 }
    for (const user of ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'nobody']) {
      for (const attributes of ATTRIBUTES) {
        for (const relations of [{}, { parent: { column: 'parent' } }]) {
          for (const mode of TENANT_MODES) {
            const {
              tenant = null,
              hasColumn = false,
              tenantsAgree = false,
            } = { ...mode } as {
              tenant?: string
              hasColumn?: boolean
              tenantsAgree?: boolean
            }
            const described = table({
              type: 'document',
              key: { column: 'key' },
              ...(hasColumn && { tenant: { column: 'tenant' } }),
              attributes: attributes!,
              relations,
              tenantsAgree,
            })
            const asked = { user, action, ...(tenant !== null && { tenant }) }
            const body = planRequest(described, asked)
            const { status, body: plan } = await client.send<AccessPlan>('POST', '/allowed/plan', {
              key,
              body,
            })
            if (status === 422) {
              met.refused += 1
              continue
            }
            expect(status, JSON.stringify(plan)).toBe(200)
            met[plan.kind === 'conditional' ? 'conditional' : 'always'] += 1
            // With both a fixed tenant and a column, the filter is false for other rows, whatever a check is.
            const rows =
              tenant === null || tenantsAgree || hasColumn
                ? ROWS.filter(row => tenant === null || row['tenant'] === tenant)
                : ROWS
            const differences = await verifyPlan(plan, described, asked, rows, bulk)
            expect({ body, plan, differences }).toEqual({ body, plan, differences: [] })
          }
        }
      }
    }
    expect(met.conditional).toBeGreaterThan(100)
    expect(met.refused).toBe(0)
  },
)

test('a plan includes a change whose response has arrived, and its revision', async () => {
  const described = table({ type: 'document', key: { column: 'key' } })
  const asked = { user: 'frank', action: 'update' }
  const body = planRequest(described, asked)
  for (const name of ['d3', 'd4', 'd9']) {
    const path = '/v2/facts/default/rows/role_assignments'
    const made = { user: 'frank', role: 'editor', resource_instance: `document:${name}` }
    const changed = await client.send('POST', path, { key, body: made })
    expect(changed.status).toBe(200)
    const headers = { 'x-min-revision': revisionOf(changed) }
    const answer = await client.send<AccessPlan>('POST', '/allowed/plan', { key, body, headers })
    expect(JSON.stringify(answer.body.filter)).toContain(`"${name}"`)
    expect(answer.body.revision).toBe(revisionOf(changed))
    const check = rowCheck(described, asked, { key: name })
    expect(
      await client.send('POST', '/allowed', {
        key,
        body: check,
        headers: { 'x-min-revision': answer.body.revision },
      }),
    ).toMatchObject({ body: { allow: true } })
  }
})

test('a plan of a client that disconnects ends, and other plans are answered', async () => {
  const described = table({ type: 'document', key: { column: 'key' } })
  const body = planRequest(described, { user: 'dave', action: 'update' })
  for (let count = 0; count < 20; count++) {
    const leaving = new AbortController()
    const left = client.send('POST', '/allowed/plan', { key, body, signal: leaving.signal })
    leaving.abort()
    await expect(left).rejects.toThrow(/abort/i)
  }
  expect((await client.send('POST', '/allowed/plan', { key, body })).status).toBe(200)
})

test('a plan of another environment sees nothing of this one', async () => {
  const { body } = await client.post<AccessPlan>('/allowed/plan', question('alice', 'read', 'document'))
  expect(body.kind).toBe('always_denied')
})
