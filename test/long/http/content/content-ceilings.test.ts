/** Large exports and imports, and the limits on concurrent exports and imports. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { EXPORTS_PER_ENVIRONMENT_MAX, IMPORTS_PER_ENVIRONMENT_MAX } from '#model/limits.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import {
  API_KEY,
  type Client,
  neighbourOf,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { content, contentOf, importInto } from '../../../support/content.ts'
import { sharedDirectory } from '../../../support/processes/temporary-directories.ts'

const EXPORT = '/v2/projects/default/envs/default/export'

test('imports and exports can exceed the limit of request bodies', async () => {
  const verdict = await startedService({ bodyBytesMax: 10_000, storeUrl: `lmdb:${storeDirectory()}` })
  const key = await neighbourOf(verdict, 'large')
  const users = Array.from({ length: 20_000 }, (_, index) => ({
    kind: 'user',
    key: `user-${index}`,
    email: null,
  }))
  const text = content({ kind: 'tenant', key: 'default', name: 'D' }, ...users)
  expect(text.length).toBeGreaterThan(50 * 10_000)
  const answer = await importInto(verdict, 'large', text, key)
  expect(answer.body).toMatchObject({ counts: { user: 20_000 } })
  const path = EXPORT.replace('envs/default', 'envs/large')
  const exported = await contentOf(verdict, path, key)
  expect(exported.split('\n')).toHaveLength(20_003 + 1)
  // A reader that is slow or disconnects delays no other request.
  const slow = await fetch(verdict.address + path, { headers: { authorization: `Bearer ${key}` } })
  await verdict.send('POST', '/v2/facts/default/large/users', { key, body: { key: 'late' } })
  expect(await slow.text()).toBe(exported)
  const given = await fetch(verdict.address + path, { headers: { authorization: `Bearer ${key}` } })
  await given.body!.cancel()
  expect(await contentOf(verdict, path, key)).toContain('"late"')
})

const directory = sharedDirectory()

describe('concurrent exports and imports', () => {
  let verdict: Client
  const status = async (ask: () => Promise<{ status: number }>) => (await ask()).status
  const exported = async () => {
    const answer = await fetch(verdict.address + EXPORT, { headers: { authorization: `Bearer ${API_KEY}` } })
    await answer.body!.cancel()
    return answer.status
  }

  beforeAll(async () => {
    verdict = await sharedService({ storeUrl: `lmdb:${directory}` })
    // The export must not fit into the buffers of a socket.
    const long = 'x'.repeat(10_000)
    const users = Array.from({ length: 2_000 }, (_, i) => ({ kind: 'user', key: `u${i}`, first_name: null }))
    const attributed = users.map(user => ({ ...user, attributes: { long } }))
    const text = content({ kind: 'tenant', key: 'default', name: 'D' }, ...attributed)
    await importInto(verdict, 'default', text, API_KEY)
  })

  async function begun(method: string, path: string, headers: string): Promise<Socket> {
    const socket = connect(verdict.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n${headers}\r\n`,
    )
    return socket
  }

  test('exports above the limit of an environment receive 429 until a reader leaves', async () => {
    const key = await neighbourOf(verdict, 'exporting')
    const readers = await Promise.all(
      Array.from({ length: EXPORTS_PER_ENVIRONMENT_MAX }, () => begun('GET', EXPORT, '')),
    )
    await Promise.all(readers.map(reader => once(reader, 'readable')))
    const refused = await verdict.send('GET', EXPORT)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect(refused.body).toMatchObject({ message: expect.stringContaining('4 exports of this environment') })
    const scrape = await Scrape.of(verdict.address)
    expect(scrape.sum('verdict_limit_reached_total', { limit: 'content' })).toBe(1)
    expect((await verdict.send('GET', '/v2/projects/default/envs/exporting/export', { key })).status).toBe(
      200,
    )
    readers[0]!.destroy()
    await expect.poll(exported).toBe(200)
    for (const reader of readers) reader.destroy()
  })

  test('slots of exports are free again after clients disconnect before the response', async () => {
    const callers = await Promise.all(
      Array.from({ length: EXPORTS_PER_ENVIRONMENT_MAX }, () => begun('GET', EXPORT, '')),
    )
    const gone = callers.map(caller => once(caller.destroy(), 'close'))
    await Promise.all(gone)
    await expect.poll(exported).toBe(200)
  })

  test('imports above the limit of an environment receive 429 until a sender leaves', async () => {
    const path = EXPORT.replace('/export', '/import?replace=true')
    const wrong = () => verdict.send('POST', path, { text: 'nothing' })
    const length = 'Content-Length: 1000000\r\n'
    const senders = await Promise.all(
      Array.from({ length: IMPORTS_PER_ENVIRONMENT_MAX }, () => begun('POST', path, length)),
    )
    // The probe is also an import. It must not start before the other imports.
    const underWay = async () => (await Scrape.of(verdict.address)).sum('verdict_management_in_flight', {})
    await expect.poll(underWay).toBe(IMPORTS_PER_ENVIRONMENT_MAX)
    await expect.poll(() => status(wrong)).toBe(429)
    const refused = await wrong()
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect(refused.body).toMatchObject({ message: expect.stringContaining('2 imports of this environment') })
    for (const sender of senders) sender.destroy()
    await expect.poll(() => status(wrong)).toBe(400)
  })
})
