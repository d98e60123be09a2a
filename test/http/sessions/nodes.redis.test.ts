/** Sessions on two nodes with one Redis (administration.md S3, C7): no sticky sessions are necessary. */
import { expect, test } from 'vitest'
import { type Client, question, startedService, storeDirectory } from '#testing/processes/running-service.ts'
import { Scrape } from '#testing/requests/metrics.ts'
import {
  headersOf,
  regrant,
  sendIn,
  type SignedIn,
  SIGN_IN,
  signedIn,
} from '#testing/requests/member-sessions.ts'
import { HANG_MS } from '../../support/hang.ts'
import { cuttableStore, startedNodes, until } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'

const redis = await sharedRedis()
const USERS = '/v2/facts/default/default/users'

/** Revision of the organization on a node. */
async function revisionOf(node: Client): Promise<string> {
  return (await node.admin('GET', '/v2/projects')).headers.get('x-revision')!
}

/** Status of the session on a node that has a revision of the other node. */
async function statusOn(node: Client, session: SignedIn, revision: string): Promise<number> {
  const headers = { 'x-min-revision': revision }
  return (await sendIn(node, session, 'GET', '/v2/session', { headers })).status
}

/** A value in the metrics of a node. */
async function metricOf(node: Client, metric: string): Promise<number | undefined> {
  const { samples } = await Scrape.of(node.address)
  return samples.find(({ name }) => name === metric)?.value
}

const sessionsOf = (node: Client) => metricOf(node, 'verdict_sessions')

test('a session that begins on one node is used and ended on another, and ends on both', async () => {
  const [one, two] = (await startedNodes(redis, 2, SIGN_IN)) as [Client, Client]
  const grants = [{ on: 'organization', level: 'write' }] as const
  const [ann, bob, eve] = [
    await signedIn(one, 'ann', grants),
    await signedIn(one, 'bob', grants),
    await signedIn(two, 'eve', grants),
  ]
  const begun = await revisionOf(one)
  for (const session of [ann, bob]) {
    expect(await statusOn(two, session, begun)).toBe(200)
    for (const node of [one, two]) {
      const body = { key: `${session.memberId}-${node.address.slice(-5)}` }
      expect((await sendIn(node, session, 'POST', USERS, { body })).status).toBe(200)
    }
  }

  expect(await sessionsOf(two)).toBe(3)

  const out = await sendIn(two, ann, 'DELETE', '/v2/session')
  expect(out.status).toBe(200)
  expect(await statusOn(one, ann, out.headers.get('x-revision')!)).toBe(401)

  await regrant(one, bob.memberId, [{ on: 'organization', level: 'read' }])
  expect(await statusOn(two, bob, await revisionOf(one))).toBe(200)
  expect((await sendIn(two, bob, 'POST', USERS, { body: { key: 'late' } })).status).toBe(403)

  expect(await sessionsOf(one)).toBe(2)
  const removed = await one.admin('DELETE', `/v2/members/${eve.memberId}`)
  expect(removed.status).toBe(204)
  expect(await statusOn(two, eve, removed.headers.get('x-revision')!)).toBe(401)
})

const IMPORT = '/v2/projects/default/envs/default/import?replace=true'
const PLACE = { 'x-verdict-environment': 'default/default' }
/** Requests of routes that identify a session in different ways, and their status when it is known. */
const REQUESTS = [
  ['GET', '/v2/session', 200],
  ['GET', '/v2/sessions', 200],
  ['GET', USERS, 200],
  ['POST', USERS, 200, { body: { key: 'late' } }],
  ['POST', USERS, 422, { body: { key: 'claimed' }, headers: { 'x-actor': 'bob' } }],
  ['POST', IMPORT, 403, { body: {} }],
  ['POST', '/allowed', 200, { body: question('late', 'read', 'document'), headers: PLACE }],
] as const

/** Two nodes on one store. `lag` keeps changes from the second one until `catchUp` is called. */
async function laggingNode(minRevisionWaitMs: number) {
  const { proxy, storeUrl, directUrl } = await cuttableStore(redis)
  const start = (url: string) =>
    startedService({
      ...SIGN_IN,
      storeUrl: url,
      dataDirectory: storeDirectory(),
      minRevisionWaitMs,
      maxStaleMs: HANG_MS,
    })
  const [one, behind] = [await start(directUrl), await start(storeUrl)]
  return { one, behind, lag: () => proxy.cut(), catchUp: () => proxy.mend() }
}

/** Statuses and cookies of the responses to `REQUESTS`. */
function answersOf(node: Client, session: SignedIn) {
  return Promise.all(
    REQUESTS.map(async ([method, path, , options]) => {
      const answer = await sendIn(node, session, method, path, options)
      return [method, path, answer.status, answer.headers.getSetCookie()]
    }),
  )
}

test('a node that does not receive a new session in time responds with 503 and leaves its cookie', async () => {
  const { one, behind, lag, catchUp } = await laggingNode(1)
  lag()
  const ann = await signedIn(one, 'ann', [{ on: 'organization', level: 'write' }])
  expect(await answersOf(behind, ann)).toEqual(REQUESTS.map(([method, path]) => [method, path, 503, []]))
  catchUp()
  await until(200, async () => (await sendIn(behind, ann, 'GET', '/v2/session')).status)
})

test('a node that has not received a session yet waits for it, and checks it again during a body', async () => {
  const { one, behind, lag, catchUp } = await laggingNode(HANG_MS)
  lag()
  const ann = await signedIn(one, 'ann', [{ on: 'organization', level: 'write' }])
  const root = await signedIn(one, 'root')
  const body = new TransformStream<Uint8Array, Uint8Array>()
  const writer = body.writable.getWriter()
  const importing = fetch(`${behind.address}${IMPORT}`, {
    method: 'POST',
    headers: { ...headersOf(root), 'content-type': 'application/x-ndjson' },
    body: body.readable,
    duplex: 'half',
  } as RequestInit)
  await writer.write(Buffer.from('{"'))
  const waiting = answersOf(behind, ann)
  // The import and the request for the metrics are in flight too.
  const inFlight = REQUESTS.length + 2
  await until(inFlight, async () => (await metricOf(behind, 'verdict_http_requests_in_flight')) ?? 0)
  catchUp()
  expect(await waiting).toEqual(REQUESTS.map(([method, path, status]) => [method, path, status, []]))

  expect((await sendIn(one, root, 'DELETE', '/v2/session')).status).toBe(200)
  await until(401, async () => (await sendIn(behind, root, 'GET', '/v2/session')).status)
  await writer.write(Buffer.from('format":'))
  await writer.close()
  expect((await importing).status).toBe(401)
})
