/** Requests by pages of other origins: `CORS_ORIGINS` at the protocol level and in a real browser. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '#config/read-config.ts'
import { API_KEY, question, startedService } from '#testing/processes/running-service.ts'
import { openPage, startChromium } from '../../support/chromium.ts'

const ORIGIN = 'https://console.example.com'
const PREFLIGHT = {
  origin: ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,if-match',
}

function corsHeaders(response: Response): Record<string, string> {
  return Object.fromEntries([...response.headers].filter(([name]) => /^(access-control-.*|vary)$/.test(name)))
}

test('by default, responses have no CORS headers, and a preflight request is rejected with 405', async () => {
  const verdict = await startedService()
  const got = await fetch(`${verdict.address}/healthy`, { headers: { origin: ORIGIN } })
  expect([got.status, corsHeaders(got)]).toEqual([200, {}])
  const preflight = await fetch(`${verdict.address}/allowed`, { method: 'OPTIONS', headers: PREFLIGHT })
  expect([preflight.status, corsHeaders(preflight)]).toEqual([405, {}])
})

describe('a service with allowed origins', () => {
  const exposed = 'X-Request-ID, X-Revision, Retry-After, Warning, ETag'
  const allowed = {
    'access-control-allow-origin': ORIGIN,
    'access-control-expose-headers': exposed,
    vary: 'Origin',
  }

  test('returns CORS headers with all responses, including errors, but only to an allowed origin', async () => {
    const verdict = await startedService({ corsOrigins: ['http://localhost:5173', ORIGIN] })
    const headersAt = async (path: string, headers: Record<string, string>) =>
      corsHeaders(await fetch(verdict.address + path, { method: 'POST', headers, body: '{}' }))
    const authorization = `Bearer ${API_KEY}`
    for (const path of ['/allowed', '/nowhere', '/healthy']) {
      expect(await headersAt(path, { origin: ORIGIN, authorization })).toEqual(allowed)
      expect(await headersAt(path, { origin: ORIGIN })).toEqual(allowed)
      for (const other of ['https://elsewhere.example.com', `${ORIGIN}.evil.example`, 'null'])
        expect(await headersAt(path, { origin: other, authorization })).toEqual({ vary: 'Origin' })
      expect(await headersAt(path, { authorization })).toEqual({ vary: 'Origin' })
    }
  })

  test('accepts a preflight request on every path, and allows the headers that the request names', async () => {
    const verdict = await startedService({ corsOrigins: [ORIGIN] })
    for (const path of ['/allowed', '/v2/facts/default/default/users/anna', '/nowhere']) {
      const response = await fetch(verdict.address + path, { method: 'OPTIONS', headers: PREFLIGHT })
      expect([path, response.status, corsHeaders(response)]).toEqual([
        path,
        204,
        {
          ...allowed,
          'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
          'access-control-allow-headers': 'authorization,content-type,if-match',
          'access-control-max-age': '600',
        },
      ])
    }
    const other = { ...PREFLIGHT, origin: 'https://elsewhere.example.com' }
    const options = (headers: Record<string, string>) =>
      fetch(`${verdict.address}/allowed`, { method: 'OPTIONS', headers })
    expect(corsHeaders(await options(other))).toEqual({ vary: 'Origin' })
    const plain = await options({})
    expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST'])
    const invalid = await options({ ...PREFLIGHT, 'access-control-request-headers': 'a, b;é' })
    expect([invalid.status, corsHeaders(invalid)['access-control-allow-headers']]).toEqual([204, undefined])
  })
})

test('with CORS_ORIGINS=*, every origin is allowed', async () => {
  const verdict = await startedService({ corsOrigins: ['*'] })
  const response = await fetch(`${verdict.address}/healthy`, { headers: { origin: ORIGIN } })
  expect(corsHeaders(response)).toMatchObject({ 'access-control-allow-origin': '*' })
  expect(response.headers.has('vary')).toBe(false)
})

test('CORS_ORIGINS accepts * or origins, and rejects other values', () => {
  const origins = ['https://a.example', 'http://localhost:5173']
  expect(readConfig({ CORS_ORIGINS: '*' }).corsOrigins).toEqual(['*'])
  expect(readConfig({ CORS_ORIGINS: origins.join(', ') }).corsOrigins).toEqual(origins)
  const wrong = ' console.example.com https://a.example/ https://A.example *,https://a.example null'
  for (const text of wrong.split(' '))
    expect(() => readConfig({ CORS_ORIGINS: text }), text).toThrow('setting CORS_ORIGINS: expected')
})

test('in Chromium, only a page of an allowed origin can send requests and read responses', async () => {
  const pages = createServer((_request, response) => response.end('<!doctype html><title>A page</title>'))
  pages.listen(0, '127.0.0.1')
  onTestFinished(() => void pages.close())
  await once(pages, 'listening')
  const { port } = pages.address() as { port: number }
  const verdict = await startedService({ corsOrigins: [`http://127.0.0.1:${port}`] })
  const browser = await startChromium()
  onTestFinished(() => browser.close())
  const page = await openPage(browser)
  const check = JSON.stringify(question('unknown', 'read', 'document'))
  const ask = `fetch(${JSON.stringify(`${verdict.address}/allowed`)}, {
    method: 'POST',
    headers: { authorization: 'Bearer ${API_KEY}', 'content-type': 'application/json' },
    body: ${JSON.stringify(check)},
  }).then(async answer => [answer.status, await answer.text(), answer.headers.has('x-request-id')], () => 'blocked')`
  await page.goto(`http://127.0.0.1:${port}/`)
  expect(await page.evaluate(ask)).toEqual([200, '{"allow":false,"result":false}', true])
  // Another origin of the same server.
  await page.goto(`http://localhost:${port}/`)
  expect(await page.evaluate(ask)).toBe('blocked')
})
