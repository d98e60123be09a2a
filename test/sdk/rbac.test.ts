/** Roles in tenants with the official client of the commercial service. */
import { describe, expect, test } from 'vitest'
import { loopbackWithFree, SDK_OPA_PORT } from '../support/processes/loopback.ts'
import { MODES, permitOfNewService } from '../support/calls/permit-client.ts'

describe.each(MODES)('a newspaper with the client, $mode', ({ options }) => {
  test('assigns roles, checks access and deletes everything', async () => {
    const { permit } = await permitOfNewService(options)
    const { api } = permit

    const article = await api.resources.create({
      key: 'article',
      name: 'Article',
      urn: 'urn:press:article',
      actions: { create: {}, read: {}, edit: { name: 'Edit' }, publish: {} },
      attributes: { draft: { type: 'bool', description: 'Not out yet' } },
    })
    expect(Object.keys(article.actions ?? {})).toEqual(['create', 'read', 'edit', 'publish'])
    const resources = await api.resources.list({ includeTotalCount: true })
    expect([resources.total_count, resources.page_count]).toEqual([1, 1])
    expect(resources.data.map(({ key }) => key)).toEqual(['article'])

    const reader = await api.roles.create({
      key: 'reader',
      name: 'Reader',
      permissions: ['article:read'],
    })
    expect(reader.permissions).toEqual(['article:read'])
    const editor = await api.roles.create({ key: 'editor', name: 'Editor' })
    expect(editor.permissions).toEqual([])
    const granted = await api.roles.assignPermissions('editor', ['article:read', 'article:edit'])
    expect(granted.permissions?.toSorted()).toEqual(['article:edit', 'article:read'])
    expect((await api.roles.list()).map(({ key }) => key)).toEqual(['reader', 'editor'])

    const herald = await api.tenants.create({ key: 'herald', name: 'The Herald' })
    expect([herald.key, herald.description, herald.attributes]).toEqual(['herald', null, null])

    const nora = { key: 'auth0|nora', email: 'nora@example.com', first_name: 'Nora', attributes: { age: 41 } }
    const first = await api.users.sync(nora)
    expect([first.created, first.user.key, first.user.email]).toEqual([true, nora.key, nora.email])
    const again = await api.users.sync({ ...nora, last_name: 'Quill' })
    expect([again.created, again.user.id, again.user.last_name]).toEqual([false, first.user.id, 'Quill'])
    const paul = await api.users.create({
      key: 'paul',
      role_assignments: [{ role: 'reader', tenant: 'herald' }],
    })
    expect(paul.roles?.map(({ role, tenant }) => ({ role, tenant }))).toEqual([
      { role: 'reader', tenant: 'herald' },
    ])

    const assigned = await api.users.assignRole({ user: nora.key, role: 'editor', tenant: 'herald' })
    expect(assigned).toMatchObject({ user: nora.key, role: 'editor', tenant: 'herald' })

    const inHerald = { type: 'article', tenant: 'herald' }
    // The client sends whole user records. They include fields that a check does not have.
    expect(await permit.check(again.user as never, 'edit', inHerald)).toBe(true)
    expect(await permit.check(nora.key, 'edit', { ...inHerald, key: 'front-page' })).toBe(true)
    expect(await permit.check(nora.key, 'edit', { ...inHerald, attributes: { draft: true } })).toBe(true)
    expect(await permit.check('paul', 'edit', inHerald)).toBe(false)
    expect(await permit.check('paul', 'read', inHerald), 'by the role in the creation request').toBe(true)
    expect(await permit.check(nora.key, 'edit', 'article'), 'in the default tenant').toBe(false)
    expect(await permit.check(nora.key, 'print the money', inHerald)).toBe(false)
    expect(await permit.check('stranger', 'read', inHerald)).toBe(false)

    expect(
      await permit.bulkCheck([
        { user: nora.key, action: 'publish', resource: inHerald },
        { user: nora.key, action: 'edit', resource: inHerald },
        { user: 'paul', action: 'read', resource: inHerald },
        { user: 'paul', action: 'read', resource: 'article' },
      ]),
    ).toEqual([false, true, true, false])
    expect(await permit.bulkCheck([])).toEqual([])

    expect(await permit.getUserPermissions(nora.key)).toEqual({
      '__tenant:herald': {
        tenant: { key: 'herald', attributes: {} },
        permissions: ['edit:article', 'read:article'],
        roles: ['editor'],
      },
    })
    expect(await permit.getUserPermissions(nora.key, ['default'])).toEqual({})

    await api.users.unassignRole({ user: nora.key, role: 'editor', tenant: 'herald' })
    expect(await permit.check(nora.key, 'edit', inHerald)).toBe(false)
    await api.roleAssignments.assign({ user: nora.key, role: 'reader', tenant: 'herald' })
    expect(await permit.check(nora.key, 'read', inHerald)).toBe(true)
    const roles = await api.users.getAssignedRoles({ user: nora.key })
    expect(roles.map(({ role, tenant }) => [role, tenant])).toEqual([['reader', 'herald']])

    await api.resources.delete('article')
    await api.roles.delete('reader')
    await api.roles.delete('editor')
    await api.tenants.delete('herald')
    await api.users.delete(nora.key)
    await api.users.delete('paul')
    expect(await api.resources.list()).toEqual([])
    expect(await api.roles.list()).toEqual([])
    expect((await api.tenants.list()).map(({ key }) => key)).toEqual(['default'])
    expect((await api.users.list()).total_count).toBe(0)
    expect(await api.roleAssignments.list({})).toEqual([])
  })

  test('has the same decisions with useOpa, from the second listener', async () => {
    const host = await loopbackWithFree(SDK_OPA_PORT)
    const { permit } = await permitOfNewService(options, { host, opaPort: SDK_OPA_PORT })
    const { api } = permit
    await api.resources.create({ key: 'article', name: 'Article', actions: { read: {}, edit: {} } })
    await api.roles.create({ key: 'reader', name: 'Reader', permissions: ['article:read'] })
    const { user } = await api.users.sync({ key: 'paul' })
    const asks = [
      { who: 'paul', action: 'read', on: 'article' },
      { who: user as never, action: 'edit', on: 'article:front-page' },
      { who: 'paul', action: 'read', on: { type: 'article', key: 'front-page', tenant: 'default' } },
      { who: 'stranger', action: 'read', on: 'article' },
    ]
    const answers = (useOpa: boolean) =>
      Promise.all(asks.map(({ who, action, on }) => permit.check(who, action, on, {}, { useOpa })))
    expect(await answers(true)).toEqual([false, false, false, false])
    await api.roleAssignments.assign({ user: 'paul', role: 'reader', tenant: 'default' })
    expect(await answers(true)).toEqual([true, false, true, false])
    expect(await answers(false)).toEqual(await answers(true))
  })
})

test('a check with useOpa without the second listener is an error, not a deny', async () => {
  const { permit } = await permitOfNewService({}, { host: await loopbackWithFree(SDK_OPA_PORT) })
  await expect(permit.check('paul', 'read', 'article', {}, { useOpa: true })).rejects.toThrow('ECONNREFUSED')
})
