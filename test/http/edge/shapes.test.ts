/** Validation of bodies, paths and queries: error messages, and the values that handlers receive. */
import { describe, expect, test } from 'vitest'
import { AUTHORIZED, sharedEdge } from './edge-server.ts'

const edge = await sharedEdge()

function post(path: string, body: unknown): Promise<Response> {
  return fetch(edge.origin + path, { method: 'POST', headers: AUTHORIZED, body: JSON.stringify(body) })
}

function get(path: string): Promise<Response> {
  return fetch(edge.origin + path, { headers: AUTHORIZED })
}

async function messageFor(body: unknown): Promise<string> {
  const response = await post('/allowed', body)
  expect(response.status).toBe(400)
  return ((await response.json()) as { message: string }).message
}

describe('the error for an invalid body', () => {
  const fine = { user: { key: 'alice' }, action: 'read' }

  test('names each position', async () => {
    expect(await messageFor({ user: { key: 3 }, action: '' })).toBe(
      'user.key: must be string; action: must not have fewer than 1 characters',
    )
    expect(await messageFor({ ...fine, roles: [{ key: 'a' }, { key: 1 }] })).toBe(
      'roles[1].key: must be string',
    )
  })

  test('names every missing property', async () => {
    expect(await messageFor({})).toBe('user: is required; action: is required')
  })

  test('names each allowed type of a position only once', async () => {
    const user = { key: 'a', email: 3 }
    expect(await messageFor({ ...fine, user })).toBe('user.email: must be string or null')
    expect(await messageFor({ ...fine, mode: 'warp' })).toBe('mode: must be "fast" or "slow"')
    expect(await messageFor({ ...fine, context: [] })).toBe('context: must be object or null')
  })

  test('names the nested position if the outer type is valid', async () => {
    expect(await messageFor({ ...fine, context: {} })).toBe('context.ip: is required')
    expect(await messageFor({ ...fine, context: { ip: 3 } })).toBe('context.ip: must be string')
  })

  test('never contains the invalid value', async () => {
    expect(await messageFor({ ...fine, action: ['my-password'] })).not.toContain('my-password')
    expect(await messageFor({ ...fine, mode: 'my-password' })).not.toContain('my-password')
  })

  test('is 422 with a list of details on management', async () => {
    const response = await post('/v2/things', { key: 'Not This' })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      error_code: 'INVALID_INPUT',
      message: 'attributes: is required; key: must match pattern "^[a-z]+$"',
      detail: [
        { loc: ['body', 'attributes'], msg: 'is required', type: 'missing' },
        { loc: ['body', 'key'], msg: 'must match pattern "^[a-z]+$"', type: 'pattern' },
      ],
    })
  })
})

describe('a valid body', () => {
  test('can have unknown members, and null in optional members', async () => {
    const user = { key: 'alice', email: null, id: 7 }
    expect((await post('/allowed', { user, action: 'read', sdk: null })).status).toBe(200)
  })

  test('can be absent if it is optional, and is validated otherwise', async () => {
    const remove = (body?: string): Promise<Response> =>
      fetch(`${edge.origin}/v2/things/bulk`, { method: 'DELETE', headers: AUTHORIZED, ...(body && { body }) })
    const without = await remove()
    expect([without.status, await without.text()]).toEqual([204, ''])
    expect(await (await remove('{"tenant":"acme"}')).json()).toEqual({ tenant: 'acme' })
    expect((await remove('{"tenant":3}')).status).toBe(422)
    expect((await remove('{')).status).toBe(422)
  })

  test('is ignored by a route without a body', async () => {
    const response = await fetch(`${edge.origin}/v2/failures/NOT_FOUND`, { method: 'POST', body: '{' })
    expect(response.status).toBe(404)
  })
})

describe('a path parameter', () => {
  test.each([
    ['doc%3A1', 'doc:1'],
    ['doc:1', 'doc:1'],
    ['auth0%7Celon', 'auth0|elon'],
    ['a%2Fb', 'a/b'],
    ['%252F', '%2F'],
    ['%C3%BC', 'ü'],
    ['a+b', 'a+b'],
    ['..%2F..', '../..'],
    ['%EF%BF%BD', '\uFFFD'],
    ['__proto__', '__proto__'],
  ])('%s is decoded once to %s', async (raw, decoded) => {
    expect(await (await get(`/v2/things/${raw}`)).json()).toEqual({ thing: decoded })
  })

  test.each(['%', '%2', '%zz', '%ff', '%ED%A0%80', '%C3'])('%s is rejected', async raw => {
    const response = await get(`/v2/things/${raw}`)
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      detail: [{ loc: ['path', 'thing_id'], msg: 'must be percent-encoded UTF-8', type: 'encoding' }],
    })
  })

  test('can be long', async () => {
    const key = 'k'.repeat(2_000)
    expect(await (await get(`/v2/things/${key}`)).json()).toEqual({ thing: key })
  })

  test('is validated if the route has a schema for it', async () => {
    const put = (user: string): Promise<Response> =>
      fetch(`${edge.origin}/v2/things/t/users/${user}`, { method: 'PUT', headers: AUTHORIZED })
    expect(await (await put('alice')).json()).toEqual({ thing_id: 't', user_id: 'alice' })
    const rejected = await put('much-too-long')
    expect(rejected.status).toBe(422)
    expect(await rejected.json()).toMatchObject({ detail: [{ loc: ['path', 'user_id'], type: 'maxLength' }] })
  })
})

describe('query parameters', () => {
  test('have the types of their schema', async () => {
    const response = await get('/v2/things?page=2&ratio=-1.5&detailed=false&search=a%20b+c%26')
    expect(await response.json()).toEqual({ page: 2, ratio: -1.5, detailed: false, search: 'a b c&' })
  })

  test('that are unknown are rejected, because ignoring a filter would return more than requested', async () => {
    const response = await get('/v2/things?page=2&unknown=1')
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ detail: [expect.objectContaining({ loc: ['query', 'unknown'] })] }),
    ])
  })

  test('can be repeated if they are lists', async () => {
    const response = await get('/v2/things?user=a&user=b&level=1&level=2')
    expect(await response.json()).toEqual({ user: ['a', 'b'], level: [1, 2] })
    expect(await (await get('/v2/things?user=a')).json()).toEqual({ user: ['a'] })
  })

  test('are optional', async () => {
    expect(await (await get('/v2/things')).json()).toEqual({})
  })

  test.each([
    ['page=x', 'page', 'must be integer'],
    ['page=', 'page', 'must be integer'],
    ['page=1.0', 'page', 'must be integer'],
    ['page=1e3', 'page', 'must be integer'],
    ['page=0x1', 'page', 'must be integer'],
    [`page=${'9'.repeat(41)}`, 'page', 'must be integer'],
    ['page=0', 'page', 'must be >= 1'],
    ['page=1&page=2', 'page', 'must be given once'],
    ['detailed=True', 'detailed', 'must be true or false'],
    ['detailed=1', 'detailed', 'must be true or false'],
    ['ratio=Infinity', 'ratio', 'must be number'],
    ['level=1&level=x', 'level', 'must be integer'],
  ])('like %s are rejected', async (query, name, msg) => {
    const response = await get(`/v2/things?${query}`)
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      message: `query.${name}: ${msg}`,
      detail: [{ loc: ['query', name], msg }],
    })
  })
})
