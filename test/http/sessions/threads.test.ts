/** Sessions in a service with several HTTP threads (administration.md C7), and the actors that it records. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import {
  ADMIN_KEY,
  type Client,
  type Envelope,
  question,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { linesWritten } from '#testing/processes/written-lines.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import { headersOf, sendIn, type SignedIn, SIGN_IN, signedIn } from '#testing/requests/member-sessions.ts'
import { evaluation } from '../../support/calls/access-requests.ts'

const USERS = '/v2/facts/default/default/users'
const HERE = { 'x-verdict-environment': 'default/default' }
const settings = { ...SIGN_IN, requestsPerSecondMax: null, httpThreads: 2 }
/** Each request has its own connection. The kernel distributes connections over threads. */
const OWN_CONNECTION = { connection: 'close' }

/** The statuses of simultaneous requests. */
async function statusesOf(
  client: Client,
  session: SignedIn,
  [method, path, body]: readonly [method: string, path: string, body?: unknown],
): Promise<number[]> {
  const headers = { ...HERE, ...OWN_CONNECTION }
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => sendIn(client, session, method, path, { body, headers })),
  )
  return [...new Set(answers.map(({ status }) => status))]
}

test('begin, changed grants and end of a session are in effect on every thread before the response', async () => {
  const verdict = await startedService(settings)
  await verdict.createDocumentModel()
  const check = ['POST', '/allowed', question('alice', 'read', 'document:d1')] as const
  // The body is not valid, so that the response shows only whether the level is sufficient.
  const change = ['POST', USERS, {}] as const
  const grant = (method: string, id: string, access_level: string) =>
    verdict.send(method, '/v2/members', {
      key: ADMIN_KEY,
      headers: OWN_CONNECTION,
      body: { id, permissions: [{ object_type: 'org', access_level }] },
    })
  for (let round = 0; round < 10; round += 1) {
    const ann = await signedIn(verdict, 'ann', [{ on: 'organization', level: 'write' }])
    for (const [request, status] of [
      [check, 200],
      [change, 422],
    ] as const)
      expect([round, await statusesOf(verdict, ann, request)]).toEqual([round, [status]])
    expect((await grant('POST', ann.memberId, 'read')).status).toBe(200)
    expect([round, await statusesOf(verdict, ann, change)]).toEqual([round, [403]])
    expect((await grant('POST', ann.memberId, 'write')).status).toBe(200)
    expect([round, await statusesOf(verdict, ann, change)]).toEqual([round, [422]])
    const options = { headers: OWN_CONNECTION }
    expect((await sendIn(verdict, ann, 'DELETE', '/v2/session', options)).status).toBe(200)
    for (const request of [check, change, ['GET', '/v2/session']] as const)
      expect([round, await statusesOf(verdict, ann, request)]).toEqual([round, [401]])
  }
})

// administration.md N5, N6, N8, X1
test('the member is the actor in audit log and decision log, whatever is claimed, without secrets', async () => {
  const path = join(storeDirectory(), 'decisions.log')
  const verdict = await startedService({ ...settings, decisionLog: path, hasBytesPath: true })
  await verdict.createViewer('alice', 'document:d1')
  const ann = await signedIn(verdict, 'ann', [{ on: 'organization', level: 'write' }])
  const actor = {
    kind: 'member',
    member_id: ann.memberId,
    issuer: SIGN_IN.oidcIssuer,
    subject: 'ann',
    name: 'ann',
    session_id: ann.sessionId,
  }
  const check = question('alice', 'read', 'document:d1')
  const revision = { 'x-min-revision': await verdict.revision() }
  const claim = { 'x-actor': 'root', 'x-actor-for': 'bob' }
  const asked: [path: string, body: object, checks: number][] = [
    ['/allowed', check, 1],
    ['/allowed/bulk', Array(1_000).fill(check), 1_000],
    ['/access/v1/evaluation', evaluation('alice', 'read', 'document:d1'), 1],
  ]
  let checks = 0
  for (const [to, body, count] of asked) {
    for (const more of [{}, claim, { 'x-actor': 'a,b' }, revision]) {
      const headers = { ...HERE, ...OWN_CONNECTION, ...more }
      expect(await sendIn(verdict, ann, 'POST', to, { body, headers })).toMatchObject({ status: 200 })
      checks += count
      await linesWritten(path, checks)
    }
  }
  // A key that comes with the cookie decides alone, and its claim counts.
  const both = { ...headersOf(ann), ...claim }
  expect(await verdict.send('POST', '/allowed', { body: check, headers: both })).toMatchObject({
    status: 200,
  })

  expect((await sendIn(verdict, ann, 'POST', USERS, { body: { key: 'by-ann' } })).status).toBe(200)
  const log = await verdict.get<Envelope<AuditEntry>>('/v2/audit-log/default/default?operation=createUser')
  expect(log.body.data.map(({ actor: of }) => of)).toContainEqual(actor)
  expect((await sendIn(verdict, ann, 'DELETE', '/v2/session')).status).toBe(200)
  const all = await verdict.admin('GET', '/v2/audit-log?per_page=100')
  const { text: metrics } = await Scrape.of(verdict.address)
  await linesWritten(path, checks + 1)
  await verdict.close()

  const text = readFileSync(path, 'utf8')
  const logged = text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { actor?: { kind: string } })
  const [claimed, ...others] = logged.filter(({ actor: of }) => of?.kind !== 'member')
  expect([claimed?.actor, others]).toMatchObject([
    { kind: 'claimed', name: 'root', on_behalf_of: ['bob'] },
    [],
  ])
  expect(logged.length - 1).toBe(checks)
  for (const { actor: of } of logged) if (of?.kind === 'member') expect(of).toEqual(actor)
  for (const written of [text, metrics, JSON.stringify([log.body, all.body])]) {
    for (const secret of [ann.secret, ann.token, 'ann@example.com'])
      expect(written.includes(secret)).toBe(false)
  }
})

// administration.md X9
test('a cookie of another service on the same host name opens nothing, and stays for that service', async () => {
  const [one, two] = [await startedService(SIGN_IN), await startedService(SIGN_IN)]
  const ann = await signedIn(one, 'ann', [{ on: 'organization', level: 'admin' }])
  await signedIn(two, 'ann', [{ on: 'organization', level: 'admin' }])
  const answer = await sendIn(two, ann, 'GET', '/v2/session')
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
  expect((await sendIn(one, ann, 'GET', '/v2/session')).status).toBe(200)
})
