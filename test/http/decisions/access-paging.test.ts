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
} from '../../support/calls/access-requests.ts'
import {
  type Client,
  neighbourOf,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'

const IDS = ['d1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7']
const NAMES = ['archive', 'copy', 'delete', 'read', 'share']

/** Seven documents, five actions, and seven users with all permissions. */
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
  // `page` is first and has exactly these members. The token is always a string.
  const { page, results } = found
  const expected = { next_token: String(page.next_token), count: results.length, total: page.total }
  expect(text).toBe(JSON.stringify({ page: expected, results }))
  return found
}

/** The token of the first page. */
async function firstToken(path: string, body: object, limit = 2, client = verdict): Promise<string> {
  const { page } = await search(path, { ...body, page: { limit } }, client)
  expect(page.next_token).toMatch(/^[A-Za-z0-9_-]+$/)
  return page.next_token
}

async function rejection(path: string, body: unknown, client = verdict): Promise<string> {
  return messageOf(await ask(client, path, { body }), 400)
}

describe.each(SEARCHES)('a search for $name', ({ path, body, results }) => {
  const total = results.length

  test('returns each result once and in order in pages of any size; the last token is empty', async () => {
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

  test('without `page` has pages of SEARCH_PAGE_SIZE, and can be continued', async () => {
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

  test('uses MAX_SEARCH_PAGE_SIZE instead of a larger limit', async () => {
    for (const limit of [5, 6, 10_000, 1e15, 1e300]) {
      const found = await search(path, { ...body, page: { limit } })
      expect(found.results).toEqual(results.slice(0, 5))
      if (found.page.next_token === '') continue
      // The token contains the reduced limit. Repeating the larger limit does not contradict it.
      const next = await search(path, { ...body, page: { limit, token: found.page.next_token } })
      expect(next.results).toEqual(results.slice(5))
    }
  })

  test('with the limit 0 returns no results, the total, and a token that continues with the first result', async () => {
    const found = await search(path, { ...body, page: { limit: 0 } })
    expect(found).toEqual({ page: { next_token: expect.stringMatching(/./), count: 0, total }, results: [] })
    const next = await search(path, { ...body, page: { token: found.page.next_token, limit: 0 } })
    expect(next.page).toMatchObject({ count: 0, total })
    expect(await rejection(path, { ...body, page: { token: found.page.next_token, limit: 2 } })).toContain(
      'limit',
    )
    const unknown = { ...body, resource: { type: 'castle', id: 'c1' }, page: { limit: 0 } }
    expect(await textOf(verdict, path, unknown)).toBe(lastPage([]))
  })

  test.each([-1, 1.5, '2', true, [], {}, -1e300, 1e-300])(
    'is rejected with 400 for `limit` or `size` %j',
    async limit => {
      expect(await rejection(path, { ...body, page: { limit } })).toContain('page.limit')
      expect(await rejection(path, { ...body, page: { size: limit } })).toContain('page.size')
    },
  )

  test('keeps its limit on later pages, where the limit can be repeated but not changed', async () => {
    const token = await firstToken(path, body)
    for (const page of [{ token }, { token, limit: null }, { token, limit: 2 }, { token, size: 2 }]) {
      expect((await search(path, { ...body, page })).results).toEqual(results.slice(2, 4))
    }
    for (const limit of [0, 1, 3, 4, 5, 100]) {
      expect(await rejection(path, { ...body, page: { token, limit } })).toContain('limit')
      expect(await rejection(path, { ...body, page: { token, size: limit } })).toContain('limit')
    }
  })

  test('accepts the names of both AuthZEN versions, also mixed, but rejects contradictions with 400', async () => {
    for (const page of [{ size: 2 }, { size: 2, limit: 2 }])
      expect((await search(path, { ...body, page })).results).toEqual(results.slice(0, 2))
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
      await rejection(path, { ...body, page })
    }
  })

  test('continues with a token if the members are in another order, or if ignored members changed', async () => {
    const token = await firstToken(path, { ...body, context: { b: 1, a: { d: 2, c: 3 } } })
    const reordered = {
      page: { properties: { any: 'thing' }, unknown: 1, token },
      context: { a: { c: 3, d: 2 }, b: 1 },
      ...Object.fromEntries(Object.entries(body).toReversed()),
      note: 'new',
    }
    expect((await search(path, reordered)).results).toEqual(results.slice(2, 4))
    // A search ignores the id of the searched entities, and the action in a search for actions.
    const ignored = {
      [SUBJECTS]: { subject: { type: 'user', id: 'other' } },
      [RESOURCES_FOUND]: { resource: { type: 'document', id: 'other' } },
      [ACTIONS]: { action: { name: 'other' } },
    }[path]
    expect((await search(path, { ...reordered, ...ignored })).results).toEqual(results.slice(2, 4))
    const noted = { ...reordered, resource: { _note: 'x', ...body.resource, properties: null } }
    expect((await search(path, noted)).results).toEqual(results.slice(2, 4))
  })

  test('rejects a token of a request with another entity or parameter with 400', async () => {
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
    for (const other of changed) expect(await rejection(path, { ...other, page })).toContain('page.token')
    // This body is valid for all three searches.
    const whole = { ...evaluation('d1', 'read', 'document:d1'), page }
    for (const other of SEARCHES) {
      if (other.path !== path) expect(await rejection(other.path, whole)).toContain('page.token')
    }
    expect((await search(path, { ...body, page })).results).toEqual(results.slice(2, 4))
  })

  test('rejects a token with any modified character with 400', async () => {
    const token = await firstToken(path, body)
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A'
      await rejection(path, { ...body, page: { token: token.slice(0, at) + other + token.slice(at + 1) } })
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
      expect(await rejection(path, { ...body, page: { token: bad } })).toContain('page.token')
    }
  })

  test('rejects strings that are not tokens with 400', async () => {
    const lengths = [22, 86, 100_000].map(length => 'A'.repeat(length))
    for (const token of ['x', 'null', '0', '{}', '=', '\u0000', '😀', ...lengths]) {
      for (const name of ['token', 'next_token'])
        expect(await rejection(path, { ...body, page: { [name]: token } })).toContain('page.token')
    }
  })

  test('rejects tokens that are not strings with 400', async () => {
    for (const token of [7, true, {}, []]) {
      for (const name of ['token', 'next_token'])
        expect(await rejection(path, { ...body, page: { [name]: token } })).toContain(`page.${name}`)
    }
  })

  test('returns tokens that do not reveal the key of the last result', async () => {
    const token = await firstToken(path, body)
    for (const part of [token, Buffer.from(token, 'base64url').toString('latin1')]) {
      expect(part).not.toContain('document')
      expect(part).not.toContain('default')
    }
  })
})

describe('a token of a search', () => {
  const [{ path, body, results }] = SEARCHES as [(typeof SEARCHES)[number]]
  const resume = (client: Client, token: string, key?: string): Promise<TextAnswer> =>
    ask(client, path, { body: { ...body, page: { token } }, ...(key !== undefined && { key }) })
  const found = (answer: TextAnswer) => {
    expect(answer.status, answer.text).toBe(200)
    return (JSON.parse(answer.text) as Page).results
  }

  test('is valid after a restart, and in another service with the same data', async () => {
    const directory = storeDirectory()
    const client = await startedService({ storeUrl: `lmdb:${directory}` })
    await fill(client)
    const token = await firstToken(path, body, 2, client)
    const again = await client.restart()
    expect(found(await resume(again, token))).toEqual(results.slice(2, 4))
    await again.close()
    const copy = storeDirectory()
    cpSync(directory, copy, { recursive: true })
    const elsewhere = await startedService({ storeUrl: `lmdb:${copy}` })
    expect(found(await resume(elsewhere, token))).toEqual(results.slice(2, 4))
  })

  test('is valid on every thread of a service, and rejected by a service with another store', async () => {
    const client = await startedService({ httpThreads: 3 })
    await fill(client)
    const token = await firstToken(path, body, 2, client)
    for (let round = 0; round < 12; round += 1) {
      const options = { body: { ...body, page: { token } }, headers: { connection: 'close' } }
      expect(found(await ask(client, path, options))).toEqual(results.slice(2, 4))
    }
    messageOf(await resume(verdict, token), 400)
  })

  test('is rejected in another environment, even if the request is the same', async () => {
    const otherKey = await neighbourOf(verdict, 'other')
    const token = await firstToken(path, body)
    messageOf(await resume(verdict, token, otherKey), 400)
    // The other environment has no facts of the first environment.
    expect((await ask(verdict, path, { body, key: otherKey })).text).toBe(lastPage([]))
    expect(found(await resume(verdict, token))).toEqual(results.slice(2, 4))
  })
})
