/** Effective access changes: gained and lost pairs of a user and a resource, or scopes to list again. */
import { describe, expect, test } from 'vitest'
import { Random } from '#testing/data/random.ts'
import {
  type Client,
  FACTS,
  neighbourOf,
  question,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { ChangeStream, type ReadEvent } from '#testing/requests/change-stream.ts'

const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const QUERY = '?effective=document:read'

async function createModel(verdict: Client): Promise<void> {
  await verdict.createNestedFolders()
  await verdict.tenantRole('auditor', ['document:read'])
}

/** Reads the access changes up to the current commit, without their origin. */
async function changesOf(verdict: Client, stream: ChangeStream) {
  const events = await stream.upTo(await verdict.revision())
  return events.flatMap(({ event, value }) => (event === 'access.changed' ? [value.item] : []))
}

/** The pairs of a user and a document that are allowed, determined by one check per pair. */
async function allowed(verdict: Client): Promise<Set<string>> {
  const users = await verdict.itemsIn(`${FACTS}/users?per_page=100`)
  const documents = await verdict.itemsIn(`${FACTS}/resource_instances?resource=document&per_page=100`)
  const pairs = users.flatMap(user => documents.map(({ key }) => [user.key, key] as const))
  const answers = await verdict.allowsAll(
    pairs.map(([user, key]) => question(user, 'read', `document:${key}`)),
  )
  return new Set(pairs.filter((_, index) => answers[index]).map(pair => JSON.stringify(pair)))
}

/** The allowed pairs as a client maintains them from the events of the stream. */
class AccessSet {
  pairs = new Set<string>()

  /** `listed` are the pairs that checks allow now. They replace scopes that must be listed again. */
  apply({ event, value }: ReadEvent, listed: ReadonlySet<string>): void {
    if (event === 'reset') this.pairs = new Set(listed)
    if (event !== 'access.changed') return
    const { gained, lost, many = [] } = value.item
    for (const { user, resource } of lost) this.pairs.delete(JSON.stringify([user, resource]))
    for (const { user, resource } of gained) this.pairs.add(JSON.stringify([user, resource]))
    for (const scope of many) this.#relist(scope, listed)
  }

  /** Lists a scope again. Ignores the tenant of the scope, so it replaces more pairs than necessary. */
  #relist({ user, resource }: { user?: string; resource?: string }, listed: ReadonlySet<string>): void {
    const isInScope = (pair: string): boolean => {
      const [ofUser, on] = JSON.parse(pair) as [string, string]
      return (user === undefined || ofUser === user) && (resource === undefined || on === resource)
    }
    for (const pair of this.pairs) if (isInScope(pair)) this.pairs.delete(pair)
    for (const pair of listed) if (isInScope(pair)) this.pairs.add(pair)
  }
}

describe('a stream of effective access changes', async () => {
  const verdict = await sharedService()
  await createModel(verdict)
  await verdict.users('ann', 'bob')

  test('reports the pairs gained when a document is put into a granted folder, with the call that caused them', async () => {
    const stream = await ChangeStream.opened(verdict.address, { query: QUERY })
    const parent = { subject: 'folder:top', relation: 'parent', object: 'document:one', tenant: 'default' }
    await verdict.send('POST', ASSIGNMENTS, {
      body: { user: 'ann', role: 'viewer', resource_instance: 'folder:top', tenant: 'default' },
    })
    await verdict.send('POST', TUPLES, {
      body: parent,
      headers: { 'x-request-id': 'of-the-test', 'x-actor': 'me' },
    })
    const events = await stream.upTo(await verdict.revision())
    const changed = events.filter(({ event }) => event === 'access.changed')
    expect(changed.map(({ value }) => value)).toEqual([
      {
        kind: 'access.changed',
        revision: expect.any(String),
        time: expect.any(String),
        cause: 'request',
        operation: 'createRelationshipTuple',
        api_key_id: expect.any(String),
        actor: {
          kind: 'claimed',
          name: 'me',
          on_behalf_of: [],
          claimed_by: { api_key_id: expect.any(String) },
        },
        request_id: 'of-the-test',
        item: { type: 'document', action: 'read', gained: [{ user: 'ann', resource: 'one' }], lost: [] },
      },
    ])
    expect(changed.at(-1)!.id).toMatch(/^[^.]+\.\d+/)
    await verdict.send('DELETE', TUPLES, { body: parent })
    expect(await changesOf(verdict, stream)).toEqual([
      { type: 'document', action: 'read', gained: [], lost: [{ user: 'ann', resource: 'one' }] },
    ])
    stream.close()
  })

  test('reports the user and tenant instead of pairs for a tenant role, and the cause of a pair lost by expiration', async () => {
    const stream = await ChangeStream.opened(verdict.address, { query: QUERY })
    await verdict.send('POST', ASSIGNMENTS, { body: { user: 'bob', role: 'auditor', tenant: 'default' } })
    expect(await changesOf(verdict, stream)).toEqual([
      { type: 'document', action: 'read', gained: [], lost: [], many: [{ user: 'bob', tenant: 'default' }] },
    ])
    const expires_at = new Date(Date.now() + 2_000).toISOString()
    await verdict.send('POST', ASSIGNMENTS, {
      body: { user: 'ann', role: 'viewer', resource_instance: 'document:one', tenant: 'default', expires_at },
    })
    const [given, lost] = (
      await stream.until(({ event, value }) => event === 'access.changed' && value.item.lost.length > 0)
    ).filter(({ event }) => event === 'access.changed')
    expect(given!.value.item.gained).toEqual([{ user: 'ann', resource: 'one' }])
    expect(lost!.value).toMatchObject({
      cause: 'expired',
      item: { lost: [{ user: 'ann', resource: 'one' }] },
    })
    stream.close()
  })

  test('names the users and instances to list again for a client that resumes at an earlier revision', async () => {
    const before = await verdict.revision()
    await verdict.send('POST', ASSIGNMENTS, {
      body: { user: 'ann', role: 'viewer', resource_instance: 'document:two', tenant: 'default' },
    })
    const stream = await ChangeStream.opened(verdict.address, { query: `${QUERY}&since=${before}` })
    // The instance is listed because the same call created it.
    expect((await changesOf(verdict, stream)).map(({ many }) => many)).toEqual([
      [{ resource: 'two' }, { user: 'ann' }],
    ])
    stream.close()
  })

  test.each([
    ['without an action', 'effective=document'],
    ['with an empty name', 'effective=document:read,'],
    ['for nine permissions', `effective=${Array.from({ length: 9 }, (_, n) => `document:a${n}`).join(',')}`],
    ['with other filters', 'effective=document:read&types=document'],
  ])('%s is rejected', async (_, query) => {
    const answer = await ChangeStream.open(verdict.address, { query: `?${query}` })
    expect(answer).toMatchObject({ status: 422 })
  })
})

test('an environment above the limit gets access changes after all readers of another environment have left', async () => {
  const verdict = await startedService({ effectiveEnvironmentsMax: 1 })
  const key = await neighbourOf(verdict, 'other')
  const path = '/v2/facts/default/other/changes'
  const first = await ChangeStream.opened(verdict.address, { query: QUERY })
  const second = await ChangeStream.opened(verdict.address, { query: QUERY })
  expect(await ChangeStream.open(verdict.address, { query: QUERY, key, path })).toMatchObject({ status: 429 })
  // A stream without access changes is not limited, because it needs no index.
  const plain = await ChangeStream.opened(verdict.address, { key, path })
  for (const each of [first, second]) each.close()
  let opened = await ChangeStream.open(verdict.address, { query: QUERY, key, path })
  while (!(opened instanceof ChangeStream))
    opened = await ChangeStream.open(verdict.address, { query: QUERY, key, path })
  for (const each of [plain, opened]) each.close()
})

/** Sends a random change of a few entities; returns its status. */
async function randomStep(verdict: Client, random: Random): Promise<number> {
  const user = `u${random.below(4)}`
  const tenant = random.pick(['default', 'default', 'other'])
  const document = `document:d${random.below(5)}`
  const folder = `folder:f${random.below(4)}`
  const ends = random.chance(0.2) ? { expires_at: new Date(Date.now() + 40).toISOString() } : {}
  const assigned = random.pick([
    { user, role: 'auditor', tenant },
    { user, role: 'viewer', resource_instance: document, tenant },
    { user, role: 'viewer', resource_instance: folder, tenant },
  ])
  const object = random.chance(0.5) ? document : `folder:f${random.below(4)}`
  const tuple = { subject: folder, relation: 'parent', object, tenant }
  const [method, path, body] = random.pick<readonly [method: string, path: string, body?: unknown]>([
    ['POST', `${FACTS}/users`, { key: user }],
    ['DELETE', `${FACTS}/users/${user}`],
    ['POST', `${FACTS}/tenants`, { key: 'other', name: 'Other' }],
    ['DELETE', `${FACTS}/tenants/other`],
    ['POST', `${FACTS}/resource_instances`, { resource: 'document', key: document.split(':')[1], tenant }],
    ['DELETE', `${FACTS}/resource_instances/${document}`],
    ['DELETE', `${FACTS}/resource_instances/${folder}`],
    ['POST', ASSIGNMENTS, { ...assigned, ...ends }],
    ['POST', ASSIGNMENTS, { ...assigned, ...ends }],
    ['POST', `${ASSIGNMENTS}/bulk`, [0, 1, 2].map(n => ({ ...assigned, user: `u${n}` }))],
    ['DELETE', ASSIGNMENTS, assigned],
    ['POST', TUPLES, tuple],
    ['POST', TUPLES, { ...tuple, ...ends }],
    ['DELETE', TUPLES, tuple],
  ])
  return (await verdict.send(method, path, { body })).status
}

/** Waits until expired facts are deleted, so that checks and the log agree. */
async function whenExpired(verdict: Client): Promise<void> {
  const soon = encodeURIComponent(new Date(Date.now() + 60_000).toISOString())
  for (const path of [ASSIGNMENTS, TUPLES]) {
    while ((await verdict.get<unknown[]>(`${path}?expires_before=${soon}`)).body.length > 0);
  }
}

const LOG_ENTRIES = 100
const ROUNDS = 40 * Number(process.env['VERDICT_RUNS'] ?? 1)

test.each([1, 2])(
  'a set of pairs maintained from the stream equals the results of checks after any pause of its reader: history %i',
  async seed => {
    const random = new Random(seed)
    const verdict = await startedService({ logEntriesMax: LOG_ENTRIES })
    await createModel(verdict)
    const set = new AccessSet()
    let stream = await ChangeStream.opened(verdict.address, { query: QUERY })
    for (let round = 0; round < ROUNDS; round++) {
      if (random.chance(0.1)) {
        const { lastId } = stream
        stream.close()
        const away = random.chance(0.3) ? 2 * LOG_ENTRIES : random.below(10)
        for (let step = 0; step < away; step++) await randomStep(verdict, random)
        stream = await ChangeStream.opened(verdict.address, { query: QUERY, lastEventId: lastId })
      }
      for (let step = random.below(6); step > 0; step--)
        expect(await randomStep(verdict, random)).toBeLessThan(500)
      await whenExpired(verdict)
      // This change causes an event with an id, for which the test can wait.
      await verdict.send('POST', `${FACTS}/resource_instances`, {
        body: { resource: 'document', key: 'always', tenant: 'default' },
      })
      await verdict.send('PUT', `${FACTS}/users/mark`, { body: { key: 'mark' } })
      // Alternates between an assignment that is reported as a pair and one whose scope must be listed again.
      const mark = { user: 'mark', role: 'viewer', resource_instance: 'document:always', tenant: 'default' }
      const inTenant = { user: 'mark', role: 'auditor', tenant: 'default' }
      const body = round % 4 < 2 ? mark : inTenant
      await verdict.send(round % 2 === 0 ? 'POST' : 'DELETE', ASSIGNMENTS, { body })
      const listed = await allowed(verdict)
      for (const event of await stream.upTo(await verdict.revision())) set.apply(event, listed)
      expect([...set.pairs].toSorted()).toEqual([...listed].toSorted())
    }
    stream.close()
  },
)
