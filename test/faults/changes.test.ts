/** The change stream when Redis restarts or loses its last commits. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startedNodes } from '../support/nodes.ts'
import { startedRedis } from '../support/processes/redis-server.ts'
import { ChangeStream } from '#testing/requests/change-stream.ts'
import { orders } from './support/nodes-on-wires.ts'

test('the change stream continues after a restart of Redis without a gap or a reset', async () => {
  const redis = await startedRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const [one, two] = await startedNodes(redis, 2)
  const stream = await ChangeStream.opened(two!.address, { query: '?kinds=user' })
  await one!.user('before')
  await redis.kill()
  expect(await redis.start()).toBe(true)
  await one!.user('after')
  const events = await stream.until(({ value }) => value.item?.key === 'after')
  const names = events.map(({ event, value }) => value.item?.key ?? event)
  expect(names.filter(name => name !== 'position')).toEqual(['snapshot', 'before', 'after'])
  stream.close()
})

test(
  'a reset is sent to clients if Redis lost its last commits, and to clients that resume at an earlier id',
  { timeout: 120_000 },
  async () => {
    const redis = await startedRedis()
    const [one, two] = await startedNodes(redis, 2)
    const stream = await ChangeStream.opened(two!.address)
    await one!.user('kept')
    await stream.until(({ value }) => value.item?.key === 'kept')
    await orders(redis).call('SAVE')
    copyFileSync(join(redis.directory, 'dump.rdb'), join(redis.directory, 'backup'))
    await one!.user('lost')
    await stream.until(({ value }) => value.item?.key === 'lost')
    const { lastId } = stream
    await redis.kill()
    copyFileSync(join(redis.directory, 'backup'), join(redis.directory, 'dump.rdb'))
    expect(await redis.start()).toBe(true)
    expect((await stream.until(({ event }) => event === 'reset')).at(-1)!.value.reason).toBe(
      'history_replaced',
    )
    stream.close()
    // These commits have the same sequence numbers as the lost commits.
    for (const node of [one!, two!])
      await expect
        .poll(
          () => node.post('/v2/facts/default/default/users', { key: 'fresh' }).then(({ status }) => status),
          { timeout: 30_000 },
        )
        .toBeOneOf([200, 409])
    await one!.user('more')
    const again = await ChangeStream.opened(one!.address, { lastEventId: lastId })
    expect((await again.until(({ event }) => event !== 'snapshot')).at(-1)).toMatchObject({
      event: 'reset',
      value: { reason: 'history_replaced' },
    })
    again.close()
  },
)
