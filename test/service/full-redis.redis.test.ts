/** A Redis that is full or denies a permission. */
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sharedLink } from '../support/processes/redis-server.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { FACTS, startedService, storeDirectory } from '#testing/processes/running-service.ts'
import type { Problem } from '../support/calls/refusals.ts'

const redis = await startRedis()
afterAll(() => redis.stop())
const orders = await sharedLink(redis)

const USER = 'bob'

test.each([
  ['has no memory', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0'], 'maxmemory'],
  [
    'denies write permission',
    ['ACL', 'SETUSER', USER, '-xadd'],
    ['ACL', 'SETUSER', USER, '+xadd'],
    'does not permit the user',
  ],
] as const)(
  'if Redis %s, changes receive 503 with the reason, and decisions continue',
  async (_, [refuse, ...refused], [grant, ...granted], reason) => {
    await orders.send('ACL', 'SETUSER', USER, 'reset', 'on', '>secret', '~*', '&*', '+@all')
    const url = new URL(redis.url())
    url.username = USER
    url.password = 'secret'
    const node = await startedService({ storeUrl: url.href, dataDirectory: storeDirectory() })
    await node.createViewer('alice', 'document:plan')
    await orders.send(refuse, ...refused)
    onTestFinished(async () => void (await orders.send(grant, ...granted)))
    const answer = await node.post<Problem>(`${FACTS}/users`, { key: 'late' })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(answer.body.message).toMatch(/^the change was not made: Redis /)
    expect(answer.body.message).toContain(reason)
    // The response does not contain the message of Redis, which can contain keys and users.
    expect(answer.body.message).not.toMatch(/bob|xadd|verdict:/)
    const ready = await node.get<{ changes?: string }>('/ready')
    expect([ready.status, ready.body.changes]).toEqual([200, answer.body.message])
    expect(await node.allows('alice', 'read', 'document:plan')).toBe(true)
    expect((await node.get(`${FACTS}/users/late`)).status).toBe(404)

    await orders.send(grant, ...granted)
    expect((await node.post(`${FACTS}/users`, { key: 'late' })).status).toBe(200)
    expect((await node.get('/ready')).body).toEqual({ status: 'ready' })
    await node.close()
  },
)
