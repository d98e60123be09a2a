/** Removals and key creations that overlap. The store is lmdb, because commits in memory are immediate. */
import { describe, expect, test } from 'vitest'
import type { ApiKeyRecord } from '#entities/organization-records.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { organizationService } from '../../support/running-organization.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { errorCodeOf } from '../../support/documents/error-codes.ts'

const onProject = { proj_id: 'shop' }
const onEnvironment = { ...onProject, env_id: 'staging' }

/** After this number of microtasks, a commit has been passed to lmdb, and is not complete. */
const HEAD_START = 40

describe.each([
  ['an environment', 'deleteEnvironment', onEnvironment, { project_id: 'shop', environment_id: 'staging' }],
  ['a project (nested key)', 'deleteProject', onProject, { project_id: 'shop', environment_id: 'staging' }],
  ['a project', 'deleteProject', onProject, { project_id: 'shop' }],
] as const)('the removal of %s', (_, removal, params, body) => {
  test.each([
    ['first', [null, 'NOT_FOUND']],
    ['second', [null, null]],
  ] as const)('that comes %s also removes a key that is created concurrently', async (place, expected) => {
    const { organization, service, principal } = await organizationService(`lmdb:${storeDirectory()}`)
    const execute = (name: Parameters<typeof service.execute>[0], input: unknown) =>
      service.execute(name, principal, input)
    const keys = () =>
      [...new RecordReader(organization.store.view).list('api-key', lists.all('api-key'))] as ApiKeyRecord[]
    const before = keys()
    await execute('createProject', { body: { key: 'shop', name: 'Shop', initial_environments: [] } })
    await execute('createEnvironment', { params: onProject, body: { key: 'staging', name: 'Staging' } })
    const remove = () => errorCodeOf(execute(removal, { params }))
    const create = () => errorCodeOf(execute('createApiKey', { body }))
    const [first, second] = place === 'first' ? [remove, create] : [create, remove]
    const began = first()
    for (let turn = 0; turn < HEAD_START; turn += 1) await undefined
    expect(await Promise.all([began, second()])).toEqual(expected)
    expect(keys()).toEqual(before)
  })
})
