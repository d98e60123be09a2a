/** A process that dies in the middle of an import: the next start finds the environment as it was, and nothing else. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { content } from '../../support/content.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const API_KEY = 'an-environment-key-for-tests'
const ENVIRONMENT = '/v2/projects/default/envs/default'
let cwd: string
let service: ServiceProcess

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'verdict-import-'))
})

afterEach(async () => {
  await service.end('SIGKILL')
  rmSync(cwd, { recursive: true, force: true })
})

async function start(): Promise<string> {
  service = new ServiceProcess({ cwd, env: { API_KEY, HTTP_THREADS: '1', STORE_URL: 'lmdb:data' } })
  return service.address()
}

function send(
  address: string,
  method: string,
  path: string,
  body?: string | AsyncIterable<Uint8Array>,
): Promise<Response> {
  const headers = { authorization: `Bearer ${API_KEY}` }
  return fetch(address + path, {
    method,
    headers,
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit)
}

/** The directories of environments, that of the organization among them. */
function onDisk(): string[] {
  return readdirSync(join(cwd, 'data')).filter(name => !name.startsWith('verdict.lock'))
}

test.each(['while the lines are sent', 'when all lines are there'])(
  'killed %s, the next start has what was there before and takes the import then',
  async moment => {
    const users = Array.from({ length: 20_000 }, (_, user) => ({ kind: 'user', key: `user-${user}` }))
    const text = content({ kind: 'tenant', key: 'default', name: 'Default' }, ...users)
    const first = await start()
    const user = JSON.stringify({ key: 'alice' })
    expect((await send(first, 'POST', '/v2/facts/default/default/users', user)).status).toBe(200)
    const before = await (await send(first, 'GET', `${ENVIRONMENT}/export`)).text()

    const isSent = Promise.withResolvers<void>()
    async function* pieces() {
      yield Buffer.from(text.slice(0, text.length - 1_000))
      if (moment === 'when all lines are there') yield Buffer.from(text.slice(-1_000))
      isSent.resolve()
      // The rest never comes.
      if (moment === 'while the lines are sent') await service.exited
    }
    const path = `${ENVIRONMENT}/import?replace=true`
    const lost = send(first, 'POST', path, pieces()).catch(() => null)
    await isSent.promise
    // Its files are there before the first line is taken.
    await expect.poll(onDisk, { interval: 5 }).toHaveLength(3)
    await service.end('SIGKILL')
    await lost

    const second = await start()
    const found = await (await send(second, 'GET', `${ENVIRONMENT}/export`)).text()
    expect(found).toBe(before)
    expect(onDisk()).toHaveLength(2)
    expect((await send(second, 'POST', path, text)).status).toBe(200)
    expect(await (await send(second, 'GET', `${ENVIRONMENT}/export`)).text()).toContain('user-19999')
    expect(onDisk()).toHaveLength(2)
  },
)
