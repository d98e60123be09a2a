/** The AuthZEN metadata document (authzen.md 7; native.md 0.14 and 0.19). */
import { describe, expect, test } from 'vitest'
import { ask, messageOf } from '../../support/calls/access-requests.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const WELL_KNOWN = '/.well-known/authzen-configuration'
// STRICT_HEADERS does not affect the document.
const verdict = await sharedService({ hasStrictHeaders: true })

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

describe('the AuthZEN metadata document', () => {
  test('can be read without credentials, has all six members, and is cacheable', async () => {
    const options = { method: 'GET', key: null, headers: { 'x-request-id': 'me' } }
    const answer = await ask(verdict, WELL_KNOWN, options)
    expect(answer.text).toBe(document(verdict.address))
    expect(answer.headers.get('cache-control')).toMatch(/^max-age=\d+$/)
    expect(answer.headers.get('x-request-id')).toBe('me')
  })

  test('can be read with any valid key', async () => {
    for (const key of [API_KEY, ADMIN_KEY])
      expect(await read(verdict, WELL_KNOWN, key)).toBe(document(verdict.address))
  })

  test('is rejected with 401 in plain text if the Authorization header is invalid', async () => {
    for (const authorization of [`Bearer ${API_KEY}x`, 'Bearer', `Basic ${API_KEY}`, API_KEY, '']) {
      const headers = { authorization, 'x-request-id': 'who' }
      const answer = await ask(verdict, WELL_KNOWN, { method: 'GET', key: null, headers })
      messageOf(answer, 401)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm=/)
      expect(answer.headers.get('x-request-id')).toBe('who')
    }
  })

  test('contains only existing endpoints', async () => {
    const { policy_decision_point: _, ...endpoints } = JSON.parse(await read(verdict))
    for (const url of Object.values(endpoints) as string[]) {
      messageOf(await ask(verdict, url.slice(verdict.address.length), { body: [] }), 400)
    }
  })
})

describe('the base URL of the metadata without PUBLIC_URL', () => {
  async function askAt(host: string, ...more: string[]) {
    const connection = await RawConnection.open(verdict.port)
    await connection.send(requestText(`GET ${WELL_KNOWN}`, more).replace('Host: test', `Host: ${host}`))
    const answer = await connection.answer()
    connection.destroy()
    return answer!
  }

  test('is the Host header of the request; headers of proxies are ignored', async () => {
    for (const host of ['pdp.example.com', 'pdp.example.com:8443', '[::1]:7766', '127.0.0.1']) {
      const forwarded = [
        'X-Forwarded-Host: evil.example.com',
        'X-Forwarded-Proto: https',
        'Forwarded: host=evil',
      ]
      expect((await askAt(host, ...forwarded)).body).toBe(document(`http://${host}`))
    }
  })

  test('is an error if the Host header is not a host', async () => {
    for (const host of ['a b', 'a/b', 'a?b', 'u@h', '"', '<script>', 'h#f']) {
      const answer = await askAt(host)
      expect([answer.status, answer.headers.get('content-type')], host).toEqual([
        400,
        'text/plain; charset=utf-8',
      ])
    }
  })
})

test.each([
  ['HTTPS://PDP.example.com:8443', 'HTTPS://PDP.example.com:8443', ''],
  // The base URL keeps its final slash, and the URLs of endpoints do not double that slash.
  ['https://pdp.example.com/', 'https://pdp.example.com', ''],
  ['https://pdp.example.com/a%20b/c/', 'https://pdp.example.com/a%20b/c', '/a%20b/c'],
  // A colon and an asterisk are literal characters.
  ['https://pdp.example.com/t1/:x*', 'https://pdp.example.com/t1/:x*', '/t1/:x*'],
])(
  'with PUBLIC_URL %s, that URL is the base, and its path can follow the path of the metadata document',
  async (publicUrl, endpoints, path) => {
    const client = await startedService({ publicUrl })
    const expected = document(publicUrl, endpoints)
    expect(await read(client, WELL_KNOWN + path)).toBe(expected)
    expect(await read(client)).toBe(expected)
    messageOf(await ask(client, WELL_KNOWN + path, { method: 'GET', key: 'wrong' }), 401)
    const elsewhere = await ask(client, `${WELL_KNOWN}/t1/anything`, { method: 'GET', key: null })
    expect(elsewhere.status).toBe(404)
  },
)
