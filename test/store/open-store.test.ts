/** Opening a store by its URL: accepted and refused URLs, and the separation of environments. */
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { openStore } from '#store/open/open-store.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { bytes, commitOf, everyone, toyRule } from './toy-rows.ts'

let directory: string
beforeEach(() => (directory = storeDirectory()))

for (const kind of ['memory', 'lmdb']) {
  const open = () => openStore(kind === 'memory' ? 'memory:' : `lmdb:${join(directory, 'data')}`, toyRule)

  test(`${kind}: environments of a store have separate epochs and rows`, async () => {
    const store = await open()
    const [one, other] = [await store.environment('one'), await store.environment('other')]
    expect(await store.environment('one')).toBe(one)
    await one.ledger.commit(commitOf({ put: { alice: 'ar' } }))
    expect(one.view.count(everyone)).toBe(1)
    expect(other.view.count(everyone)).toBe(0)
    expect((await one.ledger.head()).epoch).not.toBe((await other.ledger.head()).epoch)
    await store.close()
  })

  test(`${kind}: if two callers open an environment concurrently, it is opened only once`, async () => {
    const store = await open()
    const [first, second] = await Promise.all([store.environment('one'), store.environment('one')])
    expect(first).toBe(second)
    await store.close()
  })

  test(`${kind}: an environment id that is not a plain name is refused`, async () => {
    const store = await open()
    for (const id of ['', '..', '../escape', 'a/b', '.', 'UPPER', 'dot.ted', 'a'.repeat(65)]) {
      await expect(store.environment(id)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
      await expect(store.drop(id)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    await expect(store.environment('a'.repeat(64))).resolves.toBeDefined()
    await store.close()
  })

  test(`${kind}: dropping an environment closes it for all its users, and its id then opens a new one`, async () => {
    const store = await open()
    const [one, other] = [await store.environment('one'), await store.environment('other')]
    await one.ledger.commit(commitOf({ put: { alice: 'ar' } }))
    await other.ledger.commit(commitOf({ put: { bob: 'br' } }))
    const feed = one.ledger.feed(await one.ledger.head())
    const next = feed[Symbol.asyncIterator]().next()
    const underWay = one.ledger.commit(commitOf({ put: { carol: 'ar' } }))
    const { epoch } = await one.ledger.head()
    await store.drop('one')
    await expect(underWay).resolves.toMatchObject({ sequence: 2 })
    expect((await next).done).toBe(true)
    await expect(one.ledger.commit(commitOf({}))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(() => one.view.count(everyone)).toThrow('closed')
    await store.drop('one')
    await store.drop('never-there')
    const again = await store.environment('one')
    expect(again.view.count(everyone)).toBe(0)
    expect((await again.ledger.head()).epoch).not.toBe(epoch)
    expect(other.view.count(everyone)).toBe(1)
    await store.close()
    await expect(store.drop('other')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  test(`${kind}: a closed store opens no environments, and its feeds have ended`, async () => {
    const store = await open()
    const { ledger } = await store.environment('one')
    const feed = ledger.feed(await ledger.head())
    const next = feed[Symbol.asyncIterator]().next()
    await Promise.all([store.close(), store.close()])
    expect(await next).toEqual({ done: true, value: undefined })
    await expect(store.environment('one')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
}

test('an lmdb store creates its directory and keeps committed rows', async () => {
  const url = `lmdb:${join(directory, 'deep', 'data')}`
  const store = await openStore(url, toyRule)
  await (await store.environment('lock')).ledger.commit(commitOf({ put: { alice: 'ar' } }))
  await store.close()
  expect(existsSync(join(directory, 'deep', 'data', 'lock', 'data.mdb'))).toBe(true)

  const again = await openStore(url, toyRule)
  expect((await again.environment('lock')).view.get(bytes('alice'))).toBeDefined()
  await again.close()
})

test('a directory that is already open is refused, and can be opened again after it is closed', async () => {
  const url = `lmdb:${directory}`
  const store = await openStore(url, toyRule)
  await expect(openStore(url, toyRule)).rejects.toMatchObject({ code: 'STORE_LOCKED' })
  await store.close()
  await (await openStore(url, toyRule)).close()
})

test('a data directory that is a file or cannot be created is refused with its path', async () => {
  const file = join(directory, 'file')
  writeFileSync(file, '')
  for (const [path, message] of [
    [file, file],
    ['/proc/nowhere/deep', '/proc/nowhere/deep cannot be created'],
  ] as const) {
    const refused = { code: 'INVALID_INPUT', message: expect.stringContaining(message) }
    await expect(openStore(`lmdb:${path}`, toyRule)).rejects.toMatchObject(refused)
  }
})

test('any other URL is refused with the expected schemes, and the message contains only the scheme of the URL', async () => {
  const cases = [
    ['postgres://user:secret@host:5432/0', 'postgres:…'],
    ['lmdb:', 'lmdb:…'],
    ['memory:shared', 'memory:…'],
    ['./data', 'text without a scheme'],
    ['', 'text without a scheme'],
  ] as const
  for (const [url, came] of cases) {
    await expect(openStore(url, toyRule)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: `STORE_URL must be lmdb:DIRECTORY, memory:, redis://…, redis+sentinel://… or redis+cluster://… (rediss… with TLS), not ${came}`,
    })
  }
})

test('an invalid Redis URL is refused with a message without its password', async () => {
  const urls = [
    'redis:',
    'redis://user:secret@',
    'redis://user:secret@host/zero',
    'redis://user:secret@host/0/1',
    'redis://user:secret@host?prefix=with:colon',
    'redis://user:secret@host?prefix={tag}',
    'redis://user:secret@host?timeout=1',
    'redis://user:secret@host,other',
    'redis://user:%secret@host',
    'redis+sentinel://user:secret@one:26379,/0',
    'redis+sentinel://user:secret@one?replica=secret',
    'redis+sentinel://user:secret@one?master=',
    'redis+cluster://user:secret@one:6379,two:port',
    'redis+cluster://user:secret@one/1',
  ]
  for (const url of urls) {
    const error = await openStore(url, toyRule).catch((reason: unknown) => reason as Error)
    expect(error, url).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('Redis') })
    expect((error as Error).message).not.toContain('secret')
  }
})

test('the files and directories of a new lmdb store are readable only by their user', async () => {
  const data = join(directory, 'data')
  const store = await openStore(`lmdb:${data}`, toyRule)
  const { ledger } = await store.environment('one')
  await ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' })
  expect(names).toEqual(
    expect.arrayContaining(['verdict.lock', join('one', 'data.mdb'), join('one', 'journal-1')]),
  )
  const open = names.filter(name => (statSync(join(data, name)).mode & 0o077) !== 0)
  expect(open).toEqual([])
  await store.close()
})
