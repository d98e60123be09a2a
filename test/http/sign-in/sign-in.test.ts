/** Sign-in over HTTP at an issuer that forges tokens and responses (administration.md section 3). */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type Forgery,
  ForgingIssuer,
  newKey,
} from '#testing/issuer/forging-issuer.ts'
import { PLAIN_BODY_BYTES_MAX } from '#model/limits.ts'
import { ADMIN_KEY, API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { Browser, PUBLIC_URL, SESSION_COOKIE, SIGN_IN, SIGN_IN_COOKIE } from './browser.ts'

const issuer = await ForgingIssuer.start()
const env = {
  ADMIN_API_KEY: ADMIN_KEY,
  STORE_URL: 'memory:',
  HTTP_THREADS: '1',
  LOG_LEVEL: 'debug',
  PUBLIC_URL: `${PUBLIC_URL}/`,
  OIDC_ISSUER: issuer.origin,
  OIDC_CLIENT_ID: CLIENT_ID,
  OIDC_CLIENT_SECRET: CLIENT_SECRET,
  OIDC_OWNERS: 'ann',
  OIDC_NAME: 'Example',
}
const service = new ServiceProcess({ cwd: tmpdir(), env })
const address = await service.address()
const without = await sharedService()
/** Texts that no log line, audit entry or metric may contain. */
const secrets = new Set<string>([CLIENT_SECRET, 'access-token of the tests'])

afterEach(() => issuer.reset())
afterAll(async () => {
  await service.end('SIGTERM')
  await issuer.close()
})

/** A browser whose cookies and parameters count as secrets. */
function newBrowser(): Browser {
  return new Browser(address, secret => secrets.add(secret))
}

async function asAdmin(path: string): Promise<string> {
  const response = await fetch(address + path, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  return response.text()
}

const SIGNED_IN = /^signed-in\?revision=[\w-]+\.\d+$/

describe('without an issuer', () => {
  test('the console offers sign-in with a key, and the other paths do not exist', async () => {
    expect(await without.get(SIGN_IN)).toMatchObject({ status: 200, body: { oidc: null, key: true } })
    const missing = { status: 404, body: { message: expect.stringContaining('set OIDC_ISSUER') } }
    const text = '{'.padEnd(PLAIN_BODY_BYTES_MAX + 1)
    for (const [method, path] of [
      ['POST', SIGN_IN],
      ['GET', `${SIGN_IN}/callback?state=a&state=b`],
      ['POST', `${SIGN_IN}/back-channel-logout`],
      ['GET', '/v2/session'],
      ['DELETE', '/v2/session'],
      ['GET', '/v2/sessions?per_page=none'],
      ['DELETE', '/v2/sessions/%zz'],
    ] as const)
      for (const key of [null, API_KEY])
        expect([
          method,
          path,
          await without.send(method, path, { key, ...(method === 'POST' && { text }) }),
        ]).toMatchObject([method, path, missing])
    expect((await without.send('HEAD', `${SIGN_IN}/callback`)).status).toBe(404)
    expect(await without.send('GET', '/v2/members/me')).toMatchObject({ status: 404 })
    expect(JSON.stringify(await without.get('/metrics'))).not.toMatch(/verdict_(sign_ins_total|sessions)/)
  })
})

describe('a sign-in', () => {
  test('is offered with the name of the issuer, at the public address', async () => {
    const { body } = await newBrowser().send('GET', SIGN_IN)
    expect(body).toEqual({ oidc: { name: 'Example' }, key: true })
    expect(service.stdout).toContain(`\nConsole: ${PUBLIC_URL}/console\n`)
  })

  test('sends the browser to the issuer with PKCE and random values, whatever host the request names', async () => {
    const hosts = {
      forwarded: 'host=evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
    }
    const browser = newBrowser()
    const addresses = [await browser.begin(), await browser.begin({}, hosts)].map(text => new URL(text))
    for (const { origin, pathname, searchParams } of addresses) {
      expect(origin + pathname).toBe(`${issuer.origin}/authorize`)
      const { state, nonce, code_challenge: challenge, ...others } = Object.fromEntries(searchParams)
      for (const random of [state, nonce, challenge]) expect(random).toMatch(/^[\w-]{43}$/)
      expect(others).toEqual({
        client_id: CLIENT_ID,
        response_type: 'code',
        response_mode: 'query',
        redirect_uri: `${PUBLIC_URL}/v2/sign-in/callback`,
        scope: 'openid profile email',
        code_challenge_method: 'S256',
      })
    }
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(new Set(addresses.map(({ searchParams }) => searchParams.get(name))).size).toBe(2)
    }
  })

  test('has a separate cookie, and ends with a cookie of the session and an audit entry', async () => {
    const browser = newBrowser()
    const begun = await browser.send('POST', SIGN_IN, { body: '{}' })
    expect(begun.headers.get('cache-control')).toBe('no-store')
    const [name] = browser.cookies.keys()
    expect(begun.headers.getSetCookie()).toEqual([
      `${name}=${browser.cookies.get(name!)}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600`,
    ])
    expect(name).toMatch(new RegExp(`^${SIGN_IN_COOKIE}[0-9a-f]{8}$`))
    const parameters = issuer.authorize((begun.body as { readonly location: string }).location)
    const done = await browser.send('GET', `${SIGN_IN}/callback?${new URLSearchParams(parameters)}`)
    expect(done.status).toBe(303)
    expect(done.headers.get('location')!.replace(`${PUBLIC_URL}/console#/`, '')).toMatch(SIGNED_IN)
    expect(done.headers.get('cache-control')).toBe('no-store')
    expect(done.headers.getSetCookie()).toEqual([
      `${name}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`,
      expect.stringMatching(
        new RegExp(
          `^${SESSION_COOKIE}=[\\w-]{43}\\.[\\w-]+\\.\\d+; Path=/; Secure; HttpOnly; SameSite=Strict$`,
        ),
      ),
    ])
    expect(await asAdmin('/v2/audit-log?operation=finishSignIn')).toContain('"operation":"finishSignIn"')
  })

  test('does not disturb that of another tab, and the fifth replaces the oldest', async () => {
    const browser = newBrowser()
    const begun: string[] = []
    for (let tab = 0; tab < 5; tab++) begun.push(await browser.begin())
    expect(browser.cookies.size).toBe(4)
    for (const location of begun.slice(1).toReversed()) {
      expect(await browser.finish(issuer.authorize(location))).toMatch(SIGNED_IN)
    }
    expect(await browser.finish(issuer.authorize(begun[0]!))).toBe('sign-in?error=expired')
  })

  test.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: `${PUBLIC_URL}.evil.example` }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' }, 200],
  ])('begun by a request with %j has status %i', async (headers: Record<string, string>, status) => {
    const answer = await newBrowser().beginAnyhow({}, headers)
    expect(answer.status).toBe(status)
    if (status === 403) expect((answer.body as { readonly message: string }).message).toContain(PUBLIC_URL)
  })

  test('never returns to another address than the console', async () => {
    const target = String.raw`/\evil.example`
    const names = ['return_to', 'redirect_uri', 'rd', 'next', 'post_login_redirect', 'RelayState']
    const wanted = Object.fromEntries(names.map(name => [name, target]))
    const browser = newBrowser()
    const location = await browser.begin(wanted)
    expect(location).not.toContain('evil')
    expect(await browser.finish({ ...wanted, ...issuer.authorize(location) })).toMatch(SIGNED_IN)
    expect(await browser.finish({ ...wanted, error: target, state: target })).toBe('sign-in?error=expired')
  })

  test('sets no cookie for a person without a grant, and is logged', async () => {
    const { person } = issuer
    issuer.person = { ...person, sub: 'bob' }
    const browser = newBrowser()
    expect(await browser.signIn(issuer)).toBe('sign-in?error=not_a_member')
    expect(browser.cookies.size).toBe(0)
    issuer.person = person
    await service.logMatch(/"subject":"bob"/)
    expect(await asAdmin('/v2/audit-log')).not.toContain('bob')
  })
})

describe('a response of the issuer', () => {
  type Parameters = ReturnType<ForgingIssuer['authorize']>
  const query = (parameters: Readonly<Record<string, string>>) => String(new URLSearchParams(parameters))

  test.each<[string, (parameters: Parameters, browser: Browser) => string, string]>([
    ['without state', ({ code }) => query({ code }), 'failed'],
    ['with two states', ({ state, code }) => `${query({ state, code })}&state=${state}`, 'failed'],
    ['with another state', ({ code }) => query({ state: 'a', code }), 'expired'],
    ['without code', ({ state }) => query({ state }), 'failed'],
    ['with an empty code', ({ state }) => query({ state, code: '' }), 'failed'],
    ['with two codes', ({ state, code }) => `${query({ state, code })}&code=${code}`, 'failed'],
    ['with two errors', ({ state }) => `${query({ state, error: 'access_denied' })}&error=a`, 'failed'],
    ['of another issuer', all => query({ ...all, iss: 'https://evil.example' }), 'failed'],
    ['with two issuers', all => `${query({ ...all, iss: issuer.origin })}&iss=${issuer.origin}`, 'failed'],
    [
      'with an error of another issuer',
      ({ state }) => query({ state, error: 'access_denied', iss: 'a' }),
      'failed',
    ],
    ['without cookie', (all, { cookies }) => (cookies.clear(), query(all)), 'expired'],
    [
      'with a changed cookie',
      (all, browser) => (
        browser.change(value => value.replace(/.$/, end => (end === 'A' ? 'Q' : 'A'))),
        query(all)
      ),
      'expired',
    ],
    [
      'with a random cookie',
      (all, browser) => (browser.change(() => randomBytes(300).toString('base64url')), query(all)),
      'expired',
    ],
    ['with an empty cookie', (all, browser) => (browser.change(() => ''), query(all)), 'expired'],
    [
      'with a repeated cookie',
      (all, browser) => (browser.change(value => `${value}; ${browser.onlyName()}=${value}`), query(all)),
      'expired',
    ],
    ['access_denied', ({ state }) => query({ state, error: 'access_denied' }), 'denied'],
    ['server_error', ({ state }) => query({ state, error: 'server_error' }), 'unavailable'],
    [
      'temporarily_unavailable',
      ({ state }) => query({ state, error: 'temporarily_unavailable' }),
      'unavailable',
    ],
    ['login_required', ({ state, code }) => query({ state, code, error: 'login_required' }), 'failed'],
  ])('%s is refused before anything is sent, and clears the cookie', async (_, forged, error) => {
    const browser = newBrowser()
    const parameters = issuer.authorize(await browser.begin())
    issuer.requests.length = 0
    const text = forged(parameters, browser)
    const hasState = new URLSearchParams(text).getAll('state').join() === parameters.state
    expect(await browser.finish(text)).toBe(`sign-in?error=${error}`)
    expect(issuer.requests).toEqual([])
    if (hasState) expect(browser.cookies.size).toBe(0)
  })

  test('with the cookie of another sign-in is refused', async () => {
    const browser = newBrowser()
    await browser.begin()
    const [, value] = [...browser.cookies][0]!
    browser.cookies.clear()
    const parameters = issuer.authorize(await browser.begin())
    browser.change(() => value)
    expect(await browser.finish(parameters)).toBe('sign-in?error=expired')
  })

  test('is not finished by a HEAD request', async () => {
    const browser = newBrowser()
    const parameters = issuer.authorize(await browser.begin())
    issuer.requests.length = 0
    const head = await browser.send('HEAD', `${SIGN_IN}/callback?${query(parameters)}`)
    expect([head.status, head.headers.get('allow'), issuer.requests]).toEqual([405, 'GET', []])
    expect(await browser.finish(parameters)).toMatch(SIGNED_IN)
  })

  test('names the issuer if its metadata announces this', async () => {
    const browser = newBrowser()
    const parameters = issuer.authorize(await browser.begin())
    expect(await browser.finish({ ...parameters, iss: issuer.origin })).toMatch(SIGNED_IN)
  })

  test('is used once: a repeated one sends no code', async () => {
    const browser = newBrowser()
    const parameters = issuer.authorize(await browser.begin())
    const cookies = [...browser.cookies]
    expect(await browser.finish(parameters)).toMatch(SIGNED_IN)
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    issuer.requests.length = 0
    expect(await browser.finish(parameters)).toBe('sign-in?error=failed')
    expect(issuer.requests).toEqual([])
  })

  test('with a code that the issuer has already exchanged is refused', async () => {
    const browser = newBrowser()
    const { code } = issuer.authorize(await browser.begin())
    expect(await browser.signIn(issuer)).toMatch(SIGNED_IN)
    const { state } = issuer.authorize(await browser.begin())
    expect(await browser.finish({ state, code })).toBe('sign-in?error=failed')
  })
})

describe('an ID token', () => {
  const now = () => Math.floor(Date.now() / 1_000)
  const stranger = newKey()
  const part = (text: string, index: number): string => text.split('.')[index]!

  test.each<[string, () => Forgery, boolean]>([
    ['without signature', () => ({ head: { alg: 'none' } }), false],
    ['without signature and without key id', () => ({ head: { alg: 'none', kid: undefined } }), false],
    ['signed with the secret of the client', () => ({ head: { alg: 'HS256' } }), false],
    ['signed by another key', () => ({ key: { ...stranger, published: issuer.keys[0]!.published } }), false],
    ['signed by an unknown key', () => ({ key: stranger }), false],
    [
      'with a key in its head',
      () => ({ head: { jwk: stranger.published, kid: undefined }, key: stranger }),
      false,
    ],
    [
      'with changed claims',
      () => ({
        tamper: text => [part(text, 0), part(text, 1).slice(0, -4) + 'AAAA', part(text, 2)].join('.'),
      }),
      false,
    ],
    ['with two parts', () => ({ tamper: text => text.split('.').slice(0, 2).join('.') }), false],
    ['of another issuer', () => ({ claims: { iss: 'https://evil.example' } }), false],
    ['of the issuer with another spelling', () => ({ claims: { iss: `${issuer.origin}/` } }), false],
    ['without issuer', () => ({ claims: { iss: undefined } }), false],
    ['for another client', () => ({ claims: { aud: 'other' } }), false],
    ['for no client', () => ({ claims: { aud: [] } }), false],
    ['for several clients', () => ({ claims: { aud: [CLIENT_ID, 'other'] } }), false],
    [
      'for several clients and used by another',
      () => ({ claims: { aud: [CLIENT_ID, 'other'], azp: 'other' } }),
      false,
    ],
    [
      'for several clients and used by this one',
      () => ({ claims: { aud: ['other', CLIENT_ID], azp: CLIENT_ID } }),
      true,
    ],
    ['with a nonce of another sign-in', () => ({ claims: { nonce: 'a' } }), false],
    ['without nonce', () => ({ claims: { nonce: undefined } }), false],
    ['that expired within the clock skew', () => ({ claims: { exp: now() - 20 } }), true],
    ['that expired before', () => ({ claims: { exp: now() - 31 } }), false],
    ['without expiration', () => ({ claims: { exp: undefined } }), false],
    ['issued within the clock skew', () => ({ claims: { iat: now() + 29 } }), true],
    ['issued in the future', () => ({ claims: { iat: now() + 60 } }), false],
    ['issued five minutes ago', () => ({ claims: { iat: now() - 300 } }), true],
    ['valid within the clock skew', () => ({ claims: { nbf: now() + 29 } }), true],
    ['valid in the future', () => ({ claims: { nbf: now() + 60 } }), false],
    ['without subject', () => ({ claims: { sub: undefined } }), false],
    ['with an empty subject', () => ({ claims: { sub: '' } }), false],
    ['with a long subject', () => ({ claims: { sub: 'a'.repeat(256) } }), false],
    ['with a subject outside ASCII', () => ({ claims: { sub: 'änn' } }), false],
    ['with an unknown critical extension', () => ({ head: { crit: ['b64'], b64: false } }), false],
  ])('%s', async (_, forgery, isAccepted) => {
    issuer.forgery = forgery()
    const browser = newBrowser()
    const page = await browser.signIn(issuer)
    if (isAccepted) expect(page).toMatch(SIGNED_IN)
    else expect([page, browser.cookies.size]).toEqual(['sign-in?error=failed', 0])
  })
})

describe('nothing secret', () => {
  test('is in a log line, an audit entry or a metric', async () => {
    const browser = newBrowser()
    await browser.signIn(issuer)
    const texts = [
      service.stdout,
      service.stderr,
      await asAdmin('/v2/audit-log?per_page=100'),
      await asAdmin('/metrics'),
    ]
    expect(texts[1]).toContain('a sign-in did not succeed')
    expect(secrets.size).toBeGreaterThan(100)
    for (const text of texts) for (const secret of secrets) expect(text.includes(secret)).toBe(false)
    for (const result of ['ok', 'denied', 'expired', 'failed', 'unavailable', 'not_a_member']) {
      expect(texts[3]).toMatch(new RegExp(`verdict_sign_ins_total\\{result="${result}"\\} [1-9]`))
    }
  })
})
