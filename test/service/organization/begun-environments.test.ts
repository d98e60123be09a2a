/**
 * The mark that an environment had its first commit. If the mark is set and the data is missing, the service
 * knows that the store lost data.
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EnvironmentRecord } from '#entities/organization-records.ts'
import { DraftCommits } from '#management/drafts/commit-draft.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { lists, listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { contentOf, importInto } from '../../support/content.ts'
import {
  ADMIN_KEY,
  FACTS,
  neighbourOf,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { runtimeServicesWith } from '../../support/runtime-services.ts'

const ENVS = '/v2/projects/default/envs'

/** Applies `change` to all environment records and returns them. No service may have the store open. */
async function environmentRecords(
  directory: string,
  change: (record: EnvironmentRecord) => EnvironmentRecord = record => record,
): Promise<EnvironmentRecord[]> {
  const store = await openStore(`lmdb:${directory}`, listRule)
  try {
    const organization = await store.environment(ORGANIZATION_STORE_ID)
    const runtime = runtimeServicesWith({ newCommitId: () => randomBytes(16) })
    const { answer } = await new DraftCommits(organization, runtime).run(records => {
      const found = [...records.list('environment', lists.all('environment'))]
      for (const record of found) records.put(change(record))
      return found
    })
    return answer
  } finally {
    await store.close()
  }
}

test('an environment is marked at its first commit, so that it is closed and not reinitialized if its data is lost', async () => {
  const directory = storeDirectory()
  const settings = { storeUrl: `lmdb:${directory}` }
  const first = await startedService(settings)
  await neighbourOf(first, 'made')
  const copied = await first.send('POST', `${ENVS}/default/copy`, {
    key: ADMIN_KEY,
    body: { target_env: { new: { key: 'copied', name: 'Copied' } } },
  })
  expect(copied.status).toBe(201)
  const key = await neighbourOf(first, 'imported')
  await importInto(first, 'imported', await contentOf(first, `${ENVS}/default/export`), key)
  await first.close()
  const earlier = await environmentRecords(directory, record => ({ ...record, isBegun: null }))
  expect(earlier.map(record => [record.key, record.isBegun])).toEqual(
    ['default', 'made', 'copied', 'imported'].map(name => [name, true]),
  )

  const upgraded = await startedService(settings)
  await upgraded.close()
  const noted = await environmentRecords(directory)
  expect(noted.map(({ isBegun }) => isBegun)).toEqual([true, true, true, true])

  const { id } = noted.find(record => record.key === 'default')!
  rmSync(join(directory, id), { recursive: true })
  const last = await startedService(settings)
  expect((await last.get(`${FACTS}/users`)).status).toBe(503)
  expect((await last.send('GET', '/v2/facts/default/imported/users', { key })).status).toBe(200)
  const told = await last.send<{ closed?: object }>('GET', `${ENVS}/default`, { key: ADMIN_KEY })
  expect(told.body.closed).toMatchObject({ reason: expect.stringMatching(/lost a part of its data/) })
})
