/** Calls of every method of the official client, except for those that are excluded with a reason. */
import type { Permit, UsersApi } from 'permitio'
import { expect, test } from 'vitest'
import { permitAt, permitOfNewService } from '../support/calls/permit-client.ts'
import { ADMIN_KEY } from '#testing/processes/running-service.ts'

const PLUMBING = 'internal to the client: does not call a service'

/** Methods that are not called, by `object.method`, or by `object.*` for all methods of an object. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'permit.checkAllTenants':
    'broken in the client: sends its key in the body and reads a field that no server returns',
  'elements.loginAs': 'starts a session in the web interface of the commercial service',
  'api.getMethods': PLUMBING,
}

/** Internal methods that every object of the client has. */
const INHERITED = ['setContextFromApiKey', 'ensureAccessLevel', 'ensureContext', 'handleApiError', 'clone']

type Methods = Record<string, unknown>

/** Objects of a client with public methods, by name. */
function objectsOf(permit: Permit): Record<string, Methods> {
  const parts = Object.entries(permit.api).filter(
    ([name, part]) => !name.startsWith('_') && typeof part?.ensureContext === 'function',
  )
  return { permit, api: permit.api, elements: permit.elements, ...Object.fromEntries(parts) } as never
}

function methodsOf(object: Methods): string[] {
  const names = new Set<string>()
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (name !== 'constructor' && typeof object[name] === 'function') names.add(name)
    }
  }
  return [...names].filter(name => !INHERITED.includes(name))
}

/** All methods by `object.method`, and the set of methods that were called since. */
function watched(permit: Permit): { readonly all: string[]; readonly driven: Set<string> } {
  const all: string[] = []
  const driven = new Set<string>()
  for (const [owner, object] of Object.entries(objectsOf(permit))) {
    for (const method of methodsOf(object)) {
      const name = `${owner}.${method}`
      const original = object[method] as (...values: unknown[]) => unknown
      all.push(name)
      object[method] = function (this: unknown, ...values: unknown[]) {
        driven.add(name)
        return original.apply(this, values)
      }
    }
  }
  return { all, driven }
}

function isLeftOut(name: string): boolean {
  return name in LEFT_OUT || `${name.split('.')[0]}.*` in LEFT_OUT
}

test('every method of the client works against the service or is excluded with a reason', async () => {
  const { permit, service } = await permitOfNewService({ proxyFactsViaPdp: true })
  const ofOrganization = permitAt(service.address, { token: ADMIN_KEY, proxyFactsViaPdp: true })
  const { all, driven: drivenInEnvironment } = watched(permit)
  const { driven: drivenInOrganization } = watched(ofOrganization)
  expect(all.length).toBeGreaterThan(100)
  await driveSchema(permit)
  await driveConditionSets(permit)
  await driveFacts(permit)
  await driveDecisions(permit)
  await driveDeprecated(permit)
  await driveDeletions(permit)
  await driveProjects(ofOrganization)
  const driven = new Set([...drivenInEnvironment, ...drivenInOrganization])
  expect(all.filter(name => !driven.has(name) && !isLeftOut(name))).toEqual([])
  const reasons = Object.keys(LEFT_OUT)
  const stale = reasons.filter(
    reason => !all.some(name => name === reason || reason === `${name.split('.')[0]}.*`),
  )
  expect(stale, 'excluded, but not a method of the client').toEqual([])
  expect([...driven].filter(isLeftOut), 'excluded, but called').toEqual([])
})

async function expectRead<Thing, Path extends string[]>(
  api: Readonly<Record<'get' | 'getByKey' | 'getById', (...path: Path) => Promise<Thing>>>,
  keys: Path,
  ids: Path,
  thing: Thing,
): Promise<void> {
  const read = [await api.get(...keys), await api.getByKey(...keys), await api.getById(...ids)]
  expect(read).toEqual([thing, thing, thing])
}

async function driveSchema({ api }: Permit): Promise<void> {
  const created = await api.resources.create({ key: 'folder', name: 'Folder', actions: { read: {} } })
  await api.resources.replace('file', { name: 'File', actions: { read: {}, write: {} } })
  const file = await api.resources.update('file', { description: 'With lines' })
  expect(file.description).toBe('With lines')
  expect((await api.resources.get('folder')).id).toBe(created.id)
  expect((await api.resources.getByKey('folder')).id).toBe(created.id)
  expect((await api.resources.getById(created.id)).key).toBe('folder')
  expect((await api.resources.list({ page: 2, perPage: 1 })).map(({ key }) => key)).toEqual(['file'])

  await api.resourceActions.create('file', { key: 'shred', name: 'Shred' })
  const action = await api.resourceActions.update('file', 'shred', { description: 'For good' })
  await expectRead(api.resourceActions, ['file', 'shred'], [file.id, action.id], action)
  const actions = await api.resourceActions.list({ resourceKey: 'file' })
  expect(actions.map(({ key }) => key)).toEqual(['read', 'write', 'shred'])

  await api.actionGroups.create('file', { key: 'safe', name: 'Safe', actions: ['read'] })
  const group = await api.actionGroups.update('file', 'safe', { name: 'Harmless' })
  expect(group.actions).toEqual(['read'])
  await expectRead(api.actionGroups, ['file', 'safe'], [file.id, group.id], group)
  expect(await api.actionGroups.list({ resourceKey: 'file' })).toEqual([group])

  await api.resourceAttributes.create('file', { key: 'size', type: 'number' })
  const attribute = await api.resourceAttributes.update('file', 'size', { description: 'In bytes' })
  await expectRead(api.resourceAttributes, ['file', 'size'], [file.id, attribute.id], attribute)
  expect(await api.resourceAttributes.list({ resourceKey: 'file' })).toEqual([attribute])

  const relation = await api.resourceRelations.create('file', {
    key: 'in',
    name: 'In',
    subject_resource: 'folder',
  })
  await expectRead(api.resourceRelations, ['file', 'in'], [file.id, relation.id], relation)
  expect(await api.resourceRelations.list({ resourceKey: 'file' })).toEqual([relation])

  await api.resourceRoles.create('folder', { key: 'owner', name: 'Owner' })
  await api.resourceRoles.create('file', { key: 'writer', name: 'Writer', permissions: ['read'] })
  await api.resourceRoles.assignPermissions('file', 'writer', ['write', 'shred'])
  const fewer = await api.resourceRoles.removePermissions('file', 'writer', ['shred'])
  expect(fewer.permissions).toEqual(['read', 'write'])
  const derivation = { role: 'owner', on_resource: 'folder', linked_by_relation: 'in' }
  expect(await api.resourceRoles.createRoleDerivation('file', 'writer', derivation)).toMatchObject(derivation)
  const when = { no_direct_roles_on_object: true }
  expect(await api.resourceRoles.updateRoleDerivationConditions('file', 'writer', when)).toEqual(when)
  await api.resourceRoles.deleteRoleDerivation('file', 'writer', derivation)
  const writer = await api.resourceRoles.update('file', 'writer', { description: 'May write' })
  expect(writer.granted_to).toMatchObject({ users_with_role: [] })
  await expectRead(api.resourceRoles, ['file', 'writer'], [file.id, writer.id], writer)
  expect((await api.resourceRoles.list({ resourceKey: 'file' })).map(({ key }) => key)).toEqual(['writer'])

  await api.roles.create({ key: 'clerk', name: 'Clerk' })
  await api.roles.assignPermissions('clerk', ['file:read', 'file:write'])
  expect((await api.roles.removePermissions('clerk', ['file:write'])).permissions).toEqual(['file:read'])
  const clerk = await api.roles.update('clerk', { description: 'Files things' })
  await expectRead(api.roles, ['clerk'], [clerk.id], clerk)
  expect((await api.roles.list({ includeTotalCount: true })).total_count).toBe(1)
}

async function driveConditionSets({ api }: Permit): Promise<void> {
  const conditions = { allOf: [{ 'user.department': { equals: 'sales' } }] }
  const sales = await api.conditionSets.create({ key: 'sales', name: 'Sales', conditions })
  expect([sales.type, sales.conditions]).toEqual(['userset', conditions])
  const files = await api.conditionSets.create({
    key: 'small',
    name: 'Small files',
    type: 'resourceset',
    resource_id: 'file',
    conditions: { 'resource.size': { 'less-than': 10 } },
  })
  expect([files.resource_id, files.resource?.key]).toEqual([(await api.resources.get('file')).id, 'file'])
  const chiefs = await api.conditionSets.create({ key: 'chiefs', name: 'Chiefs', parent_id: 'sales' })
  expect(chiefs.parent_id).toBe(sales.id)
  const changed = await api.conditionSets.update('chiefs', { name: 'Heads of sales' })
  expect(changed.name).toBe('Heads of sales')
  await expectRead(api.conditionSets, ['chiefs'], [chiefs.id], changed)
  expect((await api.conditionSets.list({ page: 2, perPage: 2 })).map(({ key }) => key)).toEqual(['chiefs'])

  const rule = { user_set: 'sales', permission: 'file:read', resource_set: 'small' }
  // The response is an array, of which the client returns the first rule.
  expect(await api.conditionSetRules.create(rule)).toMatchObject(rule)
  const all = { userSetKey: '', permissionKey: '', resourceSetKey: '' }
  expect(await api.conditionSetRules.list(all)).toMatchObject([rule])
  expect(await api.conditionSetRules.list({ ...all, permissionKey: 'read' })).toMatchObject([rule])
  expect(await api.conditionSetRules.list({ ...all, userSetKey: 'chiefs' })).toEqual([])
  await api.conditionSetRules.delete(rule)
  expect(await api.conditionSetRules.list(all)).toEqual([])
  await api.conditionSets.delete('chiefs')
  expect((await api.conditionSets.list()).map(({ key }) => key)).toEqual(['sales', 'small'])

  await api.createConditionSet({ key: 'old', name: 'Old' })
  expect((await api.updateConditionSet('old', { description: 'Older' })).description).toBe('Older')
  expect((await api.listConditionSets('userset', 1, 10)).map(({ key }) => key)).toContain('old')
  expect(await api.assignConditionSetRule({ ...rule, user_set: 'old' })).toMatchObject([{ user_set: 'old' }])
  expect(await api.listConditionSetsRules(1, 10)).toHaveLength(1)
  for (const { status } of [
    await api.unassignConditionSetRule({ ...rule, user_set: 'old' }),
    await api.deleteConditionSet('old'),
  ]) {
    expect(status).toBe(204)
  }
}

async function driveFacts({ api }: Permit): Promise<void> {
  await api.tenants.create({ key: 'acme', name: 'Acme' })
  const acme = await api.tenants.update('acme', { attributes: { tier: 1 } })
  await expectRead(api.tenants, ['acme'], [acme.id], acme)
  expect((await api.tenants.list({ search: 'ac' })).map(({ key }) => key)).toEqual(['acme'])

  await api.users.create({ key: 'ann' })
  expect((await api.users.sync({ key: 'ann', email: 'ann@example.com' })).created).toBe(false)
  const ann = await api.users.update('ann', { first_name: 'Ann' })
  expect(ann.email).toBe('ann@example.com')
  await expectRead(api.users, ['ann'], [ann.id], ann)
  await api.users.bulkUserCreate([{ key: 'ben' }, { key: 'cat' }])
  await api.users.bulkUserReplace([{ key: 'ben', email: 'ben@example.com' }, { key: 'dan' }])
  await api.users.bulkUserDelete(['cat'])
  expect((await api.users.list()).data.map(({ key }) => key)).toEqual(['ann', 'ben', 'dan'])

  const inAcme = { user: 'ann', role: 'clerk', tenant: 'acme' }
  expect(await api.users.assignRole(inAcme)).toMatchObject(inAcme)
  expect((await api.tenants.listTenantUsers({ tenantKey: 'acme' })).total_count).toBe(1)
  await api.tenants.deleteTenantUser('acme', 'ann')
  expect(await api.users.getAssignedRoles({ user: 'ann', includeTotalCount: true })).toMatchObject({
    total_count: 0,
  })
  await api.roleAssignments.assign(inAcme)
  const detailed = await api.roleAssignments.list({ user: 'ann', detailed: true })
  expect(detailed.map(({ user, role }) => [user.key, role.key])).toEqual([['ann', 'clerk']])
  await api.roleAssignments.unassign(inAcme)
  const many = ['ann', 'ben', 'dan'].map(user => ({ ...inAcme, user }))
  expect(await api.roleAssignments.bulkAssign(many)).toEqual({ assignments_created: 3 })
  expect(await api.roleAssignments.bulkUnassign(many.slice(1))).toEqual({ assignments_removed: 2 })
  await api.users.unassignRole(inAcme)

  await api.resourceInstances.create({ resource: 'file', key: 'f1', tenant: 'acme' })
  const f1 = await api.resourceInstances.update('file:f1', { attributes: { size: 7 } })
  await expectRead(api.resourceInstances, ['file:f1'], [f1.id], f1)
  expect(await api.resourceInstances.list({ tenant: 'acme', resource: 'file' })).toEqual([f1])

  const tuple = { subject: 'folder:top', relation: 'in', object: 'file:f1' }
  await api.relationshipTuples.create(tuple)
  await api.relationshipTuples.bulkRelationshipTuples([{ ...tuple, object: 'file:f2', tenant: 'acme' }])
  const tuples = await api.relationshipTuples.list({ subject: 'folder:top' })
  expect(tuples.map(({ object }) => object)).toEqual(['file:f1', 'file:f2'])
  await api.relationshipTuples.bulkUnRelationshipTuples([{ ...tuple, object: 'file:f2' }])
  await api.relationshipTuples.delete(tuple)
  expect(await api.relationshipTuples.list({})).toEqual([])

  const lists = [
    await api.users.waitForSync(5).list(),
    await api.tenants.waitForSync(5, 'fail').list(),
    await api.roleAssignments.waitForSync(0, 'ignore').list({}),
    await api.resourceInstances.waitForSync(null).list(),
    await api.relationshipTuples.waitForSync(5).list({}),
  ]
  expect(lists.map(list => ('data' in list ? list.data.length : list.length))).toEqual([3, 2, 0, 3, 0])
}

async function driveDecisions(permit: Permit): Promise<void> {
  await permit.api.users.assignRole({ user: 'ann', role: 'clerk', tenant: 'acme' })
  const file = { type: 'file', tenant: 'acme' }
  expect(await permit.check('ann', 'read', file)).toBe(true)
  expect(await permit.bulkCheck([{ user: 'ann', action: 'write', resource: file }])).toEqual([false])
  expect(Object.keys(await permit.getUserPermissions('ann'))).toEqual(['__tenant:acme'])
}

/** Methods that the client keeps for users of its first version. */
async function driveDeprecated({ api }: Permit): Promise<void> {
  expect((await api.createUser({ key: 'eve' })).key).toBe('eve')
  expect((await api.syncUser({ key: 'eve', email: 'eve@example.com' })).email).toBe('eve@example.com')
  expect((await api.updateUser('eve', { last_name: 'E' })).last_name).toBe('E')
  expect((await api.getUser('eve')).email).toBe('eve@example.com')
  expect((await api.listUsers()).map(({ key }) => key)).toEqual(['ann', 'ben', 'dan', 'eve'])

  expect((await api.createTenant({ key: 'umbrella', name: 'Umbrella' })).key).toBe('umbrella')
  expect((await api.updateTenant('umbrella', { name: 'U' })).name).toBe('U')
  expect((await api.getTenant('umbrella')).name).toBe('U')
  expect((await api.listTenants(1)).map(({ key }) => key)).toEqual(['default', 'acme', 'umbrella'])

  expect((await api.createRole({ key: 'temp', name: 'Temp' })).key).toBe('temp')
  expect((await api.updateRole('temp', { name: 'T' })).name).toBe('T')
  expect((await api.getRole('temp')).name).toBe('T')
  expect((await api.listRoles()).map(({ key }) => key)).toEqual(['clerk', 'temp'])
  const assignment = { user: 'eve', role: 'temp', tenant: 'umbrella' }
  expect(await api.assignRole(assignment)).toMatchObject(assignment)
  expect(await api.getAssignedRoles('eve', 'umbrella')).toMatchObject([assignment])
  expect((await api.unassignRole(assignment)).status).toBe(204)

  expect((await api.createResource({ key: 'disk', name: 'Disk', actions: {} })).key).toBe('disk')
  expect((await api.updateResource('disk', { name: 'D' })).name).toBe('D')
  for (const { status } of [
    await api.deleteResource('disk'),
    await api.deleteRole('temp'),
    await api.deleteTenant('umbrella'),
    await api.deleteUser('eve'),
  ]) {
    expect(status).toBe(204)
  }
}

async function driveDeletions({ api }: Permit): Promise<void> {
  await api.resourceInstances.delete('file:f1')
  await api.resourceRoles.delete('file', 'writer')
  await api.resourceRelations.delete('file', 'in')
  await api.resourceAttributes.delete('file', 'size')
  await api.actionGroups.delete('file', 'safe')
  await api.resourceActions.delete('file', 'shred')
  const { actions, attributes, roles, relations } = await api.resources.get('file')
  expect([actions, attributes, roles, relations].map(part => Object.keys(part ?? {}))).toEqual([
    ['read', 'write'],
    [],
    [],
    [],
  ])
  for (const key of ['file', 'folder']) await api.resources.delete(key)
  await api.roles.delete('clerk')
  await api.tenants.delete('acme')
  for (const key of ['ann', 'ben', 'dan']) await api.users.delete(key)
  expect(await api.resources.list()).toEqual([])
  expect((await api.users.list()).total_count).toBe(0)
}

async function driveProjects({ api }: Permit): Promise<void> {
  const { projects, environments } = api
  const created = await projects.create({ key: 'shop', name: 'Shop', urn_namespace: 'urn:shop' })
  const shop = await projects.update('shop', { description: 'Sells' })
  expect(shop).toMatchObject({ id: created.id, urn_namespace: 'urn:shop', description: 'Sells' })
  await expectRead(projects, ['shop'], [shop.id], shop)
  expect((await projects.list()).map(({ key }) => key)).toEqual(['default', 'shop'])
  expect(await projects.list({ page: 2, perPage: 1 })).toEqual([shop])

  const initial = await environments.list({ projectKey: 'shop' })
  expect(initial.map(({ key }) => key)).toEqual(['dev', 'production'])
  for (const { key } of initial) await environments.delete('shop', key)
  await environments.create('shop', { key: 'staging', name: 'Staging' })
  const updated = await environments.update('shop', 'staging', { custom_branch_name: 'next' })
  const staging = { ...updated, email_configuration: null }
  expect(staging).toMatchObject({ project_id: shop.id, custom_branch_name: 'next' })
  await expectRead(environments, ['shop', 'staging'], [shop.id, staging.id], staging)
  const copied = await environments.copy('shop', 'staging', {
    target_env: { new: { key: 'live', name: 'Live' } },
  })
  const live = { ...copied, email_configuration: null }
  expect(await environments.list({ projectKey: 'shop' })).toEqual([staging, live])
  expect(await environments.list({ projectKey: 'shop', page: 2, perPage: 1 })).toEqual([live])
  expect(await environments.getStats('shop', 'live')).toMatchObject({
    ...copied,
    stats: { roles: 0, users: 0, policies: 0, resources: 0, tenants: 1 },
  })
  expect(await environments.getApiKey('shop', 'live')).toMatchObject({
    organization_id: shop.organization_id,
    project_id: shop.id,
    environment_id: copied.id,
    object_type: 'env',
    access_level: 'admin',
    secret: expect.stringMatching(/./),
  })
  await environments.delete('shop', 'live')
  expect(await environments.list({ projectKey: 'shop' })).toEqual([staging])
  await projects.delete('shop')
  expect((await projects.list()).map(({ key }) => key)).toEqual(['default'])
}

test('internal bulk calls of the client for tenants and instances work', async () => {
  const { permit } = await permitOfNewService()
  const { api } = permit
  await api.resources.create({ key: 'file', name: 'File', actions: {} })
  const bulk = (api.users as UsersApi)['bulkOperationsApi']
  const scope = permit.config.apiContext.environmentContext
  const operations = ['acme', 'umbrella'].map(key => ({ key, name: key }))
  await bulk.bulkCreateTenants({ ...scope, requestBody: { operations } })
  expect((await api.tenants.list()).map(({ key }) => key)).toEqual(['default', 'acme', 'umbrella'])
  await bulk.bulkDeleteTenants({ ...scope, requestBody: { idents: ['umbrella'] } })
  expect((await api.tenants.list()).map(({ key }) => key)).toEqual(['default', 'acme'])

  const instances = ['f1', 'f2'].map(key => ({ resource: 'file', key, tenant: 'acme' }))
  await bulk.bulkReplaceResourceInstances({
    ...scope,
    resourceInstanceCreateBulkOperation: { operations: instances },
  })
  await bulk.bulkDeleteResourceInstances({
    ...scope,
    resourceInstanceDeleteBulkOperation: { idents: ['file:f1'] },
  })
  expect((await api.resourceInstances.list()).map(({ key }) => key)).toEqual(['f2'])
})
