/** Change streams: order, resumption, filters, resets, shutdown and limits. */
import { describe, expect, test } from 'vitest'
import { CHANGE_NOUNS } from '#entities/change-event.ts'
import {
  ADMIN_KEY,
  type Client,
  FACTS,
  revisionOf,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { ChangeStream } from '#testing/requests/change-stream.ts'
import { Scrape } from '#testing/requests/metrics.ts'

const verdict = await sharedService()
await verdict.createDocumentModel()
await verdict.tenant('acme')
const PATH = '/v2/projects/default/envs/default'

async function refusal(query: string, headers: { readonly lastEventId?: string } = {}) {
  const answer = await ChangeStream.open(verdict.address, { query, ...headers })
  if (answer instanceof ChangeStream) throw new Error('a stream')
  return {
    status: answer.status,
    detail: (JSON.parse(answer.body) as { detail?: { loc: string[]; msg: string }[] }).detail,
  }
}

async function deletedUser(client: Client, key: string): Promise<string> {
  return revisionOf(await client.delete(`${FACTS}/users/${key}`))
}

describe('a change stream', () => {
  test('starts with a snapshot event, and only the last event of a commit has an id', async () => {
    const stream = await ChangeStream.opened(verdict.address)
    const revision = await verdict.revision()
    expect(await stream.next()).toMatchObject({ event: 'snapshot', value: { revision } })
    await verdict.send('POST', `${FACTS}/bulk/users`, {
      body: { operations: [{ key: 'one' }, { key: 'two' }] },
    })
    const events = await stream.upTo(await verdict.revision())
    expect(
      events.map(({ event, value, id }) => [event, value.item.key, id?.split('.').slice(0, 2).join('.')]),
    ).toEqual([
      ['user.created', 'one', undefined],
      ['user.created', 'two', await verdict.revision()],
    ])
    expect(events[0]!.value).toMatchObject({
      cause: 'request',
      operation: 'createUsers',
      revision: await verdict.revision(),
    })
    stream.close()
  })

  test('resumes after `Last-Event-ID`, which has precedence over `since`', async () => {
    const first = await ChangeStream.opened(verdict.address)
    await verdict.users('received', 'missed')
    const last = (await first.until(({ event }) => event === 'user.created')).at(-1)!
    first.close()
    const second = await ChangeStream.opened(verdict.address, { lastEventId: last.id, query: '?since=x' })
    const events = await second.until(({ event }) => event === 'user.created')
    expect(events.map(({ event, value }) => [event, value.item?.key])).toEqual([
      ['snapshot', undefined],
      ['user.created', 'missed'],
    ])
    second.close()
  })

  test('reports a deletion as one event, with the number of deleted dependents', async () => {
    await verdict.user('leaver')
    await verdict.instance('document:left')
    await verdict.assign('leaver', 'editor', 'document:left')
    await verdict.assign('leaver', 'viewer', 'document:left')
    const stream = await ChangeStream.opened(verdict.address)
    const events = await deletedUser(verdict, 'leaver').then(revision => stream.upTo(revision))
    expect(events.slice(1).map(({ event, value }) => [event, value.item.key, value.removed_with])).toEqual([
      ['user.deleted', 'leaver', { role_assignments: 2 }],
    ])
    stream.close()
  })

  test('reports the creation of an expiring grant, a change of its expiration time, and its expiration', async () => {
    await verdict.user('guest')
    await verdict.instance('document:loan')
    const stream = await ChangeStream.opened(verdict.address, { query: '?kinds=role_assignment' })
    const grant = { user: 'guest', role: 'viewer', resource_instance: 'document:loan' }
    const until = (ms: number) => new Date(Date.now() + ms).toISOString()
    const times = [until(3_600_000), until(2_000)]
    for (const expires_at of times) await verdict.post(`${FACTS}/role_assignments`, { ...grant, expires_at })
    const events = await stream.until(({ event }) => event === 'role_assignment.deleted')
    expect(
      events
        .slice(1)
        .map(({ event, value }) => [event, value.cause, value.item.expires_at, value.request_id === null]),
    ).toEqual([
      ['role_assignment.created', 'request', times[0], false],
      ['role_assignment.updated', 'request', times[1], false],
      ['role_assignment.deleted', 'expired', undefined, true],
    ])
    stream.close()
  })

  test('sends a position event after changes that its filter excludes', async () => {
    const stream = await ChangeStream.opened(verdict.address, { query: '?kinds=proxy_config' })
    await verdict.user('excluded')
    const events = await stream.upTo(await verdict.revision())
    expect(events.map(({ event }) => event)).toEqual(['snapshot', 'position'])
    stream.close()
  })
})

describe('a filter of a change stream', () => {
  const received = async (query: string, change: () => Promise<unknown>): Promise<string[]> => {
    const before = await verdict.revision()
    await change()
    const stream = await ChangeStream.opened(verdict.address, { query: `?since=${before}${query}` })
    const events = await stream.upTo(await verdict.revision())
    stream.close()
    return events.map(({ event }) => event).filter(event => event.includes('.'))
  }

  test('by kind also passes the deletion of an entity whose dependents have that kind', async () => {
    const kinds = '&kinds=role_assignment.created,role_assignment.deleted&kinds=tenant'
    const change = async () => {
      await verdict.user('kindly')
      await verdict.instance('document:kind', 'acme')
      await verdict.assign('kindly', 'viewer', 'document:kind', 'acme')
      await deletedUser(verdict, 'kindly')
    }
    expect(await received(kinds, change)).toEqual(['role_assignment.created', 'user.deleted'])
  })

  test('by type or by tenant passes only the matching events', async () => {
    await verdict.resource({ key: 'room', actions: { enter: {} } })
    const change = async () => {
      await verdict.instance('room:r1', 'acme')
      await verdict.instance('document:r2', 'default')
      await verdict.instance('document:r3', 'acme')
      await verdict.delete(`${FACTS}/resource_instances/document:r3`)
      await verdict.delete(`${FACTS}/resource_instances/document:r2`)
    }
    expect(await received('&types=room&kinds=resource_instance.created', change)).toEqual([
      'resource_instance.created',
    ])
    await verdict.delete(`${FACTS}/resource_instances/room:r1`)
    expect(await received('&tenants=acme', change)).toEqual([
      'resource_instance.created',
      'resource_instance.created',
      'resource_instance.deleted',
    ])
  })

  test('by an unknown kind is rejected with a list of all kinds', async () => {
    const { status, detail } = await refusal('?kinds=user,unknown')
    expect([status, detail![0]!.loc]).toEqual([422, ['query', 'kinds']])
    for (const noun of CHANGE_NOUNS) expect(detail![0]!.msg).toContain(noun)
    expect((await refusal('?kinds=user.renamed')).status).toBe(422)
    expect((await refusal('?kinds=')).status).toBe(422)
  })

  test('is rejected if it has more than 100 names', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`).join(',')
    const stream = await ChangeStream.opened(verdict.address, { query: `?tenants=${names(100)}` })
    stream.close()
    expect((await refusal(`?tenants=${names(101)}`)).status).toBe(422)
  })
})

test.each(['?since=x', '?since=', '?since=a.1.zz', '?since=a.-1'])('%s is rejected', async query => {
  expect((await refusal(query)).status).toBe(422)
})

test('an invalid `Last-Event-ID` is rejected', async () => {
  expect(await refusal('', { lastEventId: 'x' })).toMatchObject({
    status: 422,
    detail: [{ loc: ['header', 'Last-Event-ID'] }],
  })
})

describe('a reset event', () => {
  const resetOf = async (client: Client, since: string) => {
    const stream = await ChangeStream.opened(client.address, { lastEventId: since })
    const [snapshot, reset] = await stream.until(({ event }) => event === 'reset')
    // A reader that stops before the reset receives it again.
    expect([snapshot!.event, snapshot!.id ?? since]).toEqual(['snapshot', since])
    const revision = await client.revision()
    expect(reset!.value.revision).toBe(revision)
    await client.user(crypto.randomUUID())
    expect((await stream.next())!.event).toBe('user.created')
    stream.close()
    return reset!.value.reason
  }

  test('is sent if the log no longer contains the requested revision', async () => {
    const client = await startedService({ logEntriesMax: 100 })
    const since = await client.revision()
    for (let n = 0; n < 120; n++) await client.user(`u${n}`)
    expect(await resetOf(client, since)).toBe('too_old')
  })

  test.each([
    ['another epoch', (revision: string) => `other.${revision.split('.')[1]}`],
    ['a commit that no longer exists', (revision: string) => `${revision.split('.')[0]}.1000000`],
    ['a commit that was replaced by another one', (revision: string) => `${revision}.00000000`],
  ])('is sent if the last event id refers to %s', async (_, since) => {
    await verdict.user(crypto.randomUUID())
    expect(await resetOf(verdict, since(await verdict.revision()))).toBe('history_replaced')
  })

  test('is sent after an import replaced the environment', async () => {
    const client = await startedService()
    const exported = await client.get<string>(`${PATH}/export`)
    const stream = await ChangeStream.opened(client.address, { key: ADMIN_KEY })
    await stream.next()
    const lines = Array.isArray(exported.body) ? exported.body.join('\n') : exported.body
    const imported = await client.send('POST', `${PATH}/import?replace=true`, {
      text: lines,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(imported.status).toBe(200)
    expect(await stream.until(({ event }) => event === 'closing')).toHaveLength(1)
    expect(await stream.next()).toBeNull()
    const again = await ChangeStream.opened(client.address, { key: ADMIN_KEY, lastEventId: stream.lastId })
    const reset = (await again.until(({ event }) => event === 'reset')).at(-1)!
    expect(reset.value).toEqual({ revision: await client.revision(), reason: 'history_replaced' })
    again.close()
  })
})

describe('a closing event', () => {
  test('is sent at shutdown, and the response is complete', async () => {
    const client = await startedService()
    const stream = await ChangeStream.opened(client.address)
    await stream.next()
    await client.close()
    expect((await stream.next())!.event).toBe('closing')
    expect(await stream.next()).toBeNull()
    expect(stream.response.complete).toBe(true)
  })

  test('is sent when the key is deleted', async () => {
    const made = await verdict.createKey()
    const stream = await ChangeStream.opened(verdict.address, { key: made.secret })
    await stream.next()
    await verdict.admin('DELETE', `/v2/api-key/${made.id}`)
    expect((await stream.next())!.value.reason).toContain('key')
    expect(await stream.next()).toBeNull()
  })
})

test('streams beyond the limit per key or the total limit are rejected', async () => {
  const client = await startedService({ changeStreamsMax: 3, changeStreamsPerKeyMax: 2 })
  const open = (key?: string) => ChangeStream.open(client.address, key === undefined ? {} : { key })
  const streams = [await open(), await open()]
  expect(await open()).toMatchObject({
    status: 429,
    body: expect.stringContaining('MAX_CHANGE_STREAMS_PER_KEY'),
  })
  streams.push(await open(ADMIN_KEY))
  expect(await open(ADMIN_KEY)).toMatchObject({
    status: 429,
    body: expect.stringContaining('(MAX_CHANGE_STREAMS)'),
  })
  const { body: text } = await client.send<string>('GET', '/metrics', { key: null })
  const metrics = new Scrape(text)
  expect(metrics.sum('verdict_change_streams')).toBe(3)
  expect(metrics.sum('verdict_limit_reached_total', { limit: 'key-streams' })).toBe(1)
  expect(metrics.sum('verdict_limit_reached_total', { limit: 'streams' })).toBe(1)
  ;(streams[0] as ChangeStream).close()
  await expect.poll(() => open(ADMIN_KEY)).toBeInstanceOf(ChangeStream)
})
