/** A process is killed during an import. The next start restores the former state of the environment. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { content } from '../../support/content.ts'
import { API_KEY, storeDirectory } from '#testing/processes/running-service.ts'
import { startedProcess } from '../../support/processes/started-process.ts'

const ENVIRONMENT = '/v2/projects/default/envs/default'

function send(
  address: string,
  method: string,
  path: string,
  body?: string | AsyncIterable<Uint8Array>,
): Promise<Response> {
  return fetch(address + path, {
    method,
    headers: { authorization: `Bearer ${API_KEY}` },
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit)
}

/** Directories of the environments and the organization. */
function onDisk(cwd: string): string[] {
  return readdirSync(join(cwd, 'data')).filter(name => !name.startsWith('verdict.lock'))
}

test.each(['while the lines are sent', 'after all lines were sent'])(
  'a start after a kill %s keeps the former content and accepts the import again',
  async moment => {
    const users = Array.from({ length: 20_000 }, (_, user) => ({ kind: 'user', key: `user-${user}` }))
    const text = content({ kind: 'tenant', key: 'default', name: 'Default' }, ...users)
    const cwd = storeDirectory()
    const service = startedProcess({}, { cwd })
    const first = await service.address()
    const user = JSON.stringify({ key: 'alice' })
    expect((await send(first, 'POST', '/v2/facts/default/default/users', user)).status).toBe(200)
    const before = await (await send(first, 'GET', `${ENVIRONMENT}/export`)).text()

    const isSent = Promise.withResolvers<void>()
    async function* pieces() {
      yield Buffer.from(text.slice(0, text.length - 1_000))
      if (moment === 'after all lines were sent') yield Buffer.from(text.slice(-1_000))
      isSent.resolve()
      if (moment === 'while the lines are sent') await service.exited
    }
    const path = `${ENVIRONMENT}/import?replace=true`
    const lost = send(first, 'POST', path, pieces()).catch(() => null)
    await isSent.promise
    // The files of the import exist before its first line is processed.
    await expect.poll(() => onDisk(cwd), { interval: 5 }).toHaveLength(3)
    await service.end('SIGKILL')
    await lost

    const second = await startedProcess({}, { cwd }).address()
    const found = await (await send(second, 'GET', `${ENVIRONMENT}/export`)).text()
    expect(found).toBe(before)
    expect(onDisk(cwd)).toHaveLength(2)
    expect((await send(second, 'POST', path, text)).status).toBe(200)
    expect(await (await send(second, 'GET', `${ENVIRONMENT}/export`)).text()).toContain('user-19999')
    expect(onDisk(cwd)).toHaveLength(2)
  },
)
