/** The expiration time of a plan (filter.md P16, P60 and P61). */
import { expect, test } from 'vitest'
import {
  FACTS,
  GROUPS,
  memberPath,
  RESOURCES,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import { planned, plannedFilter, planOf } from '../../support/calls/plans.ts'

const client = await sharedService()
await client.createFolderModel()
// Reviewers of a folder review its documents, unless they have a direct role on the document.
const guarded = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }
await client.done('POST', `${RESOURCES}/document/actions`, { key: 'review', name: 'review' })
await client.done('POST', `${RESOURCES}/document/roles`, {
  key: 'reviewer',
  name: 'Reviewer',
  permissions: ['review'],
  granted_to: { users_with_role: [guarded], when: { no_direct_roles_on_object: true } },
})
await client.resource({
  key: 'box',
  actions: { read: {} },
  roles: { owner: { name: 'Owner', permissions: ['read'] } },
})
await client.tenantRole('reader', ['document:read'])
await client.tenantRole('watcher', [])
for (const key of ['f1', 'f2']) await client.instance(`folder:${key}`)
for (const key of ['d1', 'd2']) await client.instance(`document:${key}`)
await client.relate('folder:f2', 'parent', 'document:d2')
await client.conditionSet({ key: 'everyone' })

const END = '2090-05-05T05:05:05.555Z'
const EARLIER = '2089-05-05T05:05:05.555Z'
const IN_DEFAULT = { resource: { type: 'document', tenant: 'default' } }

const role = (user: string, name: string, on: object, end?: string) =>
  client.done('POST', `${FACTS}/role_assignments`, {
    user,
    role: name,
    ...on,
    ...(end && { expires_at: end }),
  })
const onInstance = (name: string) => ({ resource_instance: name, tenant: 'default' })
const inTenant = { tenant: 'default' }

async function group(
  user: string,
  ends: { readonly member?: string; readonly role?: string },
): Promise<void> {
  const name = `group-of-${user}`
  await client.group(name)
  await client.done('PUT', memberPath(name, user), {
    tenant: 'default',
    ...(ends.member && { expires_at: ends.member }),
  })
  await client.done('POST', `${GROUPS}/${name}/roles`, {
    role: 'viewer',
    resource: 'document',
    resource_instance: 'd1',
    tenant: 'default',
    ...(ends.role && { expires_at: ends.role }),
  })
}

/** Each case: the facts of a user, the action, further parts of the request, and the expected time. */
type Case = readonly [
  name: string,
  facts: (user: string) => Promise<unknown>,
  expected: string | null,
  parts?: object,
  action?: string,
]
const CASES: readonly Case[] = [
  ['a grant without an end', user => role(user, 'viewer', onInstance('document:d1')), null],
  ['a tenant role', user => role(user, 'reader', inTenant, END), END],
  ['a role on an instance', user => role(user, 'viewer', onInstance('document:d1'), END), END],
  ['a role on the subject of a tuple', user => role(user, 'viewer', onInstance('folder:f2'), END), END],
  [
    'a role on the subject of a relation column',
    user => role(user, 'viewer', onInstance('folder:f1'), END),
    END,
    { columns: { relations: ['parent'] } },
  ],
  ['a membership of a group', user => group(user, { member: END }), END],
  ['a role of a group', user => group(user, { role: END }), END],
  ['the earlier of two ends', user => group(user, { member: END, role: EARLIER }), EARLIER],
  [
    'a direct role that blocks a derivation over a tuple',
    async user => {
      await role(user, 'viewer', onInstance('folder:f2'))
      await role(user, 'viewer', onInstance('document:d2'), END)
    },
    END,
    {},
    'review',
  ],
  [
    'a direct role that blocks a derivation over a column',
    async user => {
      await role(user, 'viewer', onInstance('folder:f1'))
      await role(user, 'viewer', onInstance('document:d1'), END)
    },
    END,
    { columns: { relations: ['parent'] } },
    'review',
  ],
  ['a role that has no effect on the action', user => role(user, 'watcher', inTenant, END), null],
  ['a role on another type', user => role(user, 'owner', onInstance('box:b1'), END), null],
]

test.each(CASES.map(each => [each[0], each] as const))('a plan ends with %s', async (_, each) => {
  const [name, facts, expected, parts = {}, action = 'read'] = each
  const user = name.replaceAll(' ', '-')
  await client.user(user)
  await facts(user)
  const plan = await planned(client, planOf(user, action, 'document', { ...IN_DEFAULT, ...parts }))
  expect(plan.expires_at).toBe(expected)
})

test('a plan ends with a tuple on which a derived role depends', async () => {
  await client.user('over-tuple')
  await role('over-tuple', 'viewer', onInstance('folder:f1'))
  await client.done('POST', `${FACTS}/relationship_tuples`, {
    subject: 'folder:f1',
    relation: 'parent',
    object: 'document:d1',
    tenant: 'default',
    expires_at: END,
  })
  const body = planOf('over-tuple', 'read', 'document', IN_DEFAULT)
  expect((await planned(client, body)).expires_at).toBe(END)
})

async function rule(action: string, conditions: object): Promise<void> {
  await client.done('POST', `${RESOURCES}/document/actions`, { key: action, name: action })
  await client.done('POST', `${SCHEMA}/condition_sets`, {
    key: action,
    name: action,
    type: 'resourceset',
    resource_id: 'document',
    conditions,
  })
  await client.setRule('everyone', `document:${action}`, action)
}

test.each<[string, object, string | null | 'as_of']>([
  ['roles', { 'user.roles': { array_contains: 'watcher' } }, END],
  ['tenants', { 'user.tenants': { array_contains: 'default' } }, END],
  ['other', { 'user.key': { exists: true } }, null],
  ['before', { 'server.time': { 'less-than': '2080-01-01T00:00:00Z' } }, '2080-01-01T00:00:00.000Z'],
  ['until', { 'server.time': { 'less-than-equals': '2080-01-01T00:00:00Z' } }, '2080-01-01T00:00:00.001Z'],
  [
    'from',
    { 'server.time': { 'greater-than-equals': '2080-01-01T00:00:00.0001Z' } },
    '2080-01-01T00:00:00.001Z',
  ],
  ['after', { 'server.time': { 'greater-than': '2080-01-01T01:00:00+01:00' } }, '2080-01-01T00:00:00.001Z'],
  ['within', { 'server.time': { between: ['2020-01-01', '2080-01-01'] } }, '2080-01-01T00:00:00.001Z'],
  ['past', { 'server.time': { 'greater-than': '2020-01-01' } }, null],
  [
    'mirrored',
    { 'context.deadline': { 'greater-than': { ref: 'server.time' } } },
    '2070-01-01T00:00:00.000Z',
  ],
  ['text', { 'server.time': { match: '2*' } }, 'as_of'],
  ['equal', { 'server.time': { 'not-equals': '2080-01-01T00:00:00.000Z' } }, 'as_of'],
  ['column', { 'resource.published': { 'less-than': { ref: 'server.time' } } }, 'as_of'],
  ['year', { 'server.time': { 'less-than-equals': '9999-12-31T23:59:59.999Z' } }, '9999-12-31T23:59:59.999Z'],
])('a plan with a rule on %s ends when its result can change', async (action, conditions, expected) => {
  await rule(action, conditions)
  const user = `ruled-${action}`
  await client.user(user)
  await role(user, 'watcher', inTenant, END)
  const plan = await planned(
    client,
    planOf(user, action, 'document', {
      ...IN_DEFAULT,
      context: { deadline: '2070-01-01' },
      columns: { attributes: { published: { type: 'time' } } },
    }),
  )
  expect(plan.expires_at).toBe(expected === 'as_of' ? plan.as_of : expected)
})

test('the end of a grant affects plans and checks alike', async () => {
  await client.user('short')
  const end = new Date(Date.now() + 5_000).toISOString()
  await role('short', 'viewer', onInstance('document:d1'), end)
  const body = planOf('short', 'read', 'document', IN_DEFAULT)
  for (;;) {
    const plan = await planned(client, body)
    if (plan.kind === 'always_denied') {
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(end))
      break
    }
    expect(plan).toMatchObject({ filter: { operator: 'eq', field: 'key', value: 'd1' }, expires_at: end })
  }
  expect(await client.allows('short', 'read', 'document:d1')).toBe(false)
  expect(await plannedFilter(client, body)).toBe('denied')
})
