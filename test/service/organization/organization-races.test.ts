/**
 * Removals that overlap with the creation of keys and grants. The store is lmdb, because commits in memory
 * are immediate.
 */
import { describe, expect, test } from 'vitest'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { organizationService } from '../../support/running-organization.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { errorCodeOf } from '../../support/documents/error-codes.ts'

const onProject = { proj_id: 'shop' }
const onEnvironment = { ...onProject, env_id: 'staging' }

const MEMBERS = {
  issuer: 'https://id.example.com',
  publicUrl: 'https://verdict.example.com',
  owners: { owners: new Set<string>(), ownerGroups: new Set<string>() },
}

/** After this number of microtasks, a commit has been passed to lmdb, and is not complete. */
const HEAD_START = 40

describe.each([
  ['an environment', 'deleteEnvironment', onEnvironment, { project_id: 'shop', environment_id: 'staging' }],
  ['a project (nested key)', 'deleteProject', onProject, { project_id: 'shop', environment_id: 'staging' }],
  ['a project', 'deleteProject', onProject, { project_id: 'shop' }],
] as const)('the removal of %s', (_, removal, params, body) => {
  const { project_id } = body
  const object_type = 'environment_id' in body ? 'env' : 'project'
  const permissions = [{ ...body, object_type, access_level: 'read' }]
  test.each([
    ['first', 'a key', 'createApiKey', body, [null, 'NOT_FOUND']],
    ['second', 'a key', 'createApiKey', body, [null, null]],
    ['first', 'a grant', 'createMember', { subject: 'ann', permissions }, [null, 'NOT_FOUND']],
    ['second', 'a grant', 'createMember', { subject: 'ann', permissions }, [null, null]],
    ['second', 'a grant', 'createMemberGroup', { group: project_id, permissions }, [null, null]],
  ] as const)(
    'that comes %s also removes %s that is created concurrently',
    async (place, _kind, operation, created, expected) => {
      const url = `lmdb:${storeDirectory()}`
      const { organization, service, principal } = await organizationService(url, { members: MEMBERS })
      const execute = (name: Parameters<typeof service.execute>[0], input: unknown) =>
        service.execute(name, principal, input)
      const rows = () => {
        const records = new RecordReader(organization.store.view)
        const members = [...records.list('member', lists.all('member'))]
        const groups = [...records.list('member-group', lists.all('member-group'))]
        const grants = [...members, ...groups].flatMap(each => each.grants)
        return [...records.list('api-key', lists.all('api-key')), ...grants]
      }
      const before = rows()
      await execute('createProject', { body: { key: 'shop', name: 'Shop', initial_environments: [] } })
      await execute('createEnvironment', { params: onProject, body: { key: 'staging', name: 'Staging' } })
      const remove = () => errorCodeOf(execute(removal, { params }))
      const create = () => errorCodeOf(execute(operation, { body: created }))
      const [first, second] = place === 'first' ? [remove, create] : [create, remove]
      const began = first()
      for (let turn = 0; turn < HEAD_START; turn += 1) await undefined
      expect(await Promise.all([began, second()])).toEqual(expected)
      expect(rows()).toEqual(before)
    },
  )
})
