/** Order and form of errors: path and method, credentials, content type, JSON, shape (native.md D-38). */
import { describe, expect, test } from 'vitest'
import { allowedBody, AUTHORIZED, ORGANIZATION_KEY, sharedEdge } from './edge-server.ts'

const edge = await sharedEdge()

const JSON_HEADERS = { ...AUTHORIZED, 'content-type': 'application/json' }

function send(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  return fetch(edge.origin + path, { method, headers, ...(body !== undefined && { body }) })
}

async function textOf(response: Response): Promise<[number, string | null, string]> {
  return [response.status, response.headers.get('content-type'), await response.text()]
}

describe('unknown paths', () => {
  test('return 404 in the form of their API family', async () => {
    expect(await textOf(await send('GET', '/nowhere'))).toEqual([
      404,
      'application/json',
      '{"code":404,"message":"this path does not exist"}',
    ])
    expect(await textOf(await send('POST', '/access/v1/search/tenant'))).toEqual([
      404,
      'text/plain; charset=utf-8',
      'this path does not exist',
    ])
    for (const path of ['/v2', '/v2/nowhere', '/v1/nowhere', '/v2/things/']) {
      const response = await send('POST', path, {}, '{')
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error_code: 'NOT_FOUND', support_link: null })
    }
  })

  test('that only begin like management paths return errors in the native form', async () => {
    for (const path of ['/v20', '/v2x/things', '/access/v10/evaluation']) {
      const message = 'this path does not exist'
      expect(await (await send('GET', path)).json()).toEqual({ code: 404, message })
    }
  })

  test('include known paths in another case, with a trailing slash, or with encoded fixed parts', async () => {
    for (const path of ['/Allowed', '/allowed/', '//allowed', '/%61llowed']) {
      expect((await send('POST', path, AUTHORIZED, allowedBody())).status, path).toBe(404)
    }
  })
})

describe('another method on a known path', () => {
  test('returns 405 with the allowed methods, in the form of the API family', async () => {
    const native = await send('GET', '/allowed')
    expect([native.status, native.headers.get('allow')]).toEqual([405, 'POST'])
    expect(await native.json()).toEqual({ code: 405, message: 'this path supports only POST' })
    const access = await send('GET', '/access/v1/evaluation')
    expect(await textOf(access)).toEqual([405, 'text/plain; charset=utf-8', 'this path supports only POST'])
    const management = await send('DELETE', '/v2/things')
    expect([management.status, management.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
    expect(await management.json()).toMatchObject({ error_code: 'INVALID_INPUT' })
    const metadata = await send('POST', '/.well-known/authzen-configuration')
    expect(await textOf(metadata)).toEqual([
      405,
      'text/plain; charset=utf-8',
      'this path supports only GET, HEAD',
    ])
  })

  test('can be OPTIONS, or HEAD without a GET route', async () => {
    for (const [method, path, allow] of [
      ['OPTIONS', '/healthy', 'GET, HEAD'],
      ['HEAD', '/allowed', 'POST'],
    ] as const) {
      const response = await send(method, path)
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
    }
  })

  test('is accepted if a path with a parameter also matches and has that method', async () => {
    const response = await send('GET', '/v2/things/bulk', AUTHORIZED)
    expect(await response.json()).toEqual({ thing: 'bulk' })
    const rejected = await send('PATCH', '/v2/things/bulk', AUTHORIZED)
    expect([rejected.status, rejected.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD'])
  })

  test('is reported before missing credentials', async () => {
    expect((await send('PUT', '/allowed', {}, '{')).status).toBe(405)
  })
})

describe('credentials', () => {
  test.each([
    ['missing', undefined],
    ['not Bearer', 'Basic YTpi'],
    ['a bare token', 'environment-key'],
    ['a scheme without a token', 'Bearer'],
    ['a scheme with blanks', 'Bearer   '],
    ['unknown', 'Bearer unknown'],
    ['two tokens', 'Bearer environment-key environment-key'],
    ['a longer scheme', 'Bearerx environment-key'],
  ])('that are %s are rejected with 401 and a challenge', async (_, authorization) => {
    const headers = authorization === undefined ? {} : { authorization }
    for (const path of ['/allowed', '/access/v1/evaluation', '/v2/things']) {
      const response = await send('POST', path, headers, '{')
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="verdict"')
    }
  })

  test('that are missing cause an error in the form of the route, even if its path resembles another family', async () => {
    const response = await send('POST', '/v1/data/root')
    expect([response.status, await response.json()]).toMatchObject([401, { code: 401 }])
  })

  test('can have the scheme in any case', async () => {
    for (const scheme of ['bearer', 'bEaReR']) {
      const headers = { authorization: `${scheme} environment-key` }
      expect((await send('POST', '/allowed', headers, allowedBody())).status).toBe(200)
    }
  })

  test('must belong to an environment for decisions, but not on other routes', async () => {
    const organization = { authorization: `Bearer ${ORGANIZATION_KEY}` }
    const rejected = await send('POST', '/allowed', organization, '{')
    const message = 'this request needs the API key of an environment'
    expect([rejected.status, await rejected.json()]).toEqual([403, { code: 403, message }])
    expect((await send('GET', '/v2/things', organization)).status).toBe(200)
  })

  test('are ignored on a public route', async () => {
    const response = await send('GET', '/healthy', { authorization: 'Bearer unknown' })
    expect(await response.json()).toEqual({ caller: null })
  })

  test('are optional on an optional-key route, but must be valid if sent', async () => {
    const path = '/.well-known/authzen-configuration'
    expect(await (await send('GET', path)).json()).toEqual({ caller: null })
    expect(await (await send('GET', path, AUTHORIZED)).json()).toEqual({ caller: 'environment' })
    expect((await send('GET', path, { authorization: 'Bearer unknown' })).status).toBe(401)
  })
})

describe('the content type of a request', () => {
  test('must be JSON for AuthZEN, with any parameters', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON ;x=y']) {
      const headers = { ...AUTHORIZED, 'content-type': type }
      const response = await send('POST', '/access/v1/evaluation', headers, '{"action":{"name":"read"}}')
      expect(await response.json()).toEqual({ decision: true })
    }
  })

  test('is rejected with 400 for AuthZEN if it is missing or not JSON, before the body is parsed', async () => {
    for (const type of ['text/plain', 'application/jsonx', 'application/x-www-form-urlencoded', null]) {
      const response = await fetch(`${edge.origin}/access/v1/evaluation`, {
        method: 'POST',
        headers: { ...AUTHORIZED, ...(type !== null && { 'content-type': type }) },
        body: Buffer.from('{'),
      })
      expect(await textOf(response)).toEqual([
        400,
        'text/plain; charset=utf-8',
        'this request needs Content-Type: application/json',
      ])
    }
  })

  test('is ignored on other routes', async () => {
    for (const type of ['text/plain', 'application/octet-stream']) {
      const response = await send('POST', '/allowed', { ...AUTHORIZED, 'content-type': type }, allowedBody())
      expect(response.status).toBe(200)
    }
  })
})

describe('the body of a request', () => {
  test.each(['', ' ', '{', 'nul', '{"a":1}}', "{'a':1}", '{"a":NaN}', '\uFEFF\uFEFF{}'])(
    'is malformed if it is %j: 400 on decisions, 422 on management',
    async body => {
      expect((await send('POST', '/allowed', JSON_HEADERS, body)).status).toBe(400)
      expect((await send('POST', '/access/v1/evaluation', JSON_HEADERS, body)).status).toBe(400)
      const management = await send('POST', '/v2/things', JSON_HEADERS, body)
      expect(management.status).toBe(422)
      expect(await management.json()).toMatchObject({
        error_code: 'INVALID_INPUT',
        detail: [{ loc: ['body'], type: 'json_invalid' }],
      })
    },
  )

  test.each(['[]', 'null', '3', '"text"', 'true'])('has the wrong JSON type if it is %s', async body => {
    expect(await textOf(await send('POST', '/allowed', JSON_HEADERS, body))).toEqual([
      400,
      'application/json',
      '{"code":400,"message":"body: must be object"}',
    ])
    const management = await send('POST', '/v2/things', JSON_HEADERS, body)
    expect(management.status).toBe(422)
    expect(await management.json()).toMatchObject({
      detail: [{ loc: ['body'], msg: 'must be object', type: 'type' }],
    })
  })

  test('has the wrong JSON type if it is an object instead of an array', async () => {
    const response = await send('POST', '/allowed/bulk', JSON_HEADERS, '{"checks":[]}')
    expect(await response.json()).toEqual({ code: 400, message: 'body: must be array' })
    expect(await (await send('POST', '/allowed/bulk', JSON_HEADERS, '[1,2]')).json()).toEqual({ count: 2 })
  })
})
