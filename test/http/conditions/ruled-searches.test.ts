/** AuthZEN searches with rules: results are those that an evaluation allows (conditions.md 8.3). */
import { expect, test } from 'vitest'
import { FACTS, sharedService } from '#testing/processes/running-service.ts'
import { ACTIONS, EVALUATION, RESOURCES_FOUND, SUBJECTS } from '../../support/calls/access-requests.ts'

interface Found {
  readonly page: { readonly next_token: string; readonly count: number; readonly total?: number }
  readonly results: readonly { readonly id?: string; readonly name?: string }[]
}

const DOCUMENTS = Array.from({ length: 12 }, (_, n) => `d${String(n).padStart(2, '0')}`)
const USERS = ['ann', 'bob', 'carol']

async function made(path: string, body: object): Promise<void> {
  const { status } = await verdict.post(path, body)
  expect(status).toBeLessThan(300)
}

const verdict = await sharedService({ searchScanMax: 5 })
// One of three users owns each document. Owners can read. All users in the office can list. A role allows
// carol to read all documents.
await verdict.resource({ key: 'document', actions: { read: {}, list: {}, share: {} } })
await verdict.tenantRole('reader', ['document:read'])
for (const key of USERS) await verdict.user(key)
await verdict.assign('carol', 'reader', 'default')
for (const [n, key] of DOCUMENTS.entries()) {
  await made(`${FACTS}/resource_instances`, {
    key,
    resource: 'document',
    tenant: 'default',
    attributes: { owner: USERS[n % 3], level: n },
  })
}
await verdict.conditionSet({ key: 'anybody' })
const sets = {
  owned: ['read', { 'resource.owner': { 'equals-ref': 'user.key' } }],
  'in-office': ['list', { 'context.network': { equals: 'office' } }],
  'by-level': ['share', { 'user.clearance': { 'greater-than-ref': 'resource.level' } }],
} as const
for (const [key, [action, conditions]] of Object.entries(sets)) {
  await verdict.conditionSet({ key, type: 'resourceset', resource_id: 'document', conditions })
  await verdict.setRule('anybody', `document:${action}`, key)
}

const reads = {
  subject: { type: 'user', id: 'ann' },
  action: { name: 'read' },
  resource: { type: 'document' },
}
const owned = DOCUMENTS.filter((_, n) => n % 3 === 0)

const page = (path: string, body: object) => verdict.done<Found>('POST', path, body)

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
    // The total is not known because the service did not check all candidates.
    expect(found.page).not.toHaveProperty('total')
    token = found.page.next_token
    if (token === '') return { ids, pages }
  }
}

test('a resource search finds the resources that a rule allows, in pages of any size', async () => {
  for (const limit of [1, 2, 100]) expect((await walk(RESOURCES_FOUND, reads, limit)).ids).toEqual(owned)
  for (const id of DOCUMENTS) {
    const { body } = await verdict.post<{ decision: boolean }>(EVALUATION, {
      ...reads,
      resource: { type: 'document', id },
    })
    expect(body.decision).toBe(owned.includes(id))
  }
})

test('searches find users allowed by a rule or role, and actions allowed by context and properties', async () => {
  const ofUsers = { ...reads, subject: { type: 'user' }, resource: { type: 'document', id: 'd01' } }
  expect((await walk(SUBJECTS, ofUsers, 1)).ids).toEqual(['bob', 'carol'])
  const ofActions = { subject: { type: 'user', id: 'ann' }, resource: { type: 'document', id: 'd03' } }
  const named = async (body: object) => (await page(ACTIONS, body)).results.map(({ name }) => name)
  expect(await named({ ...ofActions, context: { network: 'office' } })).toEqual(['list', 'read'])
  const cleared = { ...ofActions.subject, properties: { clearance: 4 } }
  expect(await named({ ...ofActions, subject: cleared })).toEqual(['read', 'share'])
})

test('a page that checked SEARCH_SCAN_MAX candidates ends early with a token to continue', async () => {
  const shares = { ...reads, action: { name: 'share' } }
  const cleared = (clearance: number) => ({
    ...shares,
    subject: { ...reads.subject, properties: { clearance } },
  })
  expect(await walk(RESOURCES_FOUND, cleared(2), 100)).toEqual({ ids: ['d00', 'd01'], pages: 3 })
  const first = await page(RESOURCES_FOUND, { ...cleared(-1), page: { limit: 100 } })
  expect([first.results, first.page.next_token === '']).toEqual([[], false])
})

test('a search with attributes over the limit is rejected if a rule reads them', async () => {
  const long = { ...reads, action: { name: 'share' }, context: { text: 'x'.repeat(70_000) } }
  const { status, body } = await verdict.post(RESOURCES_FOUND, long)
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('65536 bytes')])
})
