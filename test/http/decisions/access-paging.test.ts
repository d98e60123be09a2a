/** Pages of searches and their tokens (authzen.md 5.1; native.md 0.7, 0.18 and D-18). */
import { cpSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  ACTIONS,
  ask,
  entity,
  evaluation,
  lastPage,
  messageOf,
  RESOURCES_FOUND,
  SUBJECTS,
  textOf,
  type TextAnswer,
} from '../../support/access-requests.ts'
import {
  type Client,
  neighbourOf,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const IDS = ['d1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7']
const NAMES = ['archive', 'copy', 'delete', 'read', 'share']

/** Seven documents, five actions, seven users, who may do everything with everything. */
async function fill(client: Client): Promise<void> {
  const actions = Object.fromEntries(NAMES.map(name => [name, {}]))
  await client.resource({ key: 'document', actions })
  await client.tenantRole(
    'owner',
    NAMES.map(name => `document:${name}`),
  )
  for (const id of IDS) {
    await client.instance(`document:${id}`)
    await client.user(id)
    await client.assign(id, 'owner', 'default')
  }
}

const verdict = await sharedService({ searchPageSize: 3, searchPageSizeMax: 5 })
await fill(verdict)

const SEARCHES = [
  {
    name: 'subjects',
    path: SUBJECTS,
    body: { subject: { type: 'user' }, action: { name: 'read' }, resource: entity('document:d1') },
    results: IDS.map(id => ({ type: 'user', id })),
  },
  {
    name: 'resources',
    path: RESOURCES_FOUND,
    body: { subject: { type: 'user', id: 'd1' }, action: { name: 'read' }, resource: { type: 'document' } },
    results: IDS.map(id => ({ type: 'document', id })),
  },
  {
    name: 'actions',
    path: ACTIONS,
    body: { subject: { type: 'user', id: 'd1' }, resource: entity('document:d1') },
    results: NAMES.map(name => ({ name })),
  },
]

interface Page {
  readonly page: { readonly next_token: string; readonly count: number; readonly total: number }
  readonly results: readonly unknown[]
}

async function search(path: string, body: unknown, client = verdict): Promise<Page> {
  const text = await textOf(client, path, body)
  const found = JSON.parse(text) as Page
  // `page` first, its members and nothing else, and the token a text, never null.
  expect(text).toBe(
    JSON.stringify({
      page: {
        next_token: String(found.page.next_token),
        count: found.results.length,
        total: found.page.total,
      },
      results: found.results,
    }),
  )
  return found
}

/** The token of the first page. */
async function firstToken(path: string, body: object, limit = 2, client = verdict): Promise<string> {
  const { page } = await search(path, { ...body, page: { limit } }, client)
  expect(page.next_token).toMatch(/^[A-Za-z0-9_-]+$/)
  return page.next_token
}

async function refused(path: string, body: unknown, client = verdict): Promise<string> {
  return messageOf(await ask(client, path, { body }), 400)
}

describe.each(SEARCHES)('a search for $name', ({ path, body, results }) => {
  const total = results.length

  test('is walked in pages of every size: each result once, in order, the end an empty token', async () => {
    for (let limit = 1; limit <= Math.min(total + 1, 5); limit += 1) {
      const seen: unknown[] = []
      for (let token: string | null = null; token !== '';) {
        const found: Page = await search(path, { ...body, page: token === null ? { limit } : { token } })
        expect(found.page.total).toBe(total)
        expect(found.results.length).toBe(Math.min(limit, total - seen.length))
        seen.push(...found.results)
        token = found.page.next_token
        expect(token === '').toBe(seen.length === total)
      }
      expect(seen).toEqual(results)
    }
  })

  test('without a page comes in pages of SEARCH_PAGE_SIZE and can be walked on', async () => {
    const first = await search(path, body)
    expect(first.results).toEqual(results.slice(0, 3))
    for (const page of [
      null,
      {},
      { limit: null, token: null, size: null, next_token: null, properties: null },
    ]) {
      expect((await search(path, { ...body, page })).results).toEqual(first.results)
    }
    const second = await search(path, { ...body, page: { token: first.page.next_token } })
    expect(second.results).toEqual(results.slice(3, 6))
  })

  test('with a limit beyond MAX_SEARCH_PAGE_SIZE is cut to that, silently', async () => {
    for (const limit of [5, 6, 10_000, 1e15, 1e300]) {
      const found = await search(path, { ...body, page: { limit } })
      expect(found.results).toEqual(results.slice(0, 5))
      if (found.page.next_token === '') continue
      // The limit of the walk is what it was cut to: naming the large one again is no other limit.
      const next = await search(path, { ...body, page: { limit, token: found.page.next_token } })
      expect(next.results).toEqual(results.slice(5))
    }
  })

  test('with limit 0 holds nothing, says the total, and gives a token with which nothing is skipped', async () => {
    const found = await search(path, { ...body, page: { limit: 0 } })
    expect(found).toEqual({ page: { next_token: expect.stringMatching(/./), count: 0, total }, results: [] })
    const next = await search(path, { ...body, page: { token: found.page.next_token, limit: 0 } })
    expect(next.page).toMatchObject({ count: 0, total })
    expect(await refused(path, { ...body, page: { token: found.page.next_token, limit: 2 } })).toContain(
      'limit',
    )
    const nothing = { ...body, resource: { type: 'castle', id: 'c1' }, page: { limit: 0 } }
    expect(await textOf(verdict, path, nothing)).toBe(lastPage([]))
  })

  test.each([-1, 1.5, '2', true, [], {}, -1e300, 1e-300])(
    'is 400 for the limit %j, in either dialect',
    async limit => {
      expect(await refused(path, { ...body, page: { limit } })).toContain('page.limit')
      expect(await refused(path, { ...body, page: { size: limit } })).toContain('page.size')
    },
  )

  test('goes on with the limit it began with: left out or repeated, and 400 for another', async () => {
    const token = await firstToken(path, body)
    for (const page of [{ token }, { token, limit: null }, { token, limit: 2 }, { token, size: 2 }]) {
      expect((await search(path, { ...body, page })).results).toEqual(results.slice(2, 4))
    }
    for (const limit of [0, 1, 3, 4, 5, 100]) {
      expect(await refused(path, { ...body, page: { token, limit } })).toContain('limit')
      expect(await refused(path, { ...body, page: { token, size: limit } })).toContain('limit')
    }
  })

  test('speaks both dialects, mixed as one likes, and is 400 where they contradict each other', async () => {
    expect((await search(path, { ...body, page: { size: 2 } })).results).toEqual(results.slice(0, 2))
    expect((await search(path, { ...body, page: { size: 2, limit: 2 } })).results).toEqual(
      results.slice(0, 2),
    )
    const token = await firstToken(path, body)
    for (const page of [
      { next_token: token },
      { next_token: token, token },
      { next_token: token, token: null },
      { token, next_token: null, size: 2, limit: null },
    ]) {
      expect((await search(path, { ...body, page })).results).toEqual(results.slice(2, 4))
    }
    const other = await firstToken(path, body, 3)
    for (const page of [
      { limit: 2, size: 3 },
      { limit: 0, size: 1 },
      { token, next_token: other },
      { token, next_token: 'other' },
    ]) {
      await refused(path, { ...body, page })
    }
  })

  test('takes the request again with its members in another order, and what nobody knows changed', async () => {
    const token = await firstToken(path, { ...body, context: { b: 1, a: { d: 2, c: 3 } } })
    const turned = {
      page: { properties: { any: 'thing' }, unknown: 1, token },
      context: { a: { c: 3, d: 2 }, b: 1 },
      ...Object.fromEntries(Object.entries(body).toReversed()),
      note: 'new',
    }
    expect((await search(path, turned)).results).toEqual(results.slice(2, 4))
    // What the search ignores: the id of what is searched, and an action where actions are.
    const ignored = {
      [SUBJECTS]: { subject: { type: 'user', id: 'whoever' } },
      [RESOURCES_FOUND]: { resource: { type: 'document', id: 'whichever' } },
      [ACTIONS]: { action: { name: 'whatever' } },
    }[path]
    expect((await search(path, { ...turned, ...ignored })).results).toEqual(results.slice(2, 4))
    const noted = { ...turned, resource: { _note: 'x', ...body.resource, properties: null } }
    expect((await search(path, noted)).results).toEqual(results.slice(2, 4))
  })

  test('is 400 for a token that belongs to a request with another entity or parameter', async () => {
    const token = await firstToken(path, body)
    const page = { token }
    const changed: object[] = [
      { ...body, context: { a: 1 } },
      { ...body, resource: { ...body.resource, properties: { tenant: 'default' } } },
      { ...body, resource: { ...body.resource, type: 'castle' } },
      { ...body, subject: { ...body.subject, properties: { a: 1 } } },
      { ...body, subject: { ...body.subject, type: 'identity' } },
      ...(path === ACTIONS ? [] : [{ ...body, action: { name: 'copy' } }]),
      ...(path === ACTIONS ? [] : [{ ...body, action: { name: 'read', properties: { a: 1 } } }]),
      ...(path === SUBJECTS ? [] : [{ ...body, subject: { type: 'user', id: 'd2' } }]),
      ...(path === RESOURCES_FOUND ? [] : [{ ...body, resource: entity('document:d2') }]),
    ]
    for (const other of changed) expect(await refused(path, { ...other, page })).toContain('page.token')
    // One body that is good for all three searches.
    const whole = { ...evaluation('d1', 'read', 'document:d1'), page }
    for (const other of SEARCHES) {
      if (other.path !== path) expect(await refused(other.path, whole)).toContain('page.token')
    }
    expect((await search(path, { ...body, page })).results).toEqual(results.slice(2, 4))
  })

  test('is 400 for a token that was tampered with, in any of its characters', async () => {
    const token = await firstToken(path, body)
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A'
      await refused(path, { ...body, page: { token: token.slice(0, at) + other + token.slice(at + 1) } })
    }
    for (const bad of [
      token.slice(0, -1),
      token.slice(1),
      `${token}A`,
      `${token}=`,
      ` ${token}`,
      `${token}\n`,
      token + token,
    ]) {
      expect(await refused(path, { ...body, page: { token: bad } })).toContain('page.token')
    }
  })

  test.each([
    'x',
    'null',
    '0',
    '{}',
    'A'.repeat(22),
    'A'.repeat(86),
    '=',
    '\u0000',
    '😀',
    'x'.repeat(100_000),
  ])('is 400 for the token %.20j', async token => {
    for (const name of ['token', 'next_token'])
      expect(await refused(path, { ...body, page: { [name]: token } })).toContain('page.token')
  })

  test('is 400 for a token that is no text', async () => {
    for (const token of [7, true, {}, []]) {
      for (const name of ['token', 'next_token'])
        expect(await refused(path, { ...body, page: { [name]: token } })).toContain(`page.${name}`)
    }
  })

  test('has tokens that do not show whose key they hold the place of', async () => {
    const token = await firstToken(path, body)
    for (const part of [token, Buffer.from(token, 'base64url').toString('latin1')]) {
      expect(part).not.toContain('document')
      expect(part).not.toContain('default')
    }
  })
})

describe('a token', () => {
  const [{ path, body, results }] = SEARCHES as [(typeof SEARCHES)[number]]
  const goOn = (client: Client, token: string, key?: string): Promise<TextAnswer> =>
    ask(client, path, { body: { ...body, page: { token } }, ...(key !== undefined && { key }) })
  const found = (answer: TextAnswer) => {
    expect(answer.status, answer.text).toBe(200)
    return (JSON.parse(answer.text) as Page).results
  }

  test('lives on after a restart, and on another instance with the same data', async () => {
    const directory = storeDirectory()
    const client = await startedService({ storeUrl: `lmdb:${directory}` })
    await fill(client)
    const token = await firstToken(path, body, 2, client)
    const again = await client.restart()
    expect(found(await goOn(again, token))).toEqual(results.slice(2, 4))
    await again.close()
    const copy = storeDirectory()
    cpSync(directory, copy, { recursive: true })
    const elsewhere = await startedService({ storeUrl: `lmdb:${copy}` })
    expect(found(await goOn(elsewhere, token))).toEqual(results.slice(2, 4))
  })

  test('is taken by every thread of a service, and 400 for a service with another store', async () => {
    const client = await startedService({ httpThreads: 3 })
    await fill(client)
    const token = await firstToken(path, body, 2, client)
    for (let round = 0; round < 12; round += 1) {
      const options = { body: { ...body, page: { token } }, headers: { connection: 'close' } }
      expect(found(await ask(client, path, options))).toEqual(results.slice(2, 4))
    }
    messageOf(await goOn(verdict, token), 400)
  })

  test('of another environment is 400, though the request is the same', async () => {
    const otherKey = await neighbourOf(verdict, 'other')
    const token = await firstToken(path, body)
    messageOf(await goOn(verdict, token, otherKey), 400)
    // The other environment knows nothing of the first one's facts.
    expect((await ask(verdict, path, { body, key: otherKey })).text).toBe(lastPage([]))
    expect(found(await goOn(verdict, token))).toEqual(results.slice(2, 4))
  })
})
