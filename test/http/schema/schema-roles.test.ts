/** Roles over HTTP: permissions, derivations, lists, bulks (native.md B.4, B.5, B.11). */
import { describe, expect, test } from 'vitest'
import type { Action } from '#model/wire/action.ts'
import type { DerivationRead, ResourceRole, TenantRole } from '#model/wire/role.ts'
import { inherited, newPage, shelfOf } from '../../support/pages.ts'
import {
  type Answer,
  type Envelope,
  fresh,
  type Problem,
  refusal,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { DUPLICATE, IMPOSSIBLE, INVALID, NOT_FOUND, NO_PERMISSION } from '../../support/refusals.ts'

const verdict = await sharedService()
const ROLES = `${SCHEMA}/roles`

function keysOf(answer: Answer<readonly { readonly key: string }[]>): string[] {
  return answer.body.map(({ key }) => key)
}

describe('resource roles', () => {
  test('are always a bare array, read by key or id', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles`
    expect(keysOf(await verdict.get(`${path}?page=1&per_page=100`))).toEqual(['viewer', 'editor'])
    expect(keysOf(await verdict.get(`${path}?include_total_count=true`))).toEqual(['viewer', 'editor'])
    const { body: viewer } = await verdict.get<ResourceRole>(`${path}/viewer`)
    expect((await verdict.get(`${path}/${viewer.id}`)).body).toEqual(viewer)
  })

  test('never take null for what they are granted to, with which the roles of groups would go: 422, and {} for those who mean it', async () => {
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

  test('take and lose permissions by action, own type or id; what is there or not there is skipped', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles/viewer/permissions`
    const { body: print } = await verdict.get<Action>(`${RESOURCES}/${page}/actions/print`)
    const added = await verdict.post<ResourceRole>(path, { permissions: ['read', `${page}:write`, print.id] })
    expect([added.status, added.body.permissions]).toEqual([200, ['read', 'write', 'print']])
    const taken = await verdict.delete<ResourceRole>(path, { permissions: [print.id, 'read', 'print'] })
    expect([taken.status, taken.body.permissions]).toEqual([200, ['write']])
    expect((await verdict.delete(path, { permissions: ['read'] })).status).toBe(200)
    for (const method of ['POST', 'DELETE']) {
      const answer = await verdict.send(method, path, { body: { permissions: ['write', 'fly'] } })
      expect(refusal(answer)).toEqual(NOT_FOUND)
      const shapeless = await verdict.send(method, path, { body: {} })
      expect(refusal(shapeless)).toEqual(INVALID)
    }
  })

  test('are derived by entries that are added once, and removed whatever their guard (native.md D-34)', async () => {
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
  ])('are not derived by an entry with %s', async (_what, change, refused) => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/roles/viewer/implicit_grants`
    expect(refusal(await verdict.post(path, { ...inherited(page), ...change }))).toEqual(refused)
  })

  test('have a guard for the whole block, which every entry obeys at once', async () => {
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
  test('are a bare array, or an envelope on demand; in creation order, searched and paged', async () => {
    const service = await startedService()
    for (const key of ['auditor', 'admin', 'Auditor-General']) await service.tenantRole(key, [])
    expect(keysOf(await service.get(`${ROLES}?include_total_count=false`))).toEqual([
      'auditor',
      'admin',
      'Auditor-General',
    ])
    expect(keysOf(await service.get(`${ROLES}?search=audit`))).toEqual(['auditor', 'Auditor-General'])
    const { body } = await service.get<Envelope<TenantRole>>(
      `${ROLES}?include_total_count=true&per_page=2&page=2`,
    )
    expect(body).toMatchObject({ data: [{ key: 'Auditor-General' }], total_count: 3, page_count: 2 })
  })

  test('are changed by key or id, and take and lose permissions', async () => {
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
    const taken = await verdict.delete<TenantRole>(path, { permissions: [`${page}:read`, `${page}:write`] })
    expect([taken.status, taken.body.permissions]).toEqual([200, [`${page}:print`]])
    expect((await verdict.get(`${ROLES}/${key}`)).body).toEqual(taken.body)
    expect((await verdict.delete(`${ROLES}/${key}`)).status).toBe(204)
    expect(refusal(await verdict.get(`${ROLES}/${key}`))).toEqual(NOT_FOUND)
  })

  test('with a permission of the wrong form are 422 before anything is looked up (native.md D-38)', async () => {
    const format = NO_PERMISSION
    const body = { permissions: ['read'] }
    expect(refusal(await verdict.patch(`${ROLES}/nobody`, body))).toEqual(format)
    expect(refusal(await verdict.post(`${ROLES}/nobody/permissions`, body))).toEqual(format)
    expect(refusal(await verdict.delete(`${ROLES}/nobody/permissions`, body))).toEqual(format)
    expect(refusal(await verdict.post(`${ROLES}/nobody/permissions`, { permissions: ['x:y'] }))).toEqual(
      NOT_FOUND,
    )
  })
})

describe('roles in bulk', () => {
  const BULK = `${SCHEMA}/bulk/roles`

  test('are created or replaced, of both kinds, referring to each other in any order', async () => {
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
    ['itself above it', { key: 'x', name: 'X', extends: ['x'] }, IMPOSSIBLE],
    ['a misspelt permission', { key: 'x', name: 'X', permissions: ['fly'] }, NO_PERMISSION],
  ])('are all refused, naming the element, for one with %s', async (_what, bad, refused) => {
    const [key] = fresh('good')
    const before = await verdict.revision()
    const answer = await verdict.put<Problem>(BULK, { operations: [{ key, name: 'Good' }, bad] })
    expect([answer.status, answer.body.error_code]).toEqual(refused)
    expect(answer.body.message).toContain('operations[1]')
    expect(await verdict.revision()).toBe(before)
    expect(refusal(await verdict.get(`${ROLES}/${key}`))).toEqual(NOT_FOUND)
  })

  test('name the place of a wrong shape', async () => {
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

async function familyOf(path: string): Promise<string[]> {
  const { body } = await verdict.get<{ roles: readonly { key: string }[] }>(path)
  return body.roles.map(({ key }) => key)
}

describe('parents of tenant roles', () => {
  test('get a parent, decide by it, and lose it', async () => {
    const [child, parent, user] = fresh('child', 'parent', 'user')
    await verdict.tenantRole(child, [])
    const { id } = await verdict.tenantRole(parent, ['document:read'])
    await verdict.user(user)
    await verdict.assign(user, child, 'default')
    expect(await verdict.allows(user, 'read', 'document:d')).toBe(false)
    const added = await verdict.send<TenantRole>('PUT', `${ROLES}/${child}/parents/${id}`)
    expect([added.status, added.body.key, added.body.extends]).toEqual([200, child, [parent]])
    expect(await verdict.allows(user, 'read', 'document:d')).toBe(true)
    const again = await verdict.send<TenantRole>('PUT', `${ROLES}/${child}/parents/${parent}`)
    expect([again.status, again.body]).toEqual([200, added.body])
    const removed = await verdict.send<TenantRole>('DELETE', `${ROLES}/${child}/parents/${parent}`)
    expect([removed.status, removed.body.key, removed.body.extends]).toEqual([200, child, []])
    expect(await verdict.allows(user, 'read', 'document:d')).toBe(false)
    expect(refusal(await verdict.delete(`${ROLES}/${child}/parents/${parent}`))).toEqual(NOT_FOUND)
  })

  test('extend neither themselves nor what extends them, and only what is there', async () => {
    const [a, b] = fresh('a', 'b')
    await verdict.tenantRole(a, [])
    await verdict.tenantRole(b, [])
    await verdict.send('PUT', `${ROLES}/${a}/parents/${b}`)
    expect(refusal(await verdict.send('PUT', `${ROLES}/${b}/parents/${a}`))).toEqual(IMPOSSIBLE)
    expect(refusal(await verdict.send('PUT', `${ROLES}/${a}/parents/${a}`))).toEqual(IMPOSSIBLE)
    // A role of a resource is no parent of a tenant role.
    for (const parent of ['nothing', 'reader']) {
      expect(refusal(await verdict.send('PUT', `${ROLES}/${a}/parents/${parent}`))).toEqual(NOT_FOUND)
    }
    expect(refusal(await verdict.send('PUT', `${ROLES}/nothing/parents/${a}`))).toEqual(NOT_FOUND)
  })

  test('have ancestors and descendants, nearest first, each once, over every way there is', async () => {
    const [top, left, right, low, alone] = fresh('top', 'left', 'right', 'low', 'alone')
    for (const key of [top, left, right, low, alone]) await verdict.tenantRole(key, [])
    for (const [child, parent] of [
      [left, top],
      [right, top],
      [low, left],
      [low, right],
    ]) {
      await verdict.send('PUT', `${ROLES}/${child}/parents/${parent}`)
    }
    expect(await familyOf(`${ROLES}/${low}/ancestors`)).toEqual([left, right, top])
    expect(await familyOf(`${ROLES}/${top}/descendants`)).toEqual([left, right, low])
    expect(await familyOf(`${ROLES}/${top}/descendants?page=2&per_page=2`)).toEqual([low])
    for (const list of ['ancestors', 'descendants']) {
      expect(await familyOf(`${ROLES}/${alone}/${list}`)).toEqual([])
      expect(refusal(await verdict.get(`${ROLES}/nothing/${list}`))).toEqual(NOT_FOUND)
    }
  })

  test('list every descendant unless a page is asked for', async () => {
    const service = await startedService()
    const operations = Array.from({ length: 150 }, (_, n) => {
      return { key: `r${n}`, name: 'Below', extends: ['top'] }
    })
    await service.tenantRole('top', [])
    await service.put(`${SCHEMA}/bulk/roles`, { operations })
    const { body } = await service.get<{ roles: TenantRole[] }>(`${ROLES}/top/descendants`)
    expect(body.roles.map(({ key }) => key)).toEqual(operations.map(({ key }) => key))
  })
})

describe('parents of roles of a resource', () => {
  test('get a parent of their resource, and lose it', async () => {
    const added = await verdict.send<ResourceRole>('PUT', `${RESOURCE_ROLES}/owner/parents/writer`)
    expect([added.status, added.body.key, added.body.extends]).toEqual([200, 'owner', ['writer']])
    await verdict.send('PUT', `${RESOURCE_ROLES}/writer/parents/reader`)
    expect(await familyOf(`${RESOURCE_ROLES}/owner/ancestors`)).toEqual(['writer', 'reader'])
    expect(await familyOf(`${RESOURCE_ROLES}/reader/descendants`)).toEqual(['writer', 'owner'])
    const removed = await verdict.send<ResourceRole>('DELETE', `${RESOURCE_ROLES}/owner/parents/writer`)
    expect([removed.status, removed.body.extends]).toEqual([200, []])
    expect(await familyOf(`${RESOURCE_ROLES}/reader/descendants`)).toEqual(['writer'])
  })

  test('extend none of a tenant or of another resource', async () => {
    const [tenantRole] = fresh('tenant-role')
    await verdict.tenantRole(tenantRole, [])
    const refused = await verdict.send<Problem>('PUT', `${RESOURCE_ROLES}/owner/parents/${tenantRole}`)
    expect(refusal(refused)).toEqual(NOT_FOUND)
    for (const path of [
      `${RESOURCES}/nothing/roles/owner/parents/writer`,
      `${RESOURCES}/__user/roles/owner/parents/writer`,
    ]) {
      expect(refusal(await verdict.send('PUT', path))).toEqual(NOT_FOUND)
    }
  })
})
