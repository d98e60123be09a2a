/**
 * Sign-in on one and several nodes, with an issuer that is slow, down or lying (administration.md S3, S7,
 * S8).
 */
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { SIGN_IN_MS, SIGN_INS_AT_ONCE_MAX, SIGN_INS_PER_SECOND_MAX } from '#model/limits.ts'
import type { SignInStep } from '#model/sign-in/sign-in-request.ts'
import { PURPOSE, Seal } from '#secrets/seal.ts'
import { newKey } from '#testing/issuer/forging-issuer.ts'
import { SIGNED_IN, signInAtIssuer } from './issuer-service.ts'

describe('an unfinished sign-in', () => {
  test('is finished by another node, and ends the session that the browser had', async () => {
    const { node, begin, finish, sessions, signIn } = await signInAtIssuer()
    expect(await signIn()).toBe(SIGNED_IN)
    const [former] = sessions()
    expect(await finish(await begin(undefined, former!.id), node())).toBe(SIGNED_IN)
    expect(sessions().map(({ id }) => id)).not.toContain(former!.id)
  })

  test('can be finished for ten minutes', async () => {
    const { begin, finish, clock } = await signInAtIssuer()
    const [one, other] = [await begin(), await begin()]
    clock.now += SIGN_IN_MS
    expect(await finish(one)).toBe(SIGNED_IN)
    clock.now += 1
    expect(await finish(other)).toBe('sign-in?error=expired')
  })

  test('leaves no row, and expired or foreign cookies are cleared when another begins', async () => {
    const { begin, elapsed, clock, cookiesOf, organizationStore } = await signInAtIssuer()
    const before = organizationStore.view.sequence()
    let kept: [string, string][] = []
    for (let count = 0; count < 1_000; count++) {
      elapsed.ms += 50
      kept = cookiesOf(await begin(undefined, null, kept)).filter(([, value]) => value !== '')
    }
    expect(organizationStore.view.sequence()).toBe(before)
    clock.now += SIGN_IN_MS + 1
    const foreign: [string, string] = ['__Host-verdict-sign-in-00000000', 'a']
    elapsed.ms += 50
    const cleared = cookiesOf(await begin(undefined, null, [...kept, foreign])).filter(
      ([, value]) => value === '',
    )
    expect(cleared).toEqual([...kept, foreign].map(([name]) => [name, '']))
  })

  test('cannot be opened under another name, or with the secret of another organization', async () => {
    const { begin, finish, cookiesOf } = await signInAtIssuer()
    const [one, other] = [await begin(), await begin()]
    const mixed: SignInStep = { ...one, cookies: [`${cookiesOf(one)[0]![0]}=${cookiesOf(other)[0]![1]}`] }
    expect(await finish(mixed)).toBe('sign-in?error=expired')
    const stranger = await signInAtIssuer()
    expect(await stranger.finish(await begin())).toBe('sign-in?error=expired')
  })

  test('is not finished by another state, even if the name of the cookie fits', async () => {
    const { begin, finish, cookiesOf, organization, issuer } = await signInAtIssuer()
    const [one, other] = [await begin(), await begin()]
    const seal = new Seal(organization.tokenSecret(), PURPOSE.signIns)
    const [[name, value], [otherName]] = [cookiesOf(one)[0]!, cookiesOf(other)[0]!]
    const content = seal.unseal(name, Buffer.from(value, 'base64url'))!
    const moved = Buffer.from(seal.seal(otherName, content)!).toString('base64url')
    expect(await finish({ ...other, cookies: [`${otherName}=${moved}`] })).toBe('sign-in?error=failed')
    expect(issuer.requests.map(({ path }) => path)).not.toContain('/token')
  })
})

describe('limits of a node', () => {
  test('reject sign-ins that begin too fast', async () => {
    const { begin, elapsed } = await signInAtIssuer()
    for (let count = 0; count < SIGN_INS_PER_SECOND_MAX; count++) await begin()
    await expect(begin()).rejects.toMatchObject({ code: 'OVERLOADED', limit: 'rate' })
    elapsed.ms += 1_000 / SIGN_INS_PER_SECOND_MAX
    await begin()
    await expect(begin()).rejects.toMatchObject({ code: 'OVERLOADED' })
  })

  test('reject sign-ins while too many wait for the issuer', async () => {
    const { begin, finish, elapsed, issuer } = await signInAtIssuer()
    const begun = []
    for (let count = 0; count <= SIGN_INS_AT_ONCE_MAX; count++) {
      elapsed.ms += 50
      begun.push(await begin())
    }
    const held: ServerResponse[] = []
    issuer.intercept = (path, response) => path === '/token' && held.push(response) > 0
    const finished = begun.map(one => finish(one))
    expect(await Promise.race(finished)).toBe('sign-in?error=unavailable')
    await expect.poll(() => held.length).toBe(SIGN_INS_AT_ONCE_MAX)
    for (const response of held) response.destroy()
    expect(new Set(await Promise.all(finished))).toEqual(new Set(['sign-in?error=unavailable']))
  })
})

type Fault = (response: ServerResponse) => unknown
const json = (status: number, body: unknown) => (response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const FAULTS: readonly [string, Fault][] = [
  ['cannot be reached', response => response.destroy()],
  ['responds 500', json(500, {})],
  ['responds 429', json(429, {})],
  ['redirects', response => response.writeHead(307, { location: '/redirected' }).end()],
  ['responds with too much', json(200, { issuer: 'a'.repeat(1_048_576) })],
  ['responds with endless text', response => endless(response)],
]

function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const write = (): void => {
    while (!response.destroyed && response.write('a'.repeat(65_536)));
    if (!response.destroyed) response.once('drain', write)
  }
  write()
}

describe('an issuer', () => {
  const at = ['/token', '/keys', '/.well-known/openid-configuration']
  test.each(at.flatMap(path => FAULTS.map(([what, fault]) => ({ path, what, fault }))))(
    'that $what at $path makes sign-in unavailable until it is repaired',
    async ({ path, fault }) => {
      const { issuer, begin, finish, node, signIn, sessions, logged } = await signInAtIssuer()
      issuer.intercept = (requested, response) => requested === path && (fault(response), true)
      if (path.startsWith('/.')) await expect(begin()).rejects.toMatchObject({ code: 'OVERLOADED' })
      else expect(await signIn()).toBe('sign-in?error=unavailable')
      // A node that does not know the metadata yet has the same result.
      issuer.intercept = () => false
      const begun = await begin()
      issuer.intercept = (requested, response) => requested === path && (fault(response), true)
      expect(await finish(begun, node())).toBe('sign-in?error=unavailable')
      expect(sessions()).toEqual([])
      expect(logged.length).toBeGreaterThan(1)
      issuer.intercept = () => false
      expect(await signIn()).toBe(SIGNED_IN)
    },
  )

  test.each<[string, (origin: string) => Record<string, unknown>]>([
    ['names another issuer', () => ({ issuer: 'http://127.0.0.1:1' })],
    ['names itself with another spelling', origin => ({ issuer: `${origin}/` })],
    ['has no authorization endpoint', () => ({ authorization_endpoint: undefined })],
    ['has an exposed authorization endpoint', () => ({ authorization_endpoint: 'http://id.example.com/' })],
    [
      'has an authorization endpoint that is no web address',
      () => ({ authorization_endpoint: 'javascript:alert()' }),
    ],
  ])('cannot be used if its metadata %s', async (_, metadata) => {
    const { issuer, begin } = await signInAtIssuer()
    issuer.metadata = metadata(issuer.origin)
    await expect(begin()).rejects.toMatchObject({ code: 'OVERLOADED' })
  })

  // On Linux, 0.0.0.0 leads to the loopback interface without being one of its addresses.
  test.each([
    [
      'an exposed token endpoint',
      (exposed: string) => ({ token_endpoint: `${exposed}/token` }),
      'unavailable',
    ],
    ['an exposed address of its keys', (exposed: string) => ({ jwks_uri: `${exposed}/keys` }), 'unavailable'],
    ['no token endpoint', () => ({ token_endpoint: undefined }), 'failed'],
  ])('with %s gets no request there', async (_, metadata, error) => {
    const { issuer, signIn } = await signInAtIssuer()
    issuer.metadata = metadata(issuer.origin.replace('127.0.0.1', '0.0.0.0'))
    expect(await signIn()).toBe(`sign-in?error=${error}`)
  })

  test.each([
    ['rejects the code', json(400, { error: 'invalid_grant', error_description: 'secret' })],
    ['rejects the client', json(401, { error: 'invalid_client' })],
    ['sends no ID token', json(200, { access_token: 'a', token_type: 'Bearer' })],
    ['sends no JSON', (response: ServerResponse) => response.writeHead(200).end('<html>')],
  ] as const)('that %s lets the sign-in fail', async (_, fault) => {
    const { issuer, signIn, logged } = await signInAtIssuer()
    issuer.intercept = (path, response) => path === '/token' && (fault(response), true)
    expect(await signIn()).toBe('sign-in?error=failed')
    expect(JSON.stringify(logged)).not.toContain('secret')
  })

  test('has 15 s for all requests of a sign-in', async () => {
    const { issuer, signIn, elapsed } = await signInAtIssuer()
    expect(await signIn()).toBe(SIGNED_IN)
    issuer.intercept = path => {
      if (path === '/token') elapsed.ms += 15_000
      return false
    }
    issuer.keys = [newKey()]
    expect(await signIn()).toBe('sign-in?error=unavailable')
  })

  test('that names itself in each response is checked (RFC 9207)', async () => {
    const { issuer, signIn } = await signInAtIssuer()
    issuer.metadata = { authorization_response_iss_parameter_supported: true }
    expect(await signIn()).toBe('sign-in?error=failed')
  })

  test('can use a new key immediately, and unknown keys cause few requests', async () => {
    const { issuer, signIn, elapsed } = await signInAtIssuer()
    const fetched = () => issuer.requests.filter(({ path }) => path === '/keys').length
    expect([await signIn(), await signIn(), fetched()]).toEqual([SIGNED_IN, SIGNED_IN, 1])
    issuer.keys = [newKey(), ...issuer.keys]
    expect([await signIn(), fetched()]).toEqual([SIGNED_IN, 2])
    issuer.keys = [newKey()]
    expect([await signIn(), fetched()]).toEqual(['sign-in?error=failed', 2])
    elapsed.ms += 10_000
    expect([await signIn(), fetched()]).toEqual([SIGNED_IN, 3])
    elapsed.ms += 300_000
    expect([await signIn(), fetched()]).toEqual([SIGNED_IN, 4])
    const discovered = () => issuer.requests.filter(({ path }) => path.startsWith('/.')).length
    expect(discovered()).toBe(1)
    elapsed.ms += 3_600_000
    expect([await signIn(), discovered()]).toEqual([SIGNED_IN, 2])
  })

  test('that knows only secrets in forms gets the secret in the form, and a public client sends none', async () => {
    const { issuer, signIn } = await signInAtIssuer()
    issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
    expect(await signIn()).toBe('sign-in?error=failed')
    const sent = () => issuer.requests.find(({ path }) => path === '/token')!
    expect([sent().authorization, sent().fields.has('client_secret')]).toEqual([undefined, true])
    const open = await signInAtIssuer({ clientSecret: null })
    await open.signIn()
    const { authorization, fields } = open.issuer.requests.find(({ path }) => path === '/token')!
    expect([authorization, fields.has('client_secret'), fields.get('client_id')]).toEqual([
      undefined,
      false,
      'verdict',
    ])
  })
})
