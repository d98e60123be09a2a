/**
 * Isolation of environments. Two environments contain the same entities with the same keys. Every route is
 * called with the key of the other environment, and with ids of that environment. New routes are included
 * automatically. For a route with a body, this file lists the references in the body.
 */
import { afterAll, describe, expect, test } from 'vitest'
import type { Route } from '#http/routing/route.ts'
import { createOneOfEach, type Ids } from '../../support/calls/one-of-each.ts'
import { REQUIRED_QUERIES, routes, UPDATE_TRIGGERS } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  type Answer,
  API_KEY,
  neighbourOf,
  question,
  sharedService,
} from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const ofEnvironments = routes.filter(({ path }) => path.includes('{env_id}'))
const inEnvironments = ofEnvironments.filter(({ path }) => /^\/v2\/(schema|facts)\//.test(path))

const verdict = await sharedService({ httpThreads: 2 })
await verdict.admin('POST', '/v2/projects', { key: 'abroad', name: 'Abroad' })
const ours = await createOneOfEach(verdict, 'default/default', API_KEY)
const neighbourKey = await neighbourOf(verdict, 'neighbour')
const neighbours = await createOneOfEach(verdict, 'default/neighbour', neighbourKey)
const emptyKey = await neighbourOf(verdict, 'empty')
const projectKey = await made('POST', '/v2/api-key', { project_id: 'abroad' })
const before = await allListed()

afterAll(async () => {
  expect(await allListed()).toEqual(before)
})

async function made(method: string, path: string, body: unknown, key = ADMIN_KEY) {
  const answer = await verdict.send<Record<string, string>>(method, path, { key, body })
  expect([path, answer.status]).toEqual([path, 200])
  return answer.body
}

/** Keys of all entities in both environments. */
const KEYS: Ids = {
  resource_id: 'doc',
  action_id: 'read',
  action_group_id: 'all',
  attribute_id: 'size',
  user_attribute_id: 'size',
  relation_id: 'parent',
  role_id: 'viewer',
  tenant_role_id: 'auditor',
  tenant_id: 'acme',
  user_id: 'alice',
  instance_id: 'doc:d1',
  group_instance_key: 'team',
  condition_set_id: 'staff',
  resource_set_id: 'docs',
  proxy_config_id: 'gateway',
}

/** The kind of entity that a parameter names: two parameter names are used for two kinds each. */
function kindOf(route: Route, parameter: string): string {
  if (parameter === 'parent_role_id') return kindOf(route, 'role_id')
  if (parameter === 'role_id' && !route.path.includes('{resource_id}')) return 'tenant_role_id'
  if (parameter === 'attribute_id' && !route.path.includes('{resource_id}')) return 'user_attribute_id'
  return parameter
}

function pathOf(route: Route, place: string, named: (parameter: string) => string): string {
  const [project, environment] = place.split('/')
  return route.path.replaceAll(/\{(\w+)\}/g, (_whole, parameter: string) => {
    if (parameter === 'proj_id') return project!
    return parameter === 'env_id' ? environment! : encodeURIComponent(named(parameter))
  })
}

function call(route: Route, path: string, key: string, body?: unknown): Promise<Answer> {
  return verdict.send(route.method, path, { key, ...(route.method !== 'GET' && { body }) })
}

/** The responses of all list routes for both environments. */
async function allListed(): Promise<unknown[]> {
  const listings = inEnvironments.filter(
    // The change stream starts at a revision that changes during the tests.
    ({ method, paramNames, operationId }) =>
      method === 'GET' && paramNames.length === 2 && operationId !== 'streamChanges',
  )
  expect(listings.length).toBeGreaterThan(10)
  const listed: unknown[] = []
  for (const [place, key] of [
    ['default/default', API_KEY],
    ['default/neighbour', neighbourKey],
  ] as const) {
    for (const route of listings) {
      const path = pathOf(route, place, () => '') + (REQUIRED_QUERIES[route.path] ?? '')
      const answer = await call(route, path, key)
      expect([route.operationId, answer.status]).toEqual([route.operationId, 200])
      listed.push([route.operationId, answer.body])
    }
  }
  return listed
}

interface Named {
  readonly name: string
  readonly route: Route
}

const named = (route: Route): Named => ({ name: `${route.method} ${route.path}`, route })

describe('the key of another environment', () => {
  test.each(ofEnvironments.map(named))(
    'is rejected with 403 at $name before other checks',
    async ({ route }) => {
      for (const place of ['default/default', 'default/nowhere', 'abroad/default', '%ff/default']) {
        const path = pathOf(route, place, parameter => KEYS[kindOf(route, parameter)] ?? 'nothing')
        expect(refusal(await call(route, path, neighbourKey))).toEqual([403, 'FORBIDDEN_ACCESS'])
        if (route.method === 'GET') continue
        const broken = await verdict.send(route.method, path, { key: neighbourKey, text: '{' })
        expect(refusal(broken)).toEqual([403, 'FORBIDDEN_ACCESS'])
      }
    },
  )

  const ofProjects = routes.filter(({ path }) => path.includes('{proj_id}'))
  test.each(ofProjects.map(named))('is rejected with 403 in another project at $name', async ({ route }) => {
    const path = pathOf(route, 'default/default', parameter => KEYS[kindOf(route, parameter)] ?? 'nothing')
    expect(refusal(await call(route, path, projectKey['secret']!))).toEqual([403, 'FORBIDDEN_ACCESS'])
  })

  test.each(routes.filter(({ path }) => path.includes('{api_key_id}')).map(named))(
    'cannot find API keys of another project: 404 at $name',
    async ({ route }) => {
      const { body } = await verdict.admin<{ id: string }>('GET', '/v2/api-key/default/neighbour')
      const path = route.path.replace('{api_key_id}', body.id)
      expect(refusal(await call(route, path, projectKey['secret']!, {}))).toEqual([404, 'NOT_FOUND'])
    },
  )
})

/** Upserts, which create an unknown entity. */
const UPSERTS = new Set(['replaceUser'])

const cases = inEnvironments.flatMap(route =>
  route.paramNames
    .filter(name => name !== 'proj_id' && name !== 'env_id' && !UPSERTS.has(route.operationId))
    .map(parameter => ({ ...named(route), parameter })),
)

describe('an id of another environment', () => {
  test.each(cases)('as $parameter is rejected with 404 at $name', async ({ route, parameter }) => {
    const kind = kindOf(route, parameter)
    expect(neighbours[kind], kind).toMatch(/^[0-9a-f-]{36}$/)
    expect(neighbours[kind]).not.toBe(ours[kind])
    const path = pathOf(route, 'default/default', each =>
      each === parameter ? neighbours[kind]! : KEYS[kindOf(route, each)]!,
    )
    const [body] = BODIES[route.operationId]?.(KEYS) ?? []
    const answer = await call(route, path, API_KEY, body)
    expect([answer.status, answer.body]).toMatchObject([404, { error_code: 'NOT_FOUND' }])
  })

  test.each(inEnvironments.filter(({ body }) => body !== null).map(named))(
    'in any position of the body is rejected with 404 at $name',
    async ({ route }) => {
      const bodiesWith = BODIES[route.operationId]
      expect(bodiesWith, `add bodies with references for ${route.operationId}`).toBeDefined()
      const path = pathOf(route, 'default/default', each => KEYS[kindOf(route, each)]!)
      for (const kind of Object.keys(KEYS)) {
        const bodies = bodiesWith!({ ...KEYS, [kind]: neighbours[kind]! })
        for (const [index, body] of bodies.entries()) {
          if (JSON.stringify(body) === JSON.stringify(bodiesWith!(KEYS)[index])) continue
          const answer = await call(route, path, API_KEY, body)
          expect([JSON.stringify(body), answer.status]).toEqual([JSON.stringify(body), 404])
          expect(answer.body).toMatchObject({ error_code: 'NOT_FOUND' })
        }
      }
    },
  )

  test('in a PUT of a user creates a new user with that key, and does not change the other environment', async () => {
    const path = `/v2/facts/default/default/users/${neighbours['user_id']}`
    const answer = await verdict.put<{ id: string }>(path, { key: neighbours['user_id'], email: 'a@b.c' })
    expect(answer.status).toBe(201)
    expect(answer.body.id).not.toBe(neighbours['user_id'])
    expect((await verdict.delete(path)).status).toBe(204)
  })
})

const entry = (name: Ids) => ({
  role: name['role_id'],
  on_resource: name['resource_id'],
  linked_by_relation: name['relation_id'],
})
/** A body without references. */
const nothing = () => [{ key: 'new', name: 'New', type: 'number', permissions: [], operations: [] }]
const instanceOf = (name: Ids) => ({
  resource: name['resource_id'],
  key: 'd9',
  tenant: name['tenant_id'],
})
const tupleOf = (name: Ids) => [
  { subject: name['instance_id'], relation: name['relation_id'], object: 'doc:d2' },
  { subject: 'doc:d8', relation: name['relation_id'], object: 'doc:d9', tenant: name['tenant_id'] },
]
const heldBy = (name: Ids) => [
  { user: name['user_id'], role: name['tenant_role_id'], tenant: name['tenant_id'] },
  { user: name['user_id'], role: name['role_id'], resource_instance: name['instance_id'] },
]
const held = (name: Ids) => heldBy(name).map(({ user: _user, ...rest }) => rest)
const granted = (name: Ids) => [
  {
    role: name['role_id'],
    resource: name['resource_id'],
    resource_instance: 'd2',
    tenant: name['tenant_id'],
  },
]
const roleOf = (name: Ids) => [
  { key: 'new', name: 'New', permissions: [name['action_id']] },
  { key: 'new', name: 'New', extends: [name['role_id']] },
  { key: 'new', name: 'New', granted_to: { users_with_role: [entry(name)] } },
]
const tenantRoleOf = (name: Ids) => [
  { key: 'new', name: 'New', permissions: [name['action_id'] === 'read' ? 'doc:read' : name['action_id']] },
  { key: 'new', name: 'New', extends: [name['tenant_role_id']] },
]
const resourceOf = (name: Ids) => [
  { key: 'new', name: 'New', actions: {}, relations: { to: name['resource_id'] } },
]
const conditionSetOf = (name: Ids) => [
  { key: 'new', name: 'New', type: 'resourceset', resource_id: name['resource_id'] },
  { key: 'new', name: 'New', parent_id: name['condition_set_id'] },
]
/** A trial accepts unknown users, so an id of another environment's user is not rejected. */
const triedSetOf = (name: Ids) => [
  { type: 'resourceset', resource_id: name['resource_id'] },
  { parent_id: name['condition_set_id'] },
  { tenant: name['tenant_id'] },
  { samples: [{ resource_instance: name['instance_id'] }] },
]
const setRuleOf = (name: Ids) => {
  const rule = { user_set: 'staff', permission: 'doc:write', resource_set: 'docs' }
  const action = name['action_id'] === 'read' ? 'doc:read' : name['action_id']
  return [
    { ...rule, user_set: name['condition_set_id'] },
    { ...rule, permission: action },
    { ...rule, resource_set: name['resource_set_id'] },
    { ...rule, user_set: name['tenant_role_id'], is_role: true },
    { ...rule, resource_set: name['resource_id'], is_resource: true },
  ]
}
const proxyConfigOf = (name: Ids) => {
  const rule = { url: 'https://a.org', http_method: 'get', resource: 'doc' }
  const config = { key: 'new', name: 'New', secret: 'x' }
  return [
    { ...config, mapping_rules: [{ ...rule, resource: name['resource_id'] }] },
    { ...config, mapping_rules: [{ ...rule, action: name['action_id'] }] },
  ]
}
const permissionsOf = (name: Ids) => [{ permissions: [name['action_id']] }]
const operations = (bodies: readonly unknown[]) => bodies.map(body => ({ operations: [body] }))
const idents = (...names: readonly (string | undefined)[]) => [{ idents: names }]
const newcomer = (name: Ids) => [
  { key: 'new', role_assignments: [{ role: name['tenant_role_id'], tenant: name['tenant_id'] }] },
  { key: 'new', role_assignments: [{ role: name['role_id'], resource_instance: name['instance_id'] }] },
]
const tenantMember = (name: Ids) => [{ tenant: name['tenant_id'] }]

/**
 * Bodies with the given names in every position of a reference. The names in `KEYS` would make a body valid,
 * but tests must not change data. Each body is sent with one id of the other environment.
 */
const BODIES: Readonly<Record<string, (name: Ids) => unknown[]>> = {
  createResource: resourceOf,
  replaceResource: resourceOf,
  updateResource: name => resourceOf(name).map(({ relations }) => ({ relations })),
  createAction: nothing,
  updateAction: nothing,
  createActionGroup: nothing,
  updateActionGroup: nothing,
  createAttribute: nothing,
  updateAttribute: nothing,
  createUserAttribute: nothing,
  updateUserAttribute: nothing,
  createRelation: name => [{ key: 'new', name: 'New', subject_resource: name['resource_id'] }],
  createResourceRole: roleOf,
  updateResourceRole: roleOf,
  addResourceRolePermissions: permissionsOf,
  removeResourceRolePermissions: nothing,
  addImplicitGrant: name => [entry(name)],
  removeImplicitGrant: name => [entry(name)],
  setImplicitGrantConditions: () => [{ no_direct_roles_on_object: false }],
  createTenantRole: tenantRoleOf,
  updateTenantRole: tenantRoleOf,
  addTenantRolePermissions: name => tenantRoleOf(name).slice(0, 1),
  removeTenantRolePermissions: nothing,
  putRolesInBulk: name => [
    ...operations(roleOf(name).map(role => ({ ...role, resource: name['resource_id'] }))),
    ...operations(tenantRoleOf(name)),
  ],
  createConditionSet: conditionSetOf,
  updateConditionSet: name => [{ parent_id: name['condition_set_id'] }],
  tryConditionSet: triedSetOf,
  createSetRule: setRuleOf,
  createSetRules: name => operations(setRuleOf(name)),
  deleteSetRules: name => setRuleOf(name).map(rule => ({ idents: [rule] })),
  deleteSetRule: setRuleOf,
  createProxyConfig: proxyConfigOf,
  updateProxyConfig: proxyConfigOf,
  createTenant: nothing,
  updateTenant: nothing,
  createTenantUser: newcomer,
  createTenants: nothing,
  deleteTenants: name => idents(name['tenant_id']),
  createUser: newcomer,
  replaceUser: name => newcomer(name).map(body => ({ ...body, key: 'alice' })),
  updateUser: nothing,
  assignUserRole: held,
  unassignUserRole: held,
  createUsers: name => operations(newcomer(name)),
  replaceUsers: name => operations(newcomer(name)),
  deleteUsers: name => idents(name['user_id']),
  createRoleAssignment: heldBy,
  deleteRoleAssignment: heldBy,
  assignRoles: name => heldBy(name).map(body => [body]),
  unassignRoles: name => heldBy(name).map(body => [body]),
  createResourceInstance: name => [instanceOf(name)],
  updateResourceInstance: nothing,
  replaceResourceInstances: name => operations([instanceOf(name)]),
  deleteResourceInstances: name => idents(name['instance_id']),
  createRelationshipTuple: tupleOf,
  deleteRelationshipTuple: name => tupleOf(name).slice(0, 1),
  createRelationshipTuples: name => operations(tupleOf(name)),
  deleteRelationshipTuples: name => [{ idents: [tupleOf(name)[0]] }],
  createGroup: name => [{ group_instance_key: 'new', group_tenant: name['tenant_id'] }],
  addGroupMember: tenantMember,
  removeGroupMember: tenantMember,
  addGroupRole: granted,
  removeGroupRole: granted,
  assignGroup: name => [{ group_instance_key: name['group_instance_key'] }],
  unassignGroup: name => [{ group_instance_key: name['group_instance_key'] }],
}

describe('a decision', () => {
  const subject = { type: 'user', id: 'alice' }
  const resource = { type: 'doc', id: 'd1' }
  const [action, anyDoc] = [{ name: 'read' }, { type: 'doc' }]
  const bodies: Readonly<Record<string, unknown>> = {
    isAllowed: question('alice', 'read', 'doc:d1'),
    explainAllowed: question('alice', 'read', 'doc:d1'),
    isAllowedBulk: [question('alice', 'read', 'doc:d1')],
    getUserPermissions: { user: { key: 'alice' } },
    getAuthorizedUsers: { action: 'read', resource: { type: 'doc', key: 'd1', tenant: 'acme' } },
    getAllowedTenants: question('alice', 'read', 'doc'),
    planAccess: question('alice', 'read', 'doc'),
    getUserTenants: { user: { key: 'alice' } },
    listLocalRoleAssignments: undefined,
    accessEvaluation: { subject, action, resource },
    accessEvaluations: { subject, action, resource, evaluations: [{}] },
    searchSubjects: { subject: { type: 'user' }, action, resource },
    searchResources: { subject, action, resource: anyDoc },
    searchActions: { subject, resource },
  }

  // Other files test gateways (nginx.test.ts, kong.test.ts, allowed-url.test.ts) and update triggers
  // (container-aliases.test.ts).
  const others = ['/nginx_allowed', '/kong', '/allowed_url', ...UPDATE_TRIGGERS]
  const deciding = routes.filter(({ access, path }) => access === 'environment' && !others.includes(path))

  test.each(deciding.map(named))('at $name uses only the environment of the key', async ({ route }) => {
    const body = bodies[route.operationId]
    expect(Object.keys(bodies), `add a body for ${route.operationId}`).toContain(route.operationId)
    const [here, there, elsewhere] = await Promise.all(
      [API_KEY, neighbourKey, emptyKey].map(key => call(route, route.path, key, body)),
    )
    expect([here!.status, there!.status, elsewhere!.status]).toEqual([200, 200, 200])
    expect(withoutState(there!.body)).toEqual(withoutState(here!.body))
    // The third environment is empty.
    expect(withoutState(elsewhere!.body)).not.toEqual(withoutState(here!.body))
    expect(JSON.stringify(withoutRequest(elsewhere!.body))).not.toContain('alice')
    for (const key of [ADMIN_KEY, projectKey['secret']!]) {
      expect((await call(route, route.path, key, body)).status).toBe(403)
    }
  })

  test('changes only in the environment of the change', async () => {
    const facts = '/v2/facts/default/neighbour/role_assignments'
    const fact = { user: 'alice', role: 'owner', resource_instance: 'doc:d2' }
    const ask = async (key: string) => {
      const options = { key, body: { user: { key: 'alice' } } }
      type Permissions = Record<string, { roles: string[] }>
      const { body } = await verdict.send<Permissions>('POST', '/user-permissions', options)
      return body['doc:d2']?.roles
    }
    await made('POST', facts, fact, neighbourKey)
    expect([await ask(API_KEY), await ask(neighbourKey)]).toEqual([undefined, ['owner']])
    expect((await verdict.send('DELETE', facts, { key: neighbourKey, body: fact })).status).toBe(204)
    expect(await ask(neighbourKey)).toBe(undefined)
  })
})

/** Removes the time and the revision of a plan. */
function withoutState(body: unknown): unknown {
  if (Array.isArray(body)) return body
  const { as_of: _asOf, revision: _revision, ...rest } = body as Readonly<Record<string, unknown>>
  return rest
}

/** Removes the copy of the request from an explanation. */
function withoutRequest(body: unknown): unknown {
  const { debug, ...rest } = body as { readonly debug?: Readonly<Record<string, unknown>> }
  const { request: _request, ...explanation } = debug ?? {}
  return { ...rest, ...explanation }
}

test('lists over all environments contain only the environment of an environment key', async () => {
  for (const path of ['/v1/users', '/v1/tenants']) {
    const { body } = await verdict.send<{ id: string; environment_id: string }[]>('GET', path, {
      key: neighbourKey,
    })
    expect(body.length).toBeGreaterThan(0)
    expect(new Set(body.map(each => each.environment_id)).size).toBe(1)
    expect(JSON.stringify(body)).not.toContain(ours['user_id'])
    expect(JSON.stringify(body)).not.toContain(ours['tenant_id'])
  }
})
