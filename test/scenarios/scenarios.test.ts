/** Use cases: one model file each in this folder. All implementations must pass the `tests` in the files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { HttpApi } from '#cli/session/http-api.ts'
import { InProcessApi } from '#cli/session/in-process-api.ts'
import { applyPlan } from '#cli/model-file/apply-plan.ts'
import { EnvironmentState } from '#cli/model-file/environment-state.ts'
import { desiredState } from '#cli/model-file/desired-state.ts'
import { planOf } from '#cli/model-file/plan.ts'
import { readModelFile } from '#cli/model-file/read-model-file.ts'
import type { Change } from '#model/change.ts'
import type { ModelFile } from '#entities/model-file.ts'
import { loadChanges } from '#replica/load-changes.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { Oracle } from '#testing/oracle/oracle.ts'
import { ADMIN_KEY, Client, neighbourOf } from '#testing/processes/running-service.ts'
import { answersOfApi, answersOfEngine, answersOfOracle, differences } from './columns.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))

const scenarios = readdirSync(FOLDER)
  .filter(name => name.endsWith('.yaml'))
  .map(name => ({ name, file: readModelFile(readFileSync(join(FOLDER, name), 'utf8'), name) }))

/** Changes that a service stored for each file, and unexpected decisions over HTTP. */
const stored = new Map<string, readonly Change[]>()
const overHttp = new Map<string, readonly string[]>()

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-scenarios-'))
  const storeUrl = `lmdb:${directory}`
  try {
    const client = await Client.start({ storeUrl })
    const ids = new Map<string, string>()
    for (const { name, file } of scenarios) {
      const environment = name.replace('.yaml', '')
      const key = await neighbourOf(client, environment)
      const api = new HttpApi(client.address, key)
      await applyPlan(api, `default/${environment}`, stepsOf(file), () => {})
      overHttp.set(name, await differences(file.tests ?? [], answersOfApi(api)))
      const found = await client.send<{ id: string }>('GET', `/v2/projects/default/envs/${environment}`, {
        key: ADMIN_KEY,
      })
      ids.set(name, found.body.id)
    }
    await client.close()
    const store = await openStore(storeUrl, listRule)
    for (const [name, id] of ids) stored.set(name, [...loadChanges((await store.environment(id)).view)])
    await store.close()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

/** Steps that turn a new environment into the environment that the file describes. */
function stepsOf(file: ModelFile) {
  const present = new EnvironmentState()
  present.tenants.set('default', { name: 'Default tenant' })
  return planOf(present, desiredState(file), { model: false, facts: false })
}

test('there are at least twelve scenarios, each with allowed and denied checks', () => {
  expect(scenarios.length).toBeGreaterThanOrEqual(12)
  for (const { name, file } of scenarios) {
    const tests = file.tests ?? []
    expect(
      tests.some(({ allow, users, resources }) => allow ?? users ?? resources),
      name,
    ).toBe(true)
    expect(
      tests.some(({ deny }) => deny),
      name,
    ).toBe(true)
  }
})

describe.each(scenarios)('$name', ({ name, file }) => {
  const tests = file.tests ?? []

  test('is decided as expected by the oracle', async () => {
    const oracle = new Oracle()
    oracle.apply(stored.get(name)!)
    expect(await differences(tests, answersOfOracle(oracle, stored.get(name)!))).toEqual([])
  })

  test('is decided as expected by the shared index', async () => {
    const engine = SharedEngine.with(stored.get(name)!)
    expect(await differences(tests, answersOfEngine(engine))).toEqual([])
  })

  test('is decided as expected by a service in this process', async () => {
    const api = await InProcessApi.open()
    try {
      await applyPlan(api, 'default/default', stepsOf(file), () => {})
      expect(await differences(tests, answersOfApi(api))).toEqual([])
    } finally {
      await api.close()
    }
  })

  test('is decided as expected by a service over HTTP', () => {
    expect(overHttp.get(name)).toEqual([])
  })
})
