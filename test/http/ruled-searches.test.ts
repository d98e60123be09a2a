/** AuthZEN searches in an environment with rules: what they name is what an evaluation allows (conditions, section 8.3). */
import { expect, test } from 'vitest'
import { type Client, FACTS, sharedService, startedService } from '#testing/processes/running-service.ts'
import { ACTIONS, EVALUATION, RESOURCES_FOUND, SUBJECTS } from '../support/access-requests.ts'

interface Found {
  readonly page: { readonly next_token: string; readonly count: number; readonly total?: number }
  readonly results: readonly { readonly id?: string; readonly name?: string }[]
}

const DOCUMENTS = Array.from({ length: 12 }, (_, n) => `d${String(n).padStart(2, '0')}`)
const USERS = ['ann', 'bob', 'carol']

async function made(client: Client, path: string, body: object): Promise<void> {
  const { status } = await client.post(path, body)
  expect(status).toBeLessThan(300)
}

/** Every document is owned by one of three users. Owners read; in the office, everybody lists; carol reads all by a role. */
async function fill(client: Client): Promise<void> {
  await client.resource({ key: 'document', actions: { read: {}, list: {}, share: {} } })
  await client.tenantRole('reader', ['document:read'])
  for (const key of USERS) await client.user(key)
  await client.assign('carol', 'reader', 'default')
  for (const [n, key] of DOCUMENTS.entries()) {
    await made(client, `${FACTS}/resource_instances`, {
      key,
      resource: 'document',
      tenant: 'default',
      attributes: { owner: USERS[n % 3], level: n },
    })
  }
  await client.conditionSet({ key: 'anybody', name: 'anybody', type: 'userset', conditions: {} })
  const sets = {
    owned: ['read', { 'resource.owner': { 'equals-ref': 'user.key' } }],
    'in-office': ['list', { 'context.network': { equals: 'office' } }],
    'by-level': ['share', { 'user.clearance': { 'greater-than-ref': 'resource.level' } }],
  } as const
  for (const [key, [action, conditions]] of Object.entries(sets)) {
    await client.conditionSet({ key, name: key, type: 'resourceset', resource_id: 'document', conditions })
    await made(client, `${FACTS}/set_rules`, {
      user_set: 'anybody',
      permission: `document:${action}`,
      resource_set: key,
    })
  }
}

const verdict = await sharedService({ searchScanMax: 5 })
await fill(verdict)

const reads = {
  subject: { type: 'user', id: 'ann' },
  action: { name: 'read' },
  resource: { type: 'document' },
}
const owned = DOCUMENTS.filter((_, n) => n % 3 === 0)

async function page(path: string, body: object, client = verdict): Promise<Found> {
  const { status, body: found } = await client.post<Found>(path, body)
  expect(status).toBe(200)
  return found
}

/** All pages of a search. */
async function walk(
  path: string,
  body: object,
  limit: number,
): Promise<{ ids: (string | undefined)[]; pages: number }> {
  const ids: (string | undefined)[] = []
  let pages = 0
  for (let token = ''; ;) {
    const found = await page(path, { ...body, page: { limit, ...(token !== '' && { token }) } })
    pages += 1
    ids.push(...found.results.map(({ id }) => id))
    expect(found.page.count).toBe(found.results.length)
    // Nobody has tried them all.
    expect(found.page).not.toHaveProperty('total')
    token = found.page.next_token
    if (token === '') return { ids, pages }
  }
}

test('resources that a rule allows are found in pages of any size, and each is allowed', async () => {
  for (const limit of [1, 2, 100]) expect((await walk(RESOURCES_FOUND, reads, limit)).ids).toEqual(owned)
  for (const id of DOCUMENTS) {
    const { body } = await verdict.post<{ decision: boolean }>(EVALUATION, {
      ...reads,
      resource: { type: 'document', id },
    })
    expect(body.decision).toBe(owned.includes(id))
  }
})

test('what roles allow is found beside, once', async () => {
  const carol = { ...reads, subject: { type: 'user', id: 'carol' } }
  expect((await walk(RESOURCES_FOUND, carol, 5)).ids).toEqual(DOCUMENTS)
})

test('users that a rule or a role allows are found', async () => {
  const who = {
    subject: { type: 'user' },
    action: { name: 'read' },
    resource: { type: 'document', id: 'd01' },
  }
  expect((await walk(SUBJECTS, who, 1)).ids).toEqual(['bob', 'carol'])
})

test('what the context says decides, and actions are found by it, too', async () => {
  const lists = { ...reads, action: { name: 'list' } }
  expect((await walk(RESOURCES_FOUND, lists, 100)).ids).toEqual([])
  expect((await walk(RESOURCES_FOUND, { ...lists, context: { network: 'office' } }, 100)).ids).toEqual(
    DOCUMENTS,
  )
  const what = { subject: { type: 'user', id: 'ann' }, resource: { type: 'document', id: 'd03' } }
  const named = async (body: object) => (await page(ACTIONS, body)).results.map(({ name }) => name)
  expect(await named(what)).toEqual(['read'])
  expect(await named({ ...what, context: { network: 'office' } })).toEqual(['list', 'read'])
  expect(await named({ ...what, subject: { ...what.subject, properties: { clearance: 4 } } })).toEqual([
    'read',
    'share',
  ])
})

test('properties of the side that is searched for do not count, except the tenant', async () => {
  const shared = await startedService()
  await shared.tenant('acme')
  await fill(shared)
  const who = {
    subject: { type: 'user', properties: { clearance: 9, key: 'x', roles: ['reader'] } },
    action: { name: 'share' },
    resource: { type: 'document', id: 'd03' },
  }
  expect((await page(SUBJECTS, who, shared)).results).toEqual([])
  const evaluated = { ...who, subject: { type: 'user', id: 'ann' } }
  expect((await shared.post(EVALUATION, evaluated)).body).toEqual({ decision: false })
  // Given with the resource, the level makes it one that everybody with a clearance may share.
  const where = {
    ...reads,
    action: { name: 'share' },
    subject: { ...reads.subject, properties: { clearance: 1 } },
  }
  const found = async (properties: object) =>
    (await page(RESOURCES_FOUND, { ...where, resource: { type: 'document', properties } }, shared)).results
  const first = [{ type: 'document', id: 'd00' }]
  expect(await found({})).toEqual(first)
  expect(await found({ level: -1, owner: 'ann', text: 'x'.repeat(70_000) })).toEqual(first)
  expect(await found({ level: -1, tenant: 'default' })).toEqual(first)
  expect(await found({ level: -1, tenant: 'acme' })).toEqual([])
})

test('a page that has tried SEARCH_SCAN_MAX candidates ends with fewer results, and says where it goes on', async () => {
  const shares = { ...reads, action: { name: 'share' } }
  const cleared = (clearance: number) => ({
    ...shares,
    subject: { ...reads.subject, properties: { clearance } },
  })
  expect(await walk(RESOURCES_FOUND, cleared(2), 100)).toEqual({ ids: ['d00', 'd01'], pages: 3 })
  const first = await page(RESOURCES_FOUND, { ...cleared(-1), page: { limit: 100 } })
  expect([first.results, first.page.next_token === '']).toEqual([[], false])
})

test('a token is good for the same attributes and the same context only', async () => {
  const body = { ...reads, context: { network: 'office' }, page: { limit: 1 } }
  const { next_token: token } = (await page(RESOURCES_FOUND, body)).page
  const next = { ...body, page: { token } }
  expect((await page(RESOURCES_FOUND, next)).results).toEqual([{ type: 'document', id: 'd03' }])
  for (const changed of [
    { ...next, context: { network: 'home' } },
    { ...next, subject: { ...body.subject, properties: { clearance: 1 } } },
  ]) {
    expect((await verdict.post(RESOURCES_FOUND, changed)).status).toBe(400)
  }
})

test('attributes that are too long are refused where a rule asks for them', async () => {
  const long = { ...reads, action: { name: 'share' }, context: { text: 'x'.repeat(70_000) } }
  const { status, body } = await verdict.post(RESOURCES_FOUND, long)
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('65536 bytes')])
})

test('an environment without rules says how many there are in all', async () => {
  const plain = await startedService()
  await plain.resource({ key: 'document', actions: { read: {} } })
  await plain.user('ann')
  expect((await page(RESOURCES_FOUND, reads, plain)).page).toEqual({ next_token: '', count: 0, total: 0 })
})
