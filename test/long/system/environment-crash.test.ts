/** Crashes while environments are created, copied and deleted. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { DraftCommits } from '#management/drafts/commit-draft.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { listRule, lists } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { type Client, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { clientOf, startedProcess } from '../../support/processes/started-process.ts'

const ENVS = '/v2/projects/default/envs'
let cwd: string
let service: ServiceProcess

beforeEach(() => {
  cwd = storeDirectory()
})

function start(): Promise<Client> {
  service = startedProcess({ HTTP_THREADS: '2' }, { cwd })
  return clientOf(service)
}

/** Ids of the listed environments. Each of them must respond. */
async function listed(client: Client): Promise<string[]> {
  const { body: found } = await client.admin<{ id: string }[]>('GET', `${ENVS}?per_page=100`)
  for (const { id } of found) {
    const tenants = await client.admin('GET', `/v2/facts/default/${id}/tenants`)
    expect([id, tenants.status, tenants.body]).toMatchObject([id, 200, [{ key: 'default' }]])
  }
  return found.map(({ id }) => id).toSorted()
}

function onDisk(): string[] {
  const names = readdirSync(join(cwd, 'data')).filter(name => name !== ORGANIZATION_STORE_ID)
  return names.filter(name => !name.startsWith('verdict.lock')).toSorted()
}

test('after a kill while environments are created and deleted, each is complete or does not exist', async () => {
  for (let round = 0; round < 4; round += 1) {
    const client = await start()
    let answered = 0
    const killed = Promise.withResolvers<void>()
    const calls = Array.from({ length: 6 }, async (_, caller) => {
      for (let turn = 0; ; turn += 1) {
        const key = `e-${round}-${caller}-${turn}`
        const made = await client.admin('POST', ENVS, { key, name: key })
        const copied = await client.admin('POST', `${ENVS}/${key}/copy`, {
          target_env: { new: { key: `${key}-copy`, name: key } },
        })
        const removed = await client.admin('DELETE', `${ENVS}/${key}`)
        expect([made.status, copied.status, removed.status]).toEqual([200, 201, 204])
        answered += 1
        if (answered === 3 + round * 2) void service.end('SIGKILL').then(() => killed.resolve())
      }
    })
    const settled = Promise.allSettled(calls)
    await Promise.race([killed.promise, settled])
    // Callers lost their connection, and no earlier response was wrong.
    for (const outcome of await settled) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'fetch failed' } })
    }
    const next = await start()
    expect(await listed(next)).toEqual(onDisk())
    expect(await service.end('SIGTERM')).toBe(0)
  }
})

test('a start completes an interrupted deletion and cleans up an interrupted copy', async () => {
  await start()
  await service.end('SIGTERM')
  const removed = randomUUID()
  const copy = randomUUID()
  await changeOrganization(records => {
    const [project] = records.list('project', lists.all('project'))
    const times = { createdAt: 0, updatedAt: 0 }
    const names = { key: 'half', name: 'Half', description: null, customBranchName: null }
    const rest = { jwks: null, settings: null, isBeingLoaded: false, isBeingCopied: true, isBegun: false }
    records.put({ kind: 'environment', id: copy, projectId: project!.id, ...names, ...rest, ...times })
    records.put({ kind: 'removed-environment', id: removed })
  })
  for (const id of [removed, copy]) {
    mkdirSync(join(cwd, 'data', id))
    writeFileSync(join(cwd, 'data', id, 'data.mdb'), 'not even a database')
  }
  const client = await start()
  expect(await listed(client)).toEqual(onDisk())
  expect(onDisk()).toHaveLength(1)
  expect((await client.admin('POST', ENVS, { key: 'half', name: 'Whole' })).status).toBe(200)
  await service.end('SIGTERM')
  await changeOrganization(records => {
    expect([...records.list('removed-environment', lists.all('removed-environment'))]).toEqual([])
  })
})

/** Writes rows as a service leaves them if it dies between two of its commits. */
async function changeOrganization(write: (records: Draft) => void): Promise<void> {
  const store = await openStore(`lmdb:${join(cwd, 'data')}`, listRule)
  const organization = await store.environment(ORGANIZATION_STORE_ID)
  expect(new RecordReader(organization.view).count(lists.all('organization'))).toBe(1)
  const runtime = {
    newCommitId: () => randomBytes(16),
    elapsedMs: () => performance.now(),
    attributesBytesMax: 65_536,
    onCommit: () => {},
  }
  await new DraftCommits(organization, runtime).run(write)
  await store.close()
}
