/** A Redis that returns errors: a start fails, and a running node logs the error once and recovers. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { openStore } from '#store/open/open-store.ts'
import { redisKeys } from '#store/redis/link/redis-keys.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { pause } from '#testing/processes/pause.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { API_KEY, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { type KeptLine, KeptLog } from '../../support/kept-log.ts'
import { linkTo, sharedLink } from '../../support/processes/redis-server.ts'
import { ENVIRONMENT, follows, keysAt, startStoreNode } from './redis-nodes.ts'
import { bytes, commitId, commitOf, shown, toyRule } from '../toy-rows.ts'

const PASSWORD = 'open-sesame'

const redis = await startRedis()
afterAll(() => redis.stop())
const admin = await sharedLink(redis)

/** Creates a Redis user with all permissions for the current test. */
async function newUser(): Promise<{ readonly name: string; readonly url: string; readonly prefix: string }> {
  const name = `user-${randomUUID()}`
  await rights(name, 'on', `>${PASSWORD}`, '~*', '&*', '+@all')
  const url = new URL(redis.url())
  url.username = name
  url.password = PASSWORD
  return { name, url: url.href, prefix: parseRedisUrl(url.href).prefix }
}

async function rights(user: string, ...rules: readonly string[]): Promise<void> {
  await admin.send('ACL', 'SETUSER', user, ...rules)
}

/** Starts a service process for the current test. */
function serviceOn(url: string): ServiceProcess {
  const env = { API_KEY, STORE_URL: url, HTTP_THREADS: '1' }
  const service = new ServiceProcess({ cwd: storeDirectory(), env })
  onTestFinished(async () => void (await service.end('SIGKILL')))
  return service
}

function lastLine({ stderr }: ServiceProcess): unknown {
  return JSON.parse(stderr.trim().split('\n').at(-1)!)
}

/** Starts a node whose permissions the test changes, and a node with all permissions. */
async function nodeAndOther(url: string) {
  const node = await startStoreNode(url)
  return { node, log: node.log, other: await startStoreNode(url.replace(/\/\/.*@/, '//')) }
}

/** Waits until Redis has counted this number of refusals since it was started. */
async function refusals(count: number): Promise<void> {
  const counted = async () => /count,(\d+)/.exec(String(await admin.send('ACL', 'LOG')))?.[1]
  while (Number(await counted()) < count) await pause()
}

function says(level: KeptLine['level'], words: RegExp): (line: KeptLine) => boolean {
  return line => line.level === level && words.test(`${line.message}: ${String(line.fields['reason'])}`)
}

test('a node without permission for its channels logs this only once, follows and commits, and subscribes later', async () => {
  const { name, url } = await newUser()
  const { node, log, other } = await nodeAndOther(url)
  const { channel } = keysAt(url)
  const listeners = async () => String(await admin.send('PUBSUB', 'NUMSUB', channel))
  expect(await listeners()).toBe(`${channel},2`)
  const start = await node.ledger.head()

  await rights(name, 'resetchannels')
  await log.has(says('warn', /channels.*: NOPERM/))
  const signalled = await other.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  await follows(node.ledger, start, signalled)
  const unsignalled = await node.ledger.commit(commitOf({ put: { bob: 'bg' } }))
  expect(unsignalled).toMatchObject({ sequence: 2 })
  await follows(other.ledger, signalled, unsignalled)
  await node.store.environment('opened-meanwhile')

  await rights(name, '&*')
  await log.has(says('info', /channels/))
  expect(await listeners()).toBe(`${channel},2`)
  await follows(node.ledger, unsignalled, await other.ledger.commit(commitOf({ put: { carol: 'ag' } })))
  expect(shown(node.view)).toEqual(shown(other.view))
  expect(log.lines.filter(says('warn', /channels/))).toHaveLength(1)
  expect(JSON.stringify(log.lines)).not.toContain(PASSWORD)
})

test('a start without permission for the channels fails with the error of Redis', async () => {
  const { name, url } = await newUser()
  await rights(name, 'resetchannels')
  const node = serviceOn(url)
  expect(await node.exited).toBe(1)
  expect(lastLine(node)).toMatchObject({
    level: 60,
    msg: expect.stringMatching(/^cannot start: the store rejected the command: NOPERM .*channels/),
  })
  expect(node.stderr).not.toContain(PASSWORD)
})

test('a start without a connection fails with the reason and without parts of the URL', async () => {
  const port = await freePort()
  const unknowing = await startRedis({ arguments: ['--rename-command', 'AUTH', ''] })
  onTestFinished(() => unknowing.stop())
  const cases = [
    [`redis://nobody:${PASSWORD}@${redis.host}:${redis.port}`, 'WRONGPASS '],
    [`redis://nobody:${PASSWORD}@${unknowing.host}:${unknowing.port}`, "ERR unknown command 'auth'"],
    [`redis://:${PASSWORD}@127.0.0.1:${port}`, 'ECONNREFUSED'],
    [`redis+cluster://:${PASSWORD}@127.0.0.1:${port}`, 'Connection is closed'],
    [`redis+sentinel://:${PASSWORD}@127.0.0.1:${port}`, 'All sentinels are unreachable'],
  ] as const
  const errors = await Promise.all(
    cases.map(([url]) =>
      openStore(url, toyRule, { dataDirectory: storeDirectory() }).catch((reason: unknown) => reason),
    ),
  )
  for (const [index, [url, reason]] of cases.entries()) {
    const error = errors[index] as Error
    expect(error, url).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining(reason) })
    for (const part of ['nobody', PASSWORD, String(new URL(url).port)])
      expect(error.message).not.toContain(part)
  }
})

test('a running node logs once why it has no connection, and once that it is connected again', async () => {
  const { name, url } = await newUser()
  const node = await startStoreNode(url)
  const { log } = node
  await admin.send('ACL', 'LOG', 'RESET')
  await rights(name, 'resetpass', '>another')
  await admin.send('CLIENT', 'KILL', 'USER', name)
  const of = (connection: string) => (line: KeptLine) => line.fields['connection'] === connection
  const isRefused = says('warn', /WRONGPASS/)
  const connections = ['commands', 'signals'].map(of)
  for (const isOfIt of connections) await log.has(line => isOfIt(line) && isRefused(line))
  await refusals(6)
  await rights(name, `>${PASSWORD}`)
  for (const isOfIt of connections) {
    await log.has(line => isOfIt(line) && line.level === 'info')
    expect(log.lines.filter(isOfIt).filter(isRefused)).toHaveLength(1)
  }
  await node.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  expect(JSON.stringify(log.lines)).not.toContain(PASSWORD)
})

test('a node without permission to read the log logs this once, and retries without loading', async () => {
  const { name, url } = await newUser()
  const { node, log, other } = await nodeAndOther(url)
  const start = await node.ledger.head()
  await rights(name, '-xrange')
  const commit = other.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const isRefused = says('warn', /rejects reads of the log.*: NOPERM .*xrange/)
  await log.has(isRefused)
  await admin.send('ACL', 'LOG', 'RESET')
  await refusals(4)
  await rights(name, '+xrange')
  await log.has(says('info', /accepts reads of the log again/))
  await follows(node.ledger, start, await commit)
  expect(shown(node.view)).toEqual(shown(other.view))
  expect(log.lines.filter(isRefused)).toHaveLength(1)
  expect(log.lines.filter(says('warn', /loading another/))).toEqual([])
})

test('a node without permission to load rows logs this once, retries, and loads when permitted', async () => {
  const { name, url } = await newUser()
  const { node, log, other } = await nodeAndOther(url)
  await other.ledger.commit(commitOf({ put: { alice: 'ar' } }))
  const start = await node.ledger.head()
  await rights(name, '-hscan')
  // If the log has another commit at the position of the node, the node loads again, as for a new epoch.
  const { meta, log: stream, ids } = keysAt(url)
  const rewritten = `
    local id = redis.call('HGET', KEYS[1], 'id')
    redis.call('DEL', KEYS[2])
    redis.call('XADD', KEYS[2], '1-0', 'i', ARGV[1], 'l', '0', 'c', '[]')
    redis.call('ZREM', KEYS[3], id)
    redis.call('ZADD', KEYS[3], '1', ARGV[1])
    redis.call('HSET', KEYS[1], 'id', ARGV[1])`
  await admin.send('EVAL', rewritten, 3, meta, stream, ids, Buffer.from(commitId()))
  const isRefused = says('warn', /cannot load another local replica.*: NOPERM .*hscan/)
  await log.has(isRefused)
  await admin.send('ACL', 'LOG', 'RESET')
  await refusals(2)
  await rights(name, '+hscan')
  await log.has(says('warn', /another local replica is in use/))
  expect(log.lines.filter(isRefused)).toHaveLength(1)
  const head = await node.ledger.commit(commitOf({ put: { bob: 'bg' } }))
  expect(head).toMatchObject({ epoch: start.epoch, sequence: 2 })
})

test('a start waits for a server that temporarily refuses commits, and logs the reason once', async () => {
  const own = await startRedis({ arguments: ['--min-replicas-to-write', '1'] })
  onTestFinished(() => own.stop())
  const orders = await linkTo(own)
  const log = new KeptLog()
  const starting = startStoreNode(own.url(), { log })
  await log.has(says('warn', /: NOREPLICAS /))
  const isOver = says('info', /the environment is open/)
  expect(log.lines.some(isOver)).toBe(false)
  await orders.send('CONFIG', 'SET', 'min-replicas-to-write', '0')
  await starting
  expect(log.lines.filter(says('warn', /NOREPLICAS/))).toHaveLength(1)
  expect(log.lines.some(isOver)).toBe(true)
})

test.each([
  ['a server that temporarily refuses commits', ['--min-replicas-to-write', '1'], /NOREPLICAS/],
  ['a server without free connections', ['--maxclients', '1'], /no connection to Redis: retrying/],
])('a shutdown ends a start that waits for %s, with exit code 0', async (_, settings, reason) => {
  const own = await startRedis({ arguments: settings })
  onTestFinished(() => own.stop())
  await linkTo(own)
  const node = serviceOn(own.url())
  await node.logMatch(reason)
  expect(await node.end('SIGTERM')).toBe(0)
  expect(lastLine(node)).toMatchObject({ msg: 'stopped before the start was complete' })
})

test('a node that cannot apply an entry of Redis exits, and logs the environment and the reason', async () => {
  const { url, prefix } = await newUser()
  const node = serviceOn(url)
  await node.address()
  const { meta, log } = redisKeys(prefix, ORGANIZATION_STORE_ID)
  const sequence = Number(await admin.send('HGET', meta, 'sequence')) + 1
  const id = Buffer.from(commitId())
  await admin.send('XADD', log, `${sequence}-0`, 'i', id, 'l', '0', 'c', 'no JSON')
  await admin.send('HSET', meta, 'sequence', sequence, 'id', id)
  expect(await node.exited).toBe(1)
  expect(lastLine(node)).toMatchObject({
    level: 60,
    msg: 'the service cannot continue',
    err: {
      message: expect.stringMatching(
        /^changes of the organization are no longer followed: the local replica of this environment cannot follow: .*no JSON/,
      ),
    },
  })
})

test('a failed build of the lists is reported with its reason', async () => {
  const faults: Error[] = []
  const { url } = await newUser()
  const first = await startStoreNode(url)
  await first.ledger.commit(commitOf({ put: { alice: 'ar', bob: 'bg' } }))
  const cause = new Error('the thread ended')
  const late = await startStoreNode(url, {
    listedAtOnceMax: 1,
    buildLists: () => Promise.reject(cause),
    onFault: (_id, error) => faults.push(error),
  })
  await expect(late.environment.whenListed()).rejects.toBe(cause)
  expect(faults).toEqual([
    expect.objectContaining({
      message: `the secondary indexes of environment ${ENVIRONMENT} cannot be built`,
      cause,
    }),
  ])
  expect(() => late.view.get(bytes('alice'))).toThrow(expect.objectContaining({ code: 'NOT_READY' }))
})
