/** The example program of docs/filter.md runs with a service, SQLite and Kysely. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { API_KEY, FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

const EXAMPLE = fileURLToPath(new URL('../../docs/examples/filter/list-documents.mjs', import.meta.url))

test('the example lists the rows that a user owns or reaches through a folder', async () => {
  const service = await sharedService()
  await service.createFolderModel()
  await service.users('ann', 'bob', 'eve')
  for (const key of ['acme', 'globex']) {
    expect((await service.post(`${FACTS}/tenants`, { key, name: key })).status).toBe(200)
  }
  const plans = { key: 'plans', resource: 'folder', tenant: 'acme' }
  expect((await service.post(`${FACTS}/resource_instances`, plans)).status).toBe(200)
  const viewer = { user: 'ann', role: 'viewer', tenant: 'acme', resource_instance: 'folder:plans' }
  expect((await service.post(`${FACTS}/role_assignments`, viewer)).status).toBe(200)
  for (const key of ['roadmap', 'budget']) {
    const tuple = { subject: 'folder:plans', relation: 'parent', object: `document:${key}`, tenant: 'acme' }
    expect((await service.post(`${FACTS}/relationship_tuples`, tuple)).status).toBe(200)
  }
  const conditions = { 'resource.owner': { equals: { ref: 'user.key' } } }
  const own = { key: 'own', name: 'Own', type: 'resourceset', resource_id: 'document', conditions }
  const everyone = { key: 'everyone', name: 'Everyone', conditions: {} }
  for (const set of [own, everyone]) {
    expect((await service.post(`${SCHEMA}/condition_sets`, set)).status).toBe(200)
  }
  const rule = { user_set: 'everyone', permission: 'document:read', resource_set: 'own' }
  expect((await service.post(`${FACTS}/set_rules`, rule)).status).toBe(200)
  const env = { ...process.env, VERDICT: service.address, KEY: API_KEY }
  const printed = async (user: string) => {
    const words = ['--disable-warning=ExperimentalWarning', EXAMPLE, user]
    return (await promisify(execFile)(process.execPath, words, { env })).stdout
  }
  // The offer is in a folder of the same key, but in another tenant.
  expect(await printed('ann')).toBe('ann can read 3 documents\nbudget, offer\nroadmap\n')
  expect(await printed('bob')).toBe('bob can read 2 documents\nbudget, salaries\n')
  expect(await printed('eve')).toBe('eve can read 0 documents\n')
})
