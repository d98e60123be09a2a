/** Limits of projects, environments and API keys per organization (`model/limits.ts`). */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { API_KEYS_MAX, ENVIRONMENTS_MAX, PROJECTS_MAX } from '#model/limits.ts'
import type { StoredRecord } from '#entities/records.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { organizationService } from '../../support/running-organization.ts'

test.each([
  ['projects', 'project', PROJECTS_MAX, 'createProject'],
  ['environments', 'environment', ENVIRONMENTS_MAX, 'createEnvironment'],
  ['API keys', 'api-key', API_KEYS_MAX, 'createApiKey'],
] as const)('an organization can have a limited number of %s', async (what, kind, maximum, operation) => {
  const { organization, service, principal } = await organizationService()
  const { view } = organization.store
  const count = () => view.count(lists.all(kind))
  const [existing] = new RecordReader(view).list(kind, lists.all(kind))
  const copies = Array.from({ length: maximum - 1 - count() }, () => {
    const id = randomUUID()
    return { ...existing, id, key: id, secretHash: id } as unknown as StoredRecord
  })
  await organization.commits.run(records => copies.forEach(record => records.put(record)))
  const create = (key: string) => {
    const body = kind === 'api-key' ? { object_type: 'org' } : { key, name: key }
    return service.execute(operation, principal, { params: { proj_id: 'default' }, body })
  }
  // Concurrent requests compete for the last slot.
  const outcomes = await Promise.allSettled(['one', 'other', 'third'].map(create))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(count()).toBe(maximum)
  await expect(create('fourth')).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: `an organization has at most ${maximum} ${what}: remove some first`,
  })
})
