/** The AuthZEN metadata document (authzen.md section 7; contract section 0, rows 14 and 19). */
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { ask, messageOf } from '../support/access-requests.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const WELL_KNOWN = '/.well-known/authzen-configuration'
const verdict = await sharedService()

function document(base: string, endpoints = base): string {
  return JSON.stringify({
    policy_decision_point: base,
    access_evaluation_endpoint: `${endpoints}/access/v1/evaluation`,
    access_evaluations_endpoint: `${endpoints}/access/v1/evaluations`,
    search_subject_endpoint: `${endpoints}/access/v1/search/subject`,
    search_resource_endpoint: `${endpoints}/access/v1/search/resource`,
    search_action_endpoint: `${endpoints}/access/v1/search/action`,
  })
}

async function read(client: Client, path = WELL_KNOWN, key: string | null = null): Promise<string> {
  const answer = await ask(client, path, { method: 'GET', key })
  expect([answer.status, answer.headers.get('content-type')], answer.text).toEqual([200, 'application/json'])
  return answer.text
}

describe('the document', () => {
  test('is read without credentials, holds all six members and nothing empty, and may be cached', async () => {
    const answer = await ask(verdict, WELL_KNOWN, {
      method: 'GET',
      key: null,
      headers: { 'x-request-id': 'me' },
    })
    expect(answer.text).toBe(document(verdict.address))
    expect(answer.headers.get('cache-control')).toMatch(/^max-age=\d+$/)
    expect(answer.headers.get('x-request-id')).toBe('me')
  })

  test('is read with any valid key', async () => {
    expect(await read(verdict, WELL_KNOWN, API_KEY)).toBe(document(verdict.address))
    expect(await read(verdict, WELL_KNOWN, ADMIN_KEY)).toBe(document(verdict.address))
  })

  test('is 401 in plain text for an Authorization header that is not valid', async () => {
    for (const authorization of [`Bearer ${API_KEY}x`, 'Bearer', `Basic ${API_KEY}`, API_KEY, '']) {
      const headers = { authorization, 'x-request-id': 'who' }
      const answer = await ask(verdict, WELL_KNOWN, { method: 'GET', key: null, headers })
      messageOf(answer, 401)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm=/)
      expect(answer.headers.get('x-request-id')).toBe('who')
    }
  })

  test('says endpoints that are there', async () => {
    const { policy_decision_point: _, ...endpoints } = JSON.parse(await read(verdict))
    for (const url of Object.values(endpoints) as string[]) {
      messageOf(await ask(verdict, url.slice(verdict.address.length), { body: [] }), 400)
    }
  })

  test('is not stricter with STRICT_HEADERS', async () => {
    const strict = await startedService({ hasStrictHeaders: true })
    expect(await read(strict)).toBe(document(strict.address))
  })
})

describe('without PUBLIC_URL the base', () => {
  async function askedAs(host: string, ...more: string[]) {
    const connection = await RawConnection.open(verdict.port)
    await connection.send(requestText(`GET ${WELL_KNOWN}`, more).replace('Host: test', `Host: ${host}`))
    const answer = await connection.answer()
    connection.destroy()
    return answer!
  }

  test('is what the caller calls us, and headers of proxies are not believed', async () => {
    for (const host of ['pdp.example.com', 'pdp.example.com:8443', '[::1]:7766', '127.0.0.1']) {
      const forwarded = [
        'X-Forwarded-Host: evil.example.com',
        'X-Forwarded-Proto: https',
        'Forwarded: host=evil',
      ]
      expect((await askedAs(host, ...forwarded)).body).toBe(document(`http://${host}`))
    }
  })

  test('is refused when the Host header is no host', async () => {
    for (const host of ['a b', 'a/b', 'a?b', 'u@h', '"', '<script>', 'h#f']) {
      const answer = await askedAs(host)
      expect([answer.status, answer.headers.get('content-type')], host).toEqual([
        400,
        'text/plain; charset=utf-8',
      ])
    }
  })
})

describe('with PUBLIC_URL', () => {
  test.each(['https://pdp.example.com', 'https://pdp.example.com:8443', 'HTTPS://PDP.example.com'])(
    'the base is exactly that: %s',
    async publicUrl => {
      const client = await startedService({ publicUrl })
      expect(await read(client)).toBe(document(publicUrl))
      expect((await ask(client, `${WELL_KNOWN}/t1`, { method: 'GET', key: null })).status).toBe(404)
    },
  )

  test('a slash at the end stays in the base and is not doubled in the endpoints', async () => {
    const client = await startedService({ publicUrl: 'https://pdp.example.com/' })
    expect(await read(client)).toBe(document('https://pdp.example.com/', 'https://pdp.example.com'))
  })

  test.each([
    ['https://pdp.example.com/t1', '/t1'],
    ['https://pdp.example.com/a/b', '/a/b'],
    ['https://pdp.example.com/a%20b', '/a%20b'],
  ])('of a path the document is found between host and path: %s', async (publicUrl, path) => {
    const client = await startedService({ publicUrl })
    expect(await read(client, WELL_KNOWN + path)).toBe(document(publicUrl))
    expect(await read(client)).toBe(document(publicUrl))
    const wrong = await ask(client, WELL_KNOWN + path, { method: 'GET', key: 'wrong' })
    messageOf(wrong, 401)
  })

  test('of a path with a colon or an asterisk the document is found there, and nowhere else', async () => {
    const client = await startedService({ publicUrl: 'https://pdp.example.com/t1/:x*' })
    expect(await read(client, `${WELL_KNOWN}/t1/:x*`)).toBe(document('https://pdp.example.com/t1/:x*'))
    const elsewhere = await ask(client, `${WELL_KNOWN}/t1/anything`, { method: 'GET', key: null })
    expect(elsewhere.status).toBe(404)
  })

  test('of a path that ends with a slash the document is found without it', async () => {
    const client = await startedService({ publicUrl: 'https://pdp.example.com/t1/' })
    const expected = document('https://pdp.example.com/t1/', 'https://pdp.example.com/t1')
    expect(await read(client, `${WELL_KNOWN}/t1`)).toBe(expected)
  })

  test.each([
    'pdp.example.com',
    '/t1',
    'ftp://pdp.example.com',
    'https://pdp.example.com?a=1',
    'https://pdp.example.com/#f',
    'https://pdp.example.com?',
    'https://pdp.example.com/t1#',
    ' https://pdp.example.com',
    'https://pdp.example.com\\t1',
    'https://user:pass@pdp.example.com',
    '',
  ])('that is no base is refused at start: %j', value => {
    expect(() => readConfig({ PUBLIC_URL: value })).toThrow(/PUBLIC_URL/)
  })

  test('with credentials is refused without telling them', () => {
    const refused = () => readConfig({ PUBLIC_URL: 'https://ops:hunter2@pdp.example.com' })
    expect(refused).toThrow('got one with credentials')
    expect(refused).not.toThrow(/hunter2/)
  })
})
