/** `ETag` and `If-Match`: who changes what they have seen overwrites nothing that they have not. */

import { expect, test } from 'vitest'
import { IF_MATCH } from '#http/message/header-fields.ts'
import type { Route } from '#http/routing/route.ts'
import {
  type Answer,
  type Client,
  FACTS,
  GROUPS,
  type Problem,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'
import { MANAGEMENT_CALLS } from '../../support/management-calls.ts'

const verdict = await sharedService({ httpThreads: 2 })
await verdict.createDocumentModel()
await verdict.tenantRole('reviewer', ['document:read'])

const ROLE = `${SCHEMA}/roles/reviewer`

async function tagOf(path: string, client: Client = verdict): Promise<string> {
  const answer = await client.get(path)
  expect(answer.status, path).toBe(200)
  expect(answer.headers.get('cache-control'), path).toBe('no-transform')
  const tag = answer.headers.get('etag')
  expect(tag, path).toMatch(/^"[\w-]{22}"$/)
  return tag!
}

function sendIf(
  tag: string,
  method: string,
  path: string,
  body?: unknown,
  client: Client = verdict,
): Promise<Answer> {
  return client.send(method, path, { body, headers: { 'if-match': tag } })
}

/** Whether a route is about a thing of an environment that its path names. */
const isAboutThing = ({ path }: Route): boolean =>
  /^\/v2\/(schema|facts)\/\{proj_id\}\/\{env_id\}\/.*\}$/.test(path)
const reads = new Map(
  routes.filter(each => isAboutThing(each) && each.method === 'GET').map(each => [each.path, each]),
)
/** What a role has, is changed by paths of their own, and goes by the tag of the role. */
const PART = /\/(?:permissions|parents\/[^/]+|implicit_grants(?:\/conditions)?)$/
const thingAt = (path: string): string => path.replace(PART, '')
const changes = routes.filter(each => reads.has(thingAt(each.path)) && each.method !== 'GET')
/** Tags of grants are another matter (`conditional-grants.test.ts`). */
const takesTagOfThing = ({ headers }: Route): boolean => (headers ?? []).includes(IF_MATCH)
const namesOf = (fields: readonly { readonly name: string }[] | undefined): string[] =>
  (fields ?? []).map(({ name }) => name)

test('what can be changed where it is read takes If-Match there, and its answers have a tag', () => {
  expect(changes.length).toBeGreaterThan(25)
  const taking = routes.filter(takesTagOfThing)
  expect(taking.map(({ operationId }) => operationId).toSorted()).toEqual(
    changes.map(({ operationId }) => operationId).toSorted(),
  )
  for (const { operationId, path, responses, refusals } of changes) {
    const read = reads.get(thingAt(path))!
    expect(refusals, operationId).toContain(412)
    expect(namesOf(read.responses[200]!.headers), read.operationId).toContain('ETag')
    const told = responses[200]
    // The tag is of the thing: an answer that shows less of it has none.
    if (told !== undefined)
      expect(namesOf(told.headers).includes('ETag'), operationId).toBe(
        told.schema === read.responses[200]!.schema,
      )
  }
  const mounted = mountedRoutes.filter(takesTagOfThing)
  expect(mounted.map(({ operationId }) => operationId).toSorted()).toEqual(
    changes
      .filter(({ path }) => path.startsWith('/v2/facts/'))
      .map(each => each.operationId)
      .toSorted(),
  )
})

test('each of them changes what has the tag, and nothing that has another by now', async () => {
  const service = await startedService()
  const met = new Set<string>()
  for (const { operation, method, path, body } of MANAGEMENT_CALLS) {
    if (!changes.some(({ operationId }) => operationId === operation)) {
      await service.send(method, path, { body })
      continue
    }
    met.add(operation)
    const thing = thingAt(path)
    const before = await service.get(thing)
    const refused = await sendIf('"another"', method, path, body, service)
    expect([refused.status, (refused.body as Problem).error_code], operation).toEqual([
      412,
      'PRECONDITION_FAILED',
    ])
    expect(refused.headers.get('cache-control'), operation).toBe('no-transform')
    const same = await service.get(thing)
    expect([same.status, same.headers.get('etag')]).toEqual([before.status, before.headers.get('etag')])
    // A PUT may be the first of its thing. Nobody has a tag of that.
    const made =
      before.status === 404
        ? await service.send(method, path, { body })
        : await sendIf(await tagOf(thing, service), method, path, body, service)
    expect(made.status, `${operation} ${JSON.stringify(made.body)}`).toBeLessThan(300)
    const after = await service.get(thing)
    const isGone = method === 'DELETE' && thing === path
    expect(after.status).toBe(isGone ? 404 : 200)
    if (isGone) continue
    if (made.headers.has('etag')) {
      expect(made.headers.get('etag'), operation).toBe(after.headers.get('etag'))
      expect(made.headers.get('cache-control'), operation).toBe('no-transform')
    }
    expect(after.headers.get('etag'), operation).not.toBe(before.headers.get('etag'))
  }
  expect(met).toEqual(new Set(changes.map(({ operationId }) => operationId)))
})

test('a tag is the same for every reader, by key or id, on every thread, and after a restart', async () => {
  const service = await startedService({ httpThreads: 2, storeUrl: `lmdb:${storeDirectory()}` })
  const { id } = await service.createDocumentModel()
  const path = `${RESOURCES}/document`
  const tags = await Promise.all(
    Array.from({ length: 20 }, (_, index) => tagOf(index % 2 === 0 ? path : `${RESOURCES}/${id}`, service)),
  )
  expect(new Set(tags).size).toBe(1)
  const head = await service.send('HEAD', path)
  expect(head.headers.get('etag')).toBe(tags[0])
  const again = await service.restart()
  expect(await tagOf(path, again)).toBe(tags[0])
  // By its id, too, with the tag that its key gave.
  expect((await sendIf(tags[0]!, 'PATCH', `${RESOURCES}/${id}`, { name: 'Paper' }, again)).status).toBe(200)
})

test('a tag changes with everything that the answer shows, and with nothing else', async () => {
  await verdict.user('ann')
  await verdict.users('joe', 'sue')
  await verdict.group('team')
  await verdict.instance('document:d1')
  const things = {
    user: `${FACTS}/users/ann`,
    resource: `${RESOURCES}/document`,
    group: `${GROUPS}/team`,
    instance: `${FACTS}/resource_instances/document:d1`,
  }
  const tags = () => Promise.all(Object.values(things).map(path => tagOf(path)))
  const changed = async (work: () => Promise<unknown>): Promise<string[]> => {
    const before = await tags()
    await work()
    const after = await tags()
    return Object.keys(things).filter((_, index) => before[index] !== after[index])
  }
  const viewer = `${RESOURCES}/document/roles/viewer`
  expect(await changed(() => verdict.assign('ann', 'reviewer', 'default'))).toEqual(['user'])
  expect(await changed(() => verdict.patch(viewer, { description: 'Looks' }))).toEqual(['resource'])
  expect(await changed(() => verdict.join('team', 'joe'))).toEqual(['group'])
  expect(await changed(() => verdict.leave('team', 'joe'))).toEqual(['group'])
  const attributes = { size: 1 }
  expect(await changed(() => verdict.patch(things.instance, { attributes }))).toEqual(['instance'])
  expect(await changed(() => verdict.assign('sue', 'reviewer', 'default'))).toEqual([])
})

test('an answer to a request with parameters in its query has no tag, since no change would find it', async () => {
  await verdict.instance('document:d2')
  const path = `${FACTS}/resource_instances/document:d2`
  expect((await verdict.get(`${path}?detailed=true`)).headers.get('etag')).toBeNull()
  await tagOf(path)
})

test('the mount for the environment of a key takes the tags of the other path', async () => {
  await verdict.user('mia')
  const tag = await tagOf(`${FACTS}/users/mia`)
  expect(await tagOf('/facts/users/mia')).toBe(tag)
  expect((await sendIf(tag, 'PATCH', '/facts/users/mia', { email: 'mia@example.com' })).status).toBe(200)
  expect((await sendIf(tag, 'PATCH', '/facts/users/mia', { email: null })).status).toBe(412)
})

test('who is refused is told what there is, reads it again, and goes on', async () => {
  const stale = await tagOf(ROLE)
  await verdict.patch(ROLE, { name: 'Somebody else was here' })
  const refused = await sendIf(stale, 'PATCH', ROLE, { name: 'Mine' })
  const present = await tagOf(ROLE)
  const { title, error_code, message } = refused.body as Problem
  expect([refused.status, title, error_code, message]).toEqual([
    412,
    'This is not what it was',
    'PRECONDITION_FAILED',
    `If-Match expects ${stale}, and it is ${present} by now: nothing was changed; read it again`,
  ])
  expect(refused.headers.get('etag')).toBe(present)
  expect((await verdict.get<{ name: string }>(ROLE)).body.name).toBe('Somebody else was here')
  expect((await sendIf(present, 'PATCH', ROLE, { name: 'Mine' })).status).toBe(200)
})

/** What proxies that compress make of a tag: HAProxy, nginx and Caddy; Apache; Jetty; others. */
const PROXIED: readonly ((tag: string) => string)[] = [
  tag => `W/${tag}`,
  tag => `${tag.slice(0, -1)}-gzip"`,
  tag => `${tag.slice(0, -1)}-br"`,
  tag => `${tag.slice(0, -1)}--gzip"`,
  tag => `${tag.slice(0, -1)};gzip"`,
  tag => `W/${tag.slice(0, -1)}-gzip"`,
]

test('a list of tags matches with one of them, `*` with what exists, and a tag as a proxy changed it', async () => {
  const patched = async (tags: (tag: string) => string): Promise<number> => {
    const wanted = tags(await tagOf(ROLE))
    return (await sendIf(wanted, 'PATCH', ROLE, { description: crypto.randomUUID() })).status
  }
  expect(await patched(tag => `"a", ${tag}`)).toBe(200)
  expect(await patched(tag => `,"a,b" ,,${tag} , "c",`)).toBe(200)
  expect(await patched(() => '*')).toBe(200)
  for (const proxied of PROXIED) {
    expect(await patched(tag => proxied(tag))).toBe(200)
    expect(await patched(tag => `"a", ${proxied(tag)}`)).toBe(200)
    expect(await patched(() => proxied('"a"'))).toBe(412)
  }
  for (const other of ['x', '-', '-gzip-gzip', '-gzip ', '"']) {
    const status = await patched(tag => `${tag.slice(0, -1)}${other}"`)
    expect([412, 422], other).toContain(status)
  }
  const { message } = (await sendIf('W/"a"', 'PATCH', ROLE, {})).body as { message: string }
  expect(message).toMatch(/^If-Match expects "a", and it is /)
  expect(await patched(() => '"*"')).toBe(412)
  expect(await patched(() => '""')).toBe(412)
})

test('what is no list of tags is 422, and changes nothing', async () => {
  const tag = await tagOf(ROLE)
  const bare = tag.slice(1, -1)
  for (const text of [bare, `"${bare}`, `${tag} ${tag}`, `*, ${tag}`, `w/${tag}`, ',', '', `${tag}; q=1`]) {
    const { status, body } = await sendIf(text, 'PATCH', ROLE, { name: 'Changed' })
    expect([status, (body as Problem).error_code], text).toEqual([422, 'INVALID_INPUT'])
  }
  expect(await tagOf(ROLE)).toBe(tag)
})

test('what is not there is 404 to who would change it, and 412 to who would make it by that', async () => {
  const nobody = `${FACTS}/users/nobody`
  for (const tags of ['"a"', '*']) {
    expect((await sendIf(tags, 'PATCH', nobody, {})).status).toBe(404)
    expect((await sendIf(tags, 'DELETE', nobody)).status).toBe(404)
    const refused = await sendIf(tags, 'PUT', nobody, { key: 'nobody' })
    expect([refused.status, (refused.body as Problem).message]).toEqual([
      412,
      expect.stringMatching(/, and there is none: nothing was changed/),
    ])
  }
  expect((await verdict.get(nobody)).status).toBe(404)
})
