/** Roles over HTTP: permissions, derivations, lists, bulks (native.md B.4, B.5, B.11). */
import { describe, expect, test } from 'vitest'
import type { Action } from '#entities/action.ts'
import type { DerivationRead, ResourceRole, TenantRole } from '#entities/role.ts'
import { inherited, newPage, shelfOf } from '../../support/calls/pages.ts'
import {
  type Envelope,
  fresh,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import {
  DUPLICATE,
  IMPOSSIBLE,
  INVALID,
  NOT_FOUND,
  NO_PERMISSION,
  type Problem,
  refusal,
} from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const ROLES = `${SCHEMA}/roles`

function addParent(role: string, parent: string) {
  return verdict.send<TenantRole>('PUT', `${role}/parents/${parent}`)
}

function removeParent(role: string, parent: string) {
  return verdict.delete<TenantRole>(`${role}/parents/${parent}`)
}

describe('resource roles', () => {
  test('are always listed as an array, and are read by key or id', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles`
    expect(await verdict.keysIn(`${path}?page=1&per_page=100`)).toEqual(['viewer', 'editor'])
    expect(await verdict.keysIn(`${path}?include_total_count=true`)).toEqual(['viewer', 'editor'])
    const { body: viewer } = await verdict.get<ResourceRole>(`${path}/viewer`)
    expect((await verdict.get(`${path}/${viewer.id}`)).body).toEqual(viewer)
  })

  // Removing all entries also removes the roles of groups, so a client must ask for it with {}.
  test('reject null for granted_to with 422, and remove all entries for {}', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles/viewer`
    const [ann, team] = fresh('ann', 'team')
    await verdict.user(ann)
    await verdict.group(team)
    await verdict.join(team, ann)
    await verdict.grant(team, 'viewer', `${page}:p`)
    const before = await verdict.get<ResourceRole>(path)
    const refused = await verdict.patch<Problem>(path, { name: 'Another', granted_to: null })
    expect(refusal(refused)).toEqual(INVALID)
    expect(refused.body.detail).toEqual([
      { loc: ['body', 'granted_to'], type: 'type', msg: expect.stringContaining('or send {} to remove all') },
    ])
    expect((await verdict.get(path)).body).toEqual(before.body)
    expect(await verdict.allows(ann, 'read', `${page}:p`)).toBe(true)

    const emptied = await verdict.patch<ResourceRole>(path, { granted_to: {} })
    expect([emptied.status, emptied.body.granted_to.users_with_role]).toEqual([200, []])
    expect(await verdict.allows(ann, 'read', `${page}:p`)).toBe(false)
  })

  test('gain and lose permissions by action, type:action or id; permissions that exist or are missing are skipped', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles/viewer/permissions`
    const { body: print } = await verdict.get<Action>(`${RESOURCES}/${page}/actions/print`)
    const added = await verdict.post<ResourceRole>(path, { permissions: ['read', `${page}:write`, print.id] })
    expect([added.status, added.body.permissions]).toEqual([200, ['read', 'write', 'print']])
    const removed = await verdict.delete<ResourceRole>(path, { permissions: [print.id, 'read', 'print'] })
    expect([removed.status, removed.body.permissions]).toEqual([200, ['write']])
    expect((await verdict.delete(path, { permissions: ['read'] })).status).toBe(200)
    for (const method of ['POST', 'DELETE']) {
      const answer = await verdict.send(method, path, { body: { permissions: ['write', 'fly'] } })
      expect(refusal(answer)).toEqual(NOT_FOUND)
      const shapeless = await verdict.send(method, path, { body: {} })
      expect(refusal(shapeless)).toEqual(INVALID)
    }
  })

  test('have derivation entries that are unique and can be removed with any guard (native.md D-34)', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles/viewer/implicit_grants`
    const entry = inherited(page)
    const added = await verdict.post<DerivationRead>(path, entry)
    expect(added.body).toMatchObject({ ...entry, when: { no_direct_roles_on_object: false } })
    const guarded = { ...entry, when: { no_direct_roles_on_object: true } }
    expect(refusal(await verdict.post(path, guarded))).toEqual(DUPLICATE)
    const other = { ...entry, role: 'porter' }
    expect(refusal(await verdict.delete(path, other))).toEqual(NOT_FOUND)
    expect((await verdict.delete(path, guarded)).status).toBe(204)
    expect(refusal(await verdict.delete(path, entry))).toEqual(NOT_FOUND)
    const byId = {
      role: added.body.role_id,
      on_resource: added.body.resource_id,
      linked_by_relation: added.body.relation_id,
    }
    expect((await verdict.post<DerivationRead>(path, byId)).body).toMatchObject(entry)
  })

  test.each([
    ['an unknown source role', { role: 'nobody' }, NOT_FOUND],
    ['an unknown resource', { on_resource: 'nothing' }, NOT_FOUND],
    ['an unknown relation', { linked_by_relation: 'under' }, NOT_FOUND],
    ['no role', { role: undefined }, INVALID],
    ['a guard that is no boolean', { when: { no_direct_roles_on_object: 'yes' } }, INVALID],
  ])('reject a derivation entry with %s', async (_what, change, refused) => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles/viewer/implicit_grants`
    expect(refusal(await verdict.post(path, { ...inherited(page), ...change }))).toEqual(refused)
  })

  test('have one guard for all derivation entries, and a change of the guard takes effect immediately', async () => {
    const page = await newPage(verdict)
    const [kim, p1, s1] = fresh('kim', `${page}:p`, `${shelfOf(page)}:s`)
    await verdict.user(kim)
    await verdict.assign(kim, 'keeper', s1)
    await verdict.assign(kim, 'editor', p1)
    await verdict.relate(s1, 'on', p1)
    const path = `${RESOURCES}/${page}/roles/viewer/implicit_grants`
    await verdict.post(path, inherited(page))
    expect(await verdict.allows(kim, 'read', p1)).toBe(true)
    const guard = { no_direct_roles_on_object: true }
    const set = await verdict.put(`${path}/conditions`, guard)
    expect([set.status, set.body]).toEqual([200, guard])
    expect(await verdict.allows(kim, 'read', p1)).toBe(false)
    const unguarded = { no_direct_roles_on_object: false }
    const posted = await verdict.post(`${path}/conditions`, unguarded)
    expect([posted.status, posted.body], 'as the Java client sends it').toEqual([200, unguarded])
    expect(await verdict.allows(kim, 'read', p1)).toBe(true)
    expect(refusal(await verdict.put(`${path}/conditions`, {}))).toEqual(INVALID)
  })
})

describe('tenant roles', () => {
  test('are listed as an array, or in an envelope on request, in creation order, with search and pages', async () => {
    const service = await startedService()
    const keys = ['auditor', 'admin', 'Auditor-General']
    for (const key of keys) await service.tenantRole(key, [])
    expect(await service.keysIn(`${ROLES}?include_total_count=false`)).toEqual(keys)
    expect(await service.keysIn(`${ROLES}?search=audit`)).toEqual(['auditor', 'Auditor-General'])
    const { body } = await service.get<Envelope<TenantRole>>(
      `${ROLES}?include_total_count=true&per_page=2&page=2`,
    )
    expect(body).toMatchObject({ data: [{ key: 'Auditor-General' }], total_count: 3, page_count: 2 })
  })

  test('are changed by key or id, and gain and lose permissions', async () => {
    const page = await newPage(verdict)
    const [key] = fresh('clerk')
    const created = await verdict.tenantRole(key, [])
    const { body: changed } = await verdict.patch<TenantRole>(`${ROLES}/${created.id}`, {
      name: 'Clerk',
      permissions: [`${page}:read`],
      granted_to: { users_with_role: [{ role: 'a', on_resource: 'b', linked_by_relation: 'c' }] },
    })
    expect(changed).toMatchObject({ id: created.id, name: 'Clerk', permissions: [`${page}:read`] })
    expect(changed.granted_to.users_with_role).toHaveLength(1)
    const path = `${ROLES}/${key}/permissions`
    const added = await verdict.post<TenantRole>(path, { permissions: [`${page}:read`, `${page}:print`] })
    expect([added.status, added.body.permissions]).toEqual([200, [`${page}:read`, `${page}:print`]])
    const removed = await verdict.delete<TenantRole>(path, { permissions: [`${page}:read`, `${page}:write`] })
    expect([removed.status, removed.body.permissions]).toEqual([200, [`${page}:print`]])
    expect((await verdict.get(`${ROLES}/${key}`)).body).toEqual(removed.body)
    expect((await verdict.delete(`${ROLES}/${key}`)).status).toBe(204)
    expect(refusal(await verdict.get(`${ROLES}/${key}`))).toEqual(NOT_FOUND)
  })

  test('with a malformed permission are a 422 even if the role does not exist (native.md D-38)', async () => {
    const [role, permissions] = [`${ROLES}/nobody`, `${ROLES}/nobody/permissions`]
    const body = { permissions: ['read'] }
    expect(refusal(await verdict.patch(role, body))).toEqual(NO_PERMISSION)
    expect(refusal(await verdict.post(permissions, body))).toEqual(NO_PERMISSION)
    expect(refusal(await verdict.delete(permissions, body))).toEqual(NO_PERMISSION)
    expect(refusal(await verdict.post(permissions, { permissions: ['x:y'] }))).toEqual(NOT_FOUND)
  })
})

describe('roles in bulk', () => {
  const BULK = `${SCHEMA}/bulk/roles`

  test('are created or replaced, for tenants and resources, and refer to each other in any order', async () => {
    const page = await newPage(verdict)
    const [boss, clerk] = fresh('boss', 'clerk')
    const before = (await verdict.get<ResourceRole>(`${RESOURCES}/${page}/roles/editor`)).body
    const answer = await verdict.put(BULK, {
      operations: [
        { key: boss, name: 'Boss', extends: [clerk] },
        { key: clerk, name: 'Clerk', permissions: [`${page}:read`], resource: null },
        { key: 'editor', name: 'Writes', resource: page, permissions: ['write'], extends: ['owner'] },
        { key: 'owner', name: 'Owns', resource: page },
      ],
    })
    expect(answer.body).toEqual({ created: [boss, clerk, `${page}#owner`], updated: [`${page}#editor`] })
    const after = (await verdict.get<ResourceRole>(`${RESOURCES}/${page}/roles/editor`)).body
    expect(after).toMatchObject({ id: before.id, name: 'Writes', extends: ['owner'] })
    expect((await verdict.put(BULK, { operations: [] })).body).toEqual({ created: [], updated: [] })
  })

  test.each([
    ['an unknown resource', { key: 'x', name: 'X', resource: 'nothing' }, NOT_FOUND],
    ['an unknown action', { key: 'x', name: 'X', permissions: ['document:fly'] }, NOT_FOUND],
    ['an unknown role', { key: 'x', name: 'X', extends: ['nobody'] }, NOT_FOUND],
    ['itself as parent', { key: 'x', name: 'X', extends: ['x'] }, IMPOSSIBLE],
    ['a malformed permission', { key: 'x', name: 'X', permissions: ['fly'] }, NO_PERMISSION],
  ])('are all rejected, with the index of the element, if one has %s', async (_what, bad, refused) => {
    const [key] = fresh('good')
    const before = await verdict.revision()
    const answer = await verdict.put<Problem>(BULK, { operations: [{ key, name: 'Good' }, bad] })
    expect([answer.status, answer.body.error_code]).toEqual(refused)
    expect(answer.body.message).toContain('operations[1]')
    expect(await verdict.revision()).toBe(before)
    expect(refusal(await verdict.get(`${ROLES}/${key}`))).toEqual(NOT_FOUND)
  })

  test('are rejected with the location of an invalid field', async () => {
    const answer = await verdict.put<Problem>(BULK, { operations: [{ key: 'a', name: 'A' }, { key: 'b' }] })
    expect(refusal(answer)).toEqual(INVALID)
    expect(answer.body.detail![0]!.loc).toEqual(['body', 'operations', 1, 'name'])
  })
})

await verdict.resource({
  key: 'document',
  actions: { read: {}, write: {} },
  roles: {
    reader: { name: 'Reader', permissions: ['read'] },
    writer: { name: 'Writer', permissions: ['write'] },
    owner: { name: 'Owner' },
  },
})
const RESOURCE_ROLES = `${RESOURCES}/document/roles`

async function rolesAt(path: string): Promise<string[]> {
  const { body } = await verdict.get<{ roles: readonly { key: string }[] }>(path)
  return body.roles.map(({ key }) => key)
}

describe('a tenant role', () => {
  test('has the permissions of its parent until the parent is removed', async () => {
    const [child, parent, user] = fresh('child', 'parent', 'user')
    await verdict.tenantRole(child, [])
    const { id } = await verdict.tenantRole(parent, ['document:read'])
    await verdict.user(user)
    await verdict.assign(user, child, 'default')
    expect(await verdict.allows(user, 'read', 'document:d')).toBe(false)
    const role = `${ROLES}/${child}`
    const added = await addParent(role, id)
    expect([added.status, added.body.key, added.body.extends]).toEqual([200, child, [parent]])
    expect(await verdict.allows(user, 'read', 'document:d')).toBe(true)
    const again = await addParent(role, parent)
    expect([again.status, again.body]).toEqual([200, added.body])
    const removed = await removeParent(role, parent)
    expect([removed.status, removed.body.key, removed.body.extends]).toEqual([200, child, []])
    expect(await verdict.allows(user, 'read', 'document:d')).toBe(false)
    expect(refusal(await removeParent(role, parent))).toEqual(NOT_FOUND)
  })

  test('cannot extend itself, its descendants, missing roles or resource roles', async () => {
    const [a, b] = fresh('a', 'b')
    await verdict.tenantRole(a, [])
    await verdict.tenantRole(b, [])
    await addParent(`${ROLES}/${a}`, b)
    for (const [role, parent, way] of [
      [b, a, ` through "${a}"`],
      [a, a, ''],
    ] as const) {
      const circular = await addParent(`${ROLES}/${role}`, parent)
      expect(refusal(circular)).toEqual(IMPOSSIBLE)
      expect(JSON.stringify(circular.body)).toContain(
        JSON.stringify(`"${role}" would extend itself${way}`).slice(1, -1),
      )
    }
    // `reader` is a resource role.
    for (const parent of ['nothing', 'reader'])
      expect(refusal(await addParent(`${ROLES}/${a}`, parent))).toEqual(NOT_FOUND)
    expect(refusal(await addParent(`${ROLES}/nothing`, a))).toEqual(NOT_FOUND)
  })

  test('lists each ancestor and descendant only once, beginning with the nearest', async () => {
    const [top, left, right, low, alone] = fresh('top', 'left', 'right', 'low', 'alone')
    for (const key of [top, left, right, low, alone]) await verdict.tenantRole(key, [])
    for (const [child, parent] of [
      [left, top],
      [right, top],
      [low, left],
      [low, right],
    ] as const)
      await addParent(`${ROLES}/${child}`, parent)
    expect(await rolesAt(`${ROLES}/${low}/ancestors`)).toEqual([left, right, top])
    expect(await rolesAt(`${ROLES}/${top}/descendants`)).toEqual([left, right, low])
    expect(await rolesAt(`${ROLES}/${top}/descendants?page=2&per_page=2`)).toEqual([low])
    for (const list of ['ancestors', 'descendants']) {
      expect(await rolesAt(`${ROLES}/${alone}/${list}`)).toEqual([])
      expect(refusal(await verdict.get(`${ROLES}/nothing/${list}`))).toEqual(NOT_FOUND)
    }
  })

  test('lists all descendants unless the request asks for a page', async () => {
    const service = await startedService()
    const role = { name: 'Below', extends: ['top'] }
    const operations = Array.from({ length: 150 }, (_, n) => ({ key: `r${n}`, ...role }))
    await service.tenantRole('top', [])
    await service.put(`${SCHEMA}/bulk/roles`, { operations })
    const { body } = await service.get<{ roles: TenantRole[] }>(`${ROLES}/top/descendants`)
    expect(body.roles.map(({ key }) => key)).toEqual(operations.map(({ key }) => key))
  })
})

describe('a resource role', () => {
  const owner = `${RESOURCE_ROLES}/owner`

  test('can gain and lose a parent of the same resource', async () => {
    const added = await addParent(owner, 'writer')
    expect([added.status, added.body.key, added.body.extends]).toEqual([200, 'owner', ['writer']])
    await addParent(`${RESOURCE_ROLES}/writer`, 'reader')
    expect(await rolesAt(`${owner}/ancestors`)).toEqual(['writer', 'reader'])
    expect(await rolesAt(`${RESOURCE_ROLES}/reader/descendants`)).toEqual(['writer', 'owner'])
    const removed = await removeParent(owner, 'writer')
    expect([removed.status, removed.body.extends]).toEqual([200, []])
    expect(await rolesAt(`${RESOURCE_ROLES}/reader/descendants`)).toEqual(['writer'])
  })

  test('cannot extend a role of a tenant or of another resource', async () => {
    const [tenantRole] = fresh('tenant-role')
    await verdict.tenantRole(tenantRole, [])
    expect(refusal(await addParent(owner, tenantRole))).toEqual(NOT_FOUND)
    for (const resource of ['nothing', '__user'])
      expect(refusal(await addParent(`${RESOURCES}/${resource}/roles/owner`, 'writer'))).toEqual(NOT_FOUND)
  })
})
