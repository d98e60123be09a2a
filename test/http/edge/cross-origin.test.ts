/** Pages of other origins: `CORS_ORIGINS`, by the protocol, and by a real browser that keeps to it. */
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

test('off, as it is by default, nothing is said to pages, and a preflight is 405', async () => {
  const verdict = await startedService()
  const got = await fetch(`${verdict.address}/healthy`, { headers: { origin: ORIGIN } })
  expect([got.status, corsHeaders(got)]).toEqual([200, {}])
  const preflight = await fetch(`${verdict.address}/allowed`, { method: 'OPTIONS', headers: PREFLIGHT })
  expect([preflight.status, corsHeaders(preflight)]).toEqual([405, {}])
})

describe('with origins', () => {
  const exposed = 'X-Request-ID, X-Revision, Retry-After, Warning, ETag'
  const allowed = {
    'access-control-allow-origin': ORIGIN,
    'access-control-expose-headers': exposed,
    vary: 'Origin',
  }

  test('every answer says so to a page of one of them, refusals included, and to no other', async () => {
    const verdict = await startedService({ corsOrigins: ['http://localhost:5173', ORIGIN] })
    const said = async (path: string, headers: Record<string, string>) =>
      corsHeaders(await fetch(verdict.address + path, { method: 'POST', headers, body: '{}' }))
    const authorization = `Bearer ${API_KEY}`
    for (const path of ['/allowed', '/nowhere', '/healthy']) {
      expect(await said(path, { origin: ORIGIN, authorization })).toEqual(allowed)
      expect(await said(path, { origin: ORIGIN })).toEqual(allowed)
      for (const other of ['https://elsewhere.example.com', `${ORIGIN}.evil.example`, 'null'])
        expect(await said(path, { origin: other, authorization })).toEqual({ vary: 'Origin' })
      expect(await said(path, { authorization })).toEqual({ vary: 'Origin' })
    }
  })

  test('a preflight is answered for every path, with the headers that it names', async () => {
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
    const refused = await fetch(`${verdict.address}/allowed`, { method: 'OPTIONS', headers: other })
    expect(corsHeaders(refused)).toEqual({ vary: 'Origin' })
    const plain = await fetch(`${verdict.address}/allowed`, { method: 'OPTIONS' })
    expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST'])
    const strange = { ...PREFLIGHT, 'access-control-request-headers': 'a, b;é' }
    const answered = await fetch(`${verdict.address}/allowed`, { method: 'OPTIONS', headers: strange })
    expect([answered.status, corsHeaders(answered)['access-control-allow-headers']]).toEqual([204, undefined])
  })
})

test('every origin: *', async () => {
  const verdict = await startedService({ corsOrigins: ['*'] })
  const response = await fetch(`${verdict.address}/healthy`, { headers: { origin: ORIGIN } })
  expect(corsHeaders(response)).toMatchObject({ 'access-control-allow-origin': '*' })
  expect(response.headers.has('vary')).toBe(false)
})

test('the setting takes * or origins, and refuses what is no origin', () => {
  const origins = ['https://a.example', 'http://localhost:5173']
  expect(readConfig({ CORS_ORIGINS: '*' }).corsOrigins).toEqual(['*'])
  expect(readConfig({ CORS_ORIGINS: origins.join(', ') }).corsOrigins).toEqual(origins)
  const wrong = ' console.example.com https://a.example/ https://A.example *,https://a.example null'
  for (const text of wrong.split(' '))
    expect(() => readConfig({ CORS_ORIGINS: text }), text).toThrow('setting CORS_ORIGINS: expected')
})

test('in Chromium a page of an origin that is named asks and reads, and one of another does not', async () => {
  const pages = createServer((_request, response) => response.end('<!doctype html><title>A page</title>'))
  pages.listen(0, '127.0.0.1')
  onTestFinished(() => void pages.close())
  await once(pages, 'listening')
  const { port } = pages.address() as { port: number }
  const verdict = await startedService({ corsOrigins: [`http://127.0.0.1:${port}`] })
  const browser = await startChromium()
  onTestFinished(() => browser.close())
  const page = await openPage(browser)
  const asked = JSON.stringify(question('nobody', 'read', 'document'))
  const ask = `fetch(${JSON.stringify(`${verdict.address}/allowed`)}, {
    method: 'POST',
    headers: { authorization: 'Bearer ${API_KEY}', 'content-type': 'application/json' },
    body: ${JSON.stringify(asked)},
  }).then(async answer => [answer.status, await answer.text(), answer.headers.has('x-request-id')], () => 'not let')`
  await page.goto(`http://127.0.0.1:${port}/`)
  expect(await page.evaluate(ask)).toEqual([200, '{"allow":false,"result":false}', true])
  // Another origin, though the same server.
  await page.goto(`http://localhost:${port}/`)
  expect(await page.evaluate(ask)).toBe('not let')
})
