/** Change streams of several nodes on one Redis: a client that switches to another node misses no event. */
import { describe, expect, test } from 'vitest'
import { Random } from '#testing/data/random.ts'
import { type Client, FACTS, startedService, storeDirectory } from '#testing/processes/running-service.ts'
import { ChangeStream } from '#testing/requests/change-stream.ts'
import { EnvironmentCopy, listedEnvironment, listedForm } from '#testing/requests/environment-copy.ts'
import { startedNodes } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'

const redis = await sharedRedis()

describe('a change-stream client that switches nodes', () => {
  test('has the complete environment after each part of the stream, whichever node sent that part', async () => {
    const nodes = await startedNodes(redis, 2)
    const random = new Random(3)
    await nodes[0]!.createDocumentModel()
    const copy = new EnvironmentCopy()
    let lastId: string | undefined
    for (let round = 0; round < 10; round++) {
      const [writer, reader] = [random.pick(nodes), random.pick(nodes)]
      const stream = await ChangeStream.opened(reader.address, { lastEventId: lastId })
      if (lastId === undefined) copy.load(await listedEnvironment(reader))
      const revision = await change(writer, random)
      for (const event of await stream.upTo(revision)) {
        expect(event.event).not.toBe('reset')
        copy.apply(event)
      }
      lastId = stream.lastId
      stream.close()
      expect(copy.all).toEqual(listedForm(await listedEnvironment(writer)))
    }
  })

  test('resumes without a gap on a node that started after the changes that the client missed', async () => {
    const storeUrl = redis.url()
    const settings = { storeUrl, dataDirectory: storeDirectory() }
    const first = await startedService(settings)
    const stream = await ChangeStream.opened(first.address)
    await stream.next()
    stream.close()
    await first.users('one', 'two')
    const other = await startedService({ ...settings, dataDirectory: storeDirectory() })
    const again = await ChangeStream.opened(other.address, { lastEventId: stream.lastId })
    const events = await again.upTo(await first.revision())
    expect(events.map(({ event, value }) => [event, value.item?.key])).toEqual([
      ['snapshot', undefined],
      ['user.created', 'one'],
      ['user.created', 'two'],
    ])
    again.close()
  })

  test('receives a change that was made on another node without delay', async () => {
    const [one, two] = await startedNodes(redis, 2)
    const stream = await ChangeStream.opened(two!.address, { query: '?kinds=user' })
    await stream.next()
    await one!.user('far')
    expect(await stream.next()).toMatchObject({ event: 'user.created', value: { item: { key: 'far' } } })
    stream.close()
  })
})

/** Makes several changes; returns the revision of the last one. */
async function change(client: Client, random: Random): Promise<string> {
  for (let step = 0; step < 5; step++) {
    const user = `u${random.below(4)}`
    const [method, path, body] = random.pick([
      ['POST', `${FACTS}/users`, { key: user }],
      ['DELETE', `${FACTS}/users/${user}`, undefined],
      [
        'POST',
        `${FACTS}/resource_instances`,
        { resource: 'document', key: `d${random.below(3)}`, tenant: 'default' },
      ],
      [
        'POST',
        `${FACTS}/role_assignments`,
        { user, role: 'viewer', resource_instance: `document:d${random.below(3)}`, tenant: 'default' },
      ],
    ] as const)
    await client.send(method, path, { body })
  }
  const last = await client.send('PUT', `${FACTS}/users/last`, {
    body: { key: 'last', attributes: { n: random.below(1_000) } },
  })
  return last.headers.get('x-revision')!
}
