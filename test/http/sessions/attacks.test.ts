/**
 * Requests with the cookie of a session that must not count (administration.md C1 to C5), and those that
 * must.
 */
import { expect, test } from 'vitest'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'
import {
  COOKIE,
  headersOf,
  ORIGIN,
  sendIn,
  type SignedIn,
  SIGN_IN,
  signedIn,
} from '#testing/requests/member-sessions.ts'

const verdict = await sharedService(SIGN_IN)
const ann = await signedIn(verdict, 'ann', [{ on: 'organization', level: 'write' }])
const other = await signedIn(verdict, 'other', [{ on: 'organization', level: 'write' }])
const USERS = '/v2/facts/default/default/users'
const CLEARED = `${COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`
const [, BEGUN] = /^.{43}(.*)$/.exec(ann.cookie)!
const [, EPOCH] = /^\.(.*)\./.exec(BEGUN!)!
const SECRET = 'A'.repeat(43)
const FORGED = SECRET + BEGUN

interface Case {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly status: 200 | 401
  /** Whether the response removes the cookie. */
  readonly isCleared?: true
  /** Status of `GET /v2/session`, if it differs. */
  readonly own?: 200
}

const sent = headersOf(ann)
const cookie = sent['cookie']!
const CASES: readonly Case[] = [
  { name: 'cookie and token', headers: sent, status: 200 },
  { name: 'own origin', headers: { ...sent, origin: ORIGIN, 'sec-fetch-site': 'same-origin' }, status: 200 },
  { name: 'other cookies', headers: { ...sent, cookie: `a=b; ${cookie}; ${COOKIE}x=1; c` }, status: 200 },
  { name: 'no token', headers: { cookie }, status: 401, own: 200 },
  { name: 'empty token', headers: { ...sent, 'x-csrf-token': '' }, status: 401, own: 200 },
  {
    name: 'token of another session',
    headers: { ...sent, 'x-csrf-token': other.token },
    status: 401,
    own: 200,
  },
  { name: 'secret as token', headers: { ...sent, 'x-csrf-token': ann.secret }, status: 401, own: 200 },
  { name: 'longer token', headers: { ...sent, 'x-csrf-token': `${ann.token}A` }, status: 401, own: 200 },
  { name: 'foreign origin', headers: { ...sent, origin: 'https://evil.example.com' }, status: 401 },
  { name: 'origin of another port', headers: { ...sent, origin: `${ORIGIN}:444` }, status: 401 },
  { name: 'opaque origin', headers: { ...sent, origin: 'null' }, status: 401 },
  { name: 'cross-site', headers: { ...sent, 'sec-fetch-site': 'cross-site' }, status: 401 },
  { name: 'same-site', headers: { ...sent, 'sec-fetch-site': 'same-site' }, status: 401 },
  { name: 'typed address', headers: { ...sent, 'sec-fetch-site': 'none' }, status: 401 },
  { name: 'cookie twice', headers: { ...sent, cookie: `${cookie}; ${cookie}` }, status: 401 },
  {
    name: 'cookie after a forged one',
    headers: { ...sent, cookie: `${COOKIE}=${FORGED}; ${cookie}` },
    status: 401,
  },
  {
    name: 'forged cookie',
    headers: { ...sent, cookie: `${COOKIE}=${FORGED}` },
    status: 401,
    isCleared: true,
  },
  {
    name: 'forged cookie of another history',
    headers: { ...sent, cookie: `${COOKIE}=${SECRET}.other.1` },
    status: 401,
  },
  ...['', '.', BEGUN!.slice(1), `${BEGUN}x`, `${BEGUN}.1`, `.${EPOCH}.01`, `.${EPOCH}.1e1`].map(end => ({
    name: `secret and revision "${end.replace(EPOCH!, 'epoch')}"`,
    headers: { ...sent, cookie: `${COOKIE}=${ann.secret}${end}` },
    status: 401 as const,
    isCleared: true as const,
  })),
  {
    name: 'key as cookie',
    headers: { ...sent, cookie: `${COOKIE}=${API_KEY}` },
    status: 401,
    isCleared: true,
  },
  { name: 'empty cookie', headers: { ...sent, cookie: `${COOKIE}=` }, status: 401, isCleared: true },
  {
    name: 'hash as cookie',
    headers: { ...sent, cookie: `${COOKIE}=${'0'.repeat(64)}` },
    status: 401,
    isCleared: true,
  },
  {
    name: 'forged cookie from another page',
    headers: { ...sent, cookie: `${COOKIE}=${FORGED}`, origin: 'https://evil.example.com' },
    status: 401,
  },
  {
    name: 'cookie without its prefix',
    headers: { ...sent, cookie: `verdict-session=${ann.cookie}` },
    status: 401,
  },
  { name: 'secret as bearer token', headers: { authorization: `Bearer ${ann.secret}` }, status: 401 },
  { name: 'cookie and invalid key', headers: { ...sent, authorization: 'Bearer nothing' }, status: 401 },
  { name: 'cookie and empty authorization', headers: { ...sent, authorization: '' }, status: 401 },
]

let users = 0

test.each(CASES)(
  'a request with $name has the status $status',
  async ({ headers, status, isCleared, own }) => {
    const hasCookie = headers['cookie']?.includes(`${COOKIE}=`) && headers['authorization'] === undefined
    for (const [method, path, expected] of [
      ['GET', USERS, status],
      ['POST', USERS, status],
      ['DELETE', '/v2/sessions/none', status],
      ['GET', '/v2/session', own ?? status],
      ['GET', '/v2/sessions', status],
    ] as const) {
      const body = method === 'POST' ? { key: `user-${(users += 1)}` } : undefined
      const answer = await verdict.send(method, path, { key: null, headers, body })
      const found = method === 'DELETE' && expected === 200 ? 404 : expected
      expect([method, path, answer.status, answer.body]).toEqual([method, path, found, expect.anything()])
      expect(answer.headers.get('cache-control')).toBe(hasCookie ? 'no-store' : null)
      expect(answer.headers.get('set-cookie')).toBe(isCleared && expected === 401 ? CLEARED : null)
    }
  },
)

test('a request with a key ignores the cookie of a session, and its response can be stored', async () => {
  const headers = { ...sent, origin: 'https://evil.example.com' }
  const answer = await verdict.send('GET', USERS, { headers })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe(null)
  const own = await verdict.send('GET', '/v2/session', { headers })
  expect(own).toMatchObject({ status: 403, body: { message: expect.stringContaining('needs a session') } })
})

test('a response that has other cache directives also forbids to store it', async () => {
  await sendIn(verdict, ann, 'POST', '/v2/schema/default/default/resources', {
    body: { key: 'document', name: 'Document', actions: {} },
  })
  const answer = await sendIn(verdict, ann, 'GET', '/v2/schema/default/default/resources/document')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-transform, no-store')
})

test('a session states its member, and its token differs from that of every other session', async () => {
  const { body } = await sendIn<{ readonly csrf_token: string }>(verdict, ann, 'GET', '/v2/session')
  expect(body).toMatchObject({
    member: { id: ann.memberId, name: 'ann', email: 'ann@example.com', subject: 'ann' },
    csrf_token: ann.token,
    session_id: ann.sessionId,
    grants: [{ object_type: 'org', access_level: 'write', via: 'own' }],
  })
  expect(JSON.stringify(body)).not.toContain(ann.secret)
  expect(other.token).not.toBe(ann.token)
})

test('a sign-out ends this session alone, on all paths, and clears its cookie', async () => {
  const [one, two] = [await signedIn(verdict, 'leo'), await signedIn(verdict, 'leo')] as [SignedIn, SignedIn]
  const out = await sendIn(verdict, one, 'DELETE', '/v2/session')
  expect(out).toMatchObject({ status: 200, body: { end_session_url: null } })
  expect(out.headers.get('set-cookie')).toBe(CLEARED)
  for (const path of [USERS, '/v2/session', '/v2/sessions']) {
    const answer = await sendIn(verdict, one, 'GET', path)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('set-cookie')).toBe(CLEARED)
  }
  expect(await sendIn(verdict, two, 'GET', '/v2/session')).toMatchObject({ status: 200 })
})

test('a request in a session cannot claim an actor', async () => {
  for (const headers of [{ 'x-actor': 'bob' }, { 'x-actor': 'a,b' }, { 'x-actor-for': 'bob' }]) {
    const answer = await sendIn(verdict, ann, 'POST', USERS, { headers, body: { key: 'claimed' } })
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'X-Actor'] }] } })
  }
  expect(await sendIn(verdict, ann, 'GET', USERS, { headers: { 'x-actor': '' } })).toMatchObject({
    status: 200,
  })
})
