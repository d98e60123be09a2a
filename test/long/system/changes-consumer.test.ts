/** The example consumer of docs/change-stream.md, which is killed, and whose service is killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Random } from '#testing/data/random.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { API_KEY, FACTS, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { clientOf, startedProcess } from '../../support/processes/started-process.ts'

const CONSUMER = new URL('../../../docs/changes/search-index.mjs', import.meta.url).pathname

interface Index {
  readonly documents: Readonly<
    Record<string, { readonly resource: string; readonly key: string; readonly tenant: string }>
  >
  readonly assignments: Readonly<
    Record<string, { readonly user: string; readonly role: string; readonly resource_instance: string }>
  >
}

test('the index of the example consumer equals the lists after kills of the service and the consumer', async () => {
  const directory = storeDirectory()
  const random = new Random(7)
  const port = await freePort()
  const file = join(directory, 'index.json')
  const start = () => startedProcess({ PORT: String(port), LOG_LEVEL: 'error' }, { cwd: directory })
  const running: { service: ServiceProcess; consumer: ChildProcess | null } = {
    service: start(),
    consumer: null,
  }
  onTestFinished(() => void running.consumer?.kill('SIGKILL'))
  const client = await clientOf(running.service)
  const consume = (): void => {
    const consumerEnv = { ...process.env, VERDICT_URL: `http://127.0.0.1:${port}`, VERDICT_KEY: API_KEY }
    running.consumer = spawn(process.execPath, [CONSUMER, file], { env: consumerEnv, stdio: 'ignore' })
  }
  consume()
  const call = (method: string, path: string, body?: unknown) => running.service.call(method, path, body)
  await client.createDocumentModel()
  await client.users('u0', 'u1', 'u2')
  for (let round = 0; round < 6; round++) {
    for (let step = 0; step < 30; step++) await randomChange(random, call).catch(refusedOnly)
    // At this time, the consumer has not received all changes.
    if (random.chance(0.5)) {
      await running.service.end('SIGKILL')
      running.service = start()
      await running.service.address()
    } else {
      running.consumer!.kill('SIGKILL')
      await once(running.consumer!, 'exit')
      consume()
    }
  }
  const [instances, assignments] = await Promise.all([
    call('GET', `${FACTS}/resource_instances?per_page=100`),
    call('GET', `${FACTS}/role_assignments?per_page=100`),
  ])
  await expect
    .poll(() => namesIn(file))
    .toEqual({
      documents: (instances as Index['documents'][string][]).map(nameOfDocument).toSorted(),
      assignments: (assignments as Index['assignments'][string][]).map(nameOfAssignment).toSorted(),
    })
})

/** Ignores changes that the model rejects. */
function refusedOnly(error: unknown): void {
  if (!/: 4\d\d /u.test((error as Error).message)) throw error
}

function randomChange(
  random: Random,
  call: (method: string, path: string, body?: unknown) => Promise<unknown>,
): Promise<unknown> {
  const key = `d${random.below(8)}`
  const user = `u${random.below(3)}`
  const assigned = { user, role: 'viewer', resource_instance: `document:${key}`, tenant: 'default' }
  const [method, path, body] = random.pick([
    ['POST', `${FACTS}/resource_instances`, { resource: 'document', key, tenant: 'default' }],
    ['DELETE', `${FACTS}/resource_instances/document:${key}`],
    ['POST', `${FACTS}/role_assignments`, assigned],
    ['POST', `${FACTS}/role_assignments`, assigned],
    ['DELETE', `${FACTS}/role_assignments`, assigned],
    ['DELETE', `${FACTS}/users/${user}`],
    ['POST', `${FACTS}/users`, { key: user }],
  ] as const)
  return call(method, path, body)
}

function namesIn(file: string) {
  try {
    const { documents, assignments } = JSON.parse(readFileSync(file, 'utf8')) as Index
    return {
      documents: Object.values(documents).map(nameOfDocument).toSorted(),
      assignments: Object.values(assignments).map(nameOfAssignment).toSorted(),
    }
  } catch {
    return null
  }
}

function nameOfDocument({ resource, key, tenant }: Index['documents'][string]): string {
  return `${tenant}/${resource}:${key}`
}

function nameOfAssignment({ user, role, resource_instance: on }: Index['assignments'][string]): string {
  return `${user} ${role} ${on}`
}
