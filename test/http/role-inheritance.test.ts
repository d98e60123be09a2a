/** What roles extend, one parent at a time, and who is above and below a role (contract D-21). */
import { describe, expect, test } from 'vitest'
import type { ResourceRole, TenantRole } from '#model/wire/role.ts'
import {
  fresh,
  type Problem,
  refusal,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService()
await verdict.resource({
  key: 'document',
  actions: { read: {}, write: {} },
  roles: {
    reader: { name: 'Reader', permissions: ['read'] },
    writer: { name: 'Writer', permissions: ['write'] },
    owner: { name: 'Owner' },
  },
})
const ROLES = `${SCHEMA}/roles`
const RESOURCE_ROLES = `${RESOURCES}/document/roles`

async function familyOf(path: string): Promise<string[]> {
  const { body } = await verdict.get<{ roles: readonly { key: string }[] }>(path)
  return body.roles.map(({ key }) => key)
}

describe('tenant roles', () => {
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
    expect(refusal(await verdict.delete(`${ROLES}/${child}/parents/${parent}`))).toEqual([404, 'NOT_FOUND'])
  })

  test('extend neither themselves nor what extends them, and only what is there', async () => {
    const [a, b] = fresh('a', 'b')
    await verdict.tenantRole(a, [])
    await verdict.tenantRole(b, [])
    await verdict.send('PUT', `${ROLES}/${a}/parents/${b}`)
    expect(refusal(await verdict.send('PUT', `${ROLES}/${b}/parents/${a}`))).toEqual([400, 'INVALID_INPUT'])
    expect(refusal(await verdict.send('PUT', `${ROLES}/${a}/parents/${a}`))).toEqual([400, 'INVALID_INPUT'])
    // A role of a resource is no parent of a tenant role.
    for (const parent of ['nothing', 'reader']) {
      expect(refusal(await verdict.send('PUT', `${ROLES}/${a}/parents/${parent}`))).toEqual([
        404,
        'NOT_FOUND',
      ])
    }
    expect(refusal(await verdict.send('PUT', `${ROLES}/nothing/parents/${a}`))).toEqual([404, 'NOT_FOUND'])
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
      expect(refusal(await verdict.get(`${ROLES}/nothing/${list}`))).toEqual([404, 'NOT_FOUND'])
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

describe('roles of a resource', () => {
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
    expect(refusal(refused)).toEqual([404, 'NOT_FOUND'])
    for (const path of [
      `${RESOURCES}/nothing/roles/owner/parents/writer`,
      `${RESOURCES}/__user/roles/owner/parents/writer`,
    ]) {
      expect(refusal(await verdict.send('PUT', path))).toEqual([404, 'NOT_FOUND'])
    }
  })
})
