/** Deleting a part of a schema also removes its dependents from decisions and lists (native.md C.7). */
import { describe, expect, test } from 'vitest'
import type { GroupRead } from '#entities/group.ts'
import type { Resource } from '#entities/resource.ts'
import type { TenantRole } from '#entities/role.ts'
import {
  type Client,
  groupPath,
  GROUPS,
  RESOURCES,
  SCHEMA,
  startedService,
} from '#testing/processes/running-service.ts'

const DOCUMENT = `${RESOURCES}/document`
const KEEPS = { role: 'keeper', on_resource: 'folder', linked_by_relation: 'parent' }

/**
 * A service with documents in folders. Keepers of a folder are viewers of its documents. Alice is a keeper
 * of `f1`, which contains `d1`; Bob is an editor of `d1`; Carl is an auditor; Dora is in the group `team`,
 * an editor of `d1`.
 */
async function serviceWithModel(): Promise<Client> {
  const verdict = await startedService()
  await verdict.resource({ key: 'folder', roles: { keeper: { name: 'Keeper' } } })
  await verdict.resource({
    key: 'document',
    actions: { read: {}, update: {} },
    roles: {
      viewer: { name: 'V', permissions: ['read'], granted_to: { users_with_role: [KEEPS] } },
      editor: { name: 'E', permissions: ['update'], extends: ['viewer'] },
    },
    relations: { parent: 'folder' },
  })
  await verdict.post(`${DOCUMENT}/action_groups`, { key: 'all', name: 'All', actions: ['read', 'update'] })
  await verdict.tenantRole('auditor', ['document:read', 'document:update'])
  await verdict.users('alice', 'bob', 'carl', 'dora')
  await verdict.assign('alice', 'keeper', 'folder:f1')
  await verdict.relate('folder:f1', 'parent', 'document:d1')
  await verdict.assign('bob', 'editor', 'document:d1')
  await verdict.assign('carl', 'auditor', 'default')
  await verdict.group('team')
  await verdict.join('team', 'dora')
  await verdict.grant('team', 'editor', 'document:d1')
  expect(await allowed(verdict)).toEqual([
    'alice read',
    'bob read',
    'bob update',
    'carl read',
    'carl update',
    'dora read',
    'dora update',
  ])
  return verdict
}

/** Permissions of all users on `document:d1`. */
async function allowed(verdict: Client): Promise<string[]> {
  const found: string[] = []
  for (const user of ['alice', 'bob', 'carl', 'dora']) {
    for (const action of ['read', 'update']) {
      if (await verdict.allows(user, action, 'document:d1')) found.push(`${user} ${action}`)
    }
  }
  return found
}

const documents = async (verdict: Client) => (await verdict.get<Resource>(DOCUMENT)).body
const auditor = async (verdict: Client) => (await verdict.get<TenantRole>(`${SCHEMA}/roles/auditor`)).body
const team = async (verdict: Client) => (await verdict.get<GroupRead>(groupPath('team'))).body

test.each([
  ['DELETE', `${DOCUMENT}/actions/update`, undefined],
  ['PATCH', DOCUMENT, { actions: { read: {} } }],
  [
    'PUT',
    DOCUMENT,
    {
      name: 'D',
      actions: { read: {} },
      roles: { viewer: { name: 'V', permissions: ['read'] }, editor: { name: 'E', extends: ['viewer'] } },
      relations: { parent: 'folder' },
    },
  ],
])(
  'deleting an action also removes it from roles and action groups (native.md D-33): %s',
  async (method, path, body) => {
    const verdict = await serviceWithModel()
    const answer = await verdict.send(method, path, { body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(method === 'DELETE' ? 204 : 200)
    const document = await documents(verdict)
    expect(document.roles['editor']!.permissions).toEqual([])
    expect(document.action_groups).toEqual({ all: ['read'] })
    expect((await auditor(verdict)).permissions).toEqual(['document:read'])
    expect((await allowed(verdict)).filter(text => text.endsWith('update'))).toEqual([])
    // A new action with the same key is not in roles and action groups.
    await verdict.post(`${DOCUMENT}/actions`, { key: 'update', name: 'Update' })
    expect((await allowed(verdict)).filter(text => text.endsWith('update'))).toEqual([])
    expect((await auditor(verdict)).permissions).toEqual(['document:read'])
  },
)

describe('deleting a resource', () => {
  test('also deletes its roles, relations, instances and permissions for good', async () => {
    const verdict = await serviceWithModel()
    expect((await verdict.delete(DOCUMENT)).status).toBe(204)
    expect(await allowed(verdict)).toEqual([])
    expect((await auditor(verdict)).permissions).toEqual([])
    expect((await team(verdict)).assigned_roles).toEqual(['group:team#member'])
    await verdict.createDocumentModel()
    expect(await allowed(verdict)).toEqual([])
    expect((await documents(verdict)).relations).toEqual({})
    await verdict.instance('document:d1')
    expect(await allowed(verdict)).toEqual([])
  })

  test('also deletes relations of other resources to it, and the groups of a group type', async () => {
    const verdict = await serviceWithModel()
    expect((await verdict.delete(`${RESOURCES}/folder`)).status).toBe(204)
    const document = await documents(verdict)
    expect(Object.keys(document.relations)).toEqual(['group_group_editor'])
    expect(document.roles['viewer']!.granted_to.users_with_role).toEqual([])
    expect(await allowed(verdict)).not.toContain('alice read')
    expect((await verdict.delete(`${RESOURCES}/group`)).status).toBe(204)
    expect((await documents(verdict)).relations).toEqual({})
    expect((await verdict.get(GROUPS)).body).toEqual([])
    expect(await allowed(verdict)).toEqual(['bob read', 'bob update', 'carl read', 'carl update'])
    await verdict.group('team')
    expect(await team(verdict)).toMatchObject({ users: [], assigned_roles: ['group:team#member'] })
  })
})
