/** This version can use, change and reopen stores of earlier versions, and import their exports unchanged. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type RecordedRequest,
  FIXTURE_KEYS,
  FIXTURE_PREFIX,
  FIXTURES,
} from '../../../packaging/release-fixture.ts'
import { startedRedis } from '../../support/processes/redis-server.ts'
import { FACTS, question, storeDirectory } from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { startedProcess } from '../../support/processes/started-process.ts'

const releases = readdirSync(FIXTURES).filter(name => /^\d+\.\d/.test(name))

function answersOf(release: string, store: 'embedded' | 'redis'): RecordedRequest[] {
  const text = readFileSync(join(FIXTURES, release, 'answers.json'), 'utf8')
  return (JSON.parse(text) as Record<'embedded' | 'redis', RecordedRequest[]>)[store]
}

/** Repeats the recorded requests, whose responses can have more fields, and changes the store. */
async function expectUsable(start: () => ServiceProcess, asked: readonly RecordedRequest[]): Promise<void> {
  expect(asked.length).toBeGreaterThan(8)
  const first = start()
  for (const { method, path, body, answer } of asked) {
    expect(await first.call(method, path, body), path).toMatchObject(answer as object)
  }
  const asks = question('erin', 'read', 'document:budget')
  expect(await first.call('POST', '/allowed', asks)).toMatchObject({ allow: false })
  await first.call('POST', `${FACTS}/users`, { key: 'erin' })
  const granted = { user: 'erin', role: 'viewer', resource_instance: 'document:budget', tenant: 'acme' }
  await first.call('POST', `${FACTS}/role_assignments`, granted)
  const isAllowed = { ...asks, resource: { ...asks.resource, tenant: 'acme' } }
  expect(await first.call('POST', '/allowed', isAllowed)).toMatchObject({ allow: true })
  expect(await first.end('SIGTERM')).toBe(0)
  const second = start()
  expect(await second.call('POST', '/allowed', isAllowed)).toMatchObject({ allow: true })
  expect(await second.end('SIGTERM')).toBe(0)
}

/** Exports the default environment, after an import of these lines if they are given. */
async function exportOf(service: ServiceProcess, lines?: string): Promise<string> {
  const path = `${await service.address()}/v2/projects/default/envs/default`
  const headers = { authorization: `Bearer ${FIXTURE_KEYS.API_KEY}`, 'content-type': 'application/x-ndjson' }
  if (lines !== undefined) {
    const { status } = await fetch(`${path}/import?replace=true`, { method: 'POST', headers, body: lines })
    expect(status).toBe(200)
  }
  return (await fetch(`${path}/export`, { headers })).text()
}

function started(cwd: string, storeUrl: string): ServiceProcess {
  return startedProcess({ ...FIXTURE_KEYS, STORE_URL: storeUrl }, { cwd })
}

describe.each(releases)('stores of release %s', release => {
  test('an embedded store of the release can be used and changed', async () => {
    const cwd = storeDirectory()
    execFileSync('tar', ['-xzf', join(FIXTURES, release, 'embedded.tar.gz'), '-C', cwd])
    await expectUsable(() => started(cwd, 'lmdb:./store'), answersOf(release, 'embedded'))
  })

  test('a Redis of the release can be used and changed', async () => {
    const dump = join(FIXTURES, release, 'redis.rdb')
    const redis = await startedRedis({
      arguments: (_port, directory) => {
        copyFileSync(dump, join(directory, 'dump.rdb'))
        return []
      },
    })
    const cwd = storeDirectory()
    const url = `redis://127.0.0.1:${redis.port}?prefix=${FIXTURE_PREFIX}`
    await expectUsable(() => started(cwd, url), answersOf(release, 'redis'))
  })
})

test('an embedded store and an export of commit 81bfca20 contain the same entities of every kind', async () => {
  const lines = readFileSync(join(FIXTURES, '81bfca20/export.ndjson'), 'utf8')
  const entitiesIn = (text: string) =>
    text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as unknown)
  const cwd = storeDirectory()
  execFileSync('tar', ['-xzf', join(FIXTURES, '81bfca20/embedded.tar.gz'), '-C', cwd])
  const service = started(cwd, 'lmdb:./store')
  const stored = await exportOf(service)
  expect(entitiesIn(stored)).toMatchObject(entitiesIn(lines))
  expect(await exportOf(service, lines)).toBe(stored)
  expect(await service.end('SIGTERM')).toBe(0)
})
