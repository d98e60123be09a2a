/** `ETag` and `If-Match`: a client cannot overwrite a change that it has not read. */

import { expect, test } from 'vitest'
import { IF_MATCH } from '#http/message/header-fields.ts'
import type { Route } from '#http/routing/route.ts'
import {
  type Answer,
  type Client,
  FACTS,
  GROUPS,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import type { Problem } from '../../support/calls/refusals.ts'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'
import { MANAGEMENT_CALLS } from '../../support/calls/management-calls.ts'

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

/** Whether the path of a route names an entity of an environment. */
const isAboutEntity = ({ path }: Route): boolean =>
  /^\/v2\/(schema|facts)\/\{proj_id\}\/\{env_id\}\/.*\}$/.test(path)
/** Whether the path of a route is outside of environments. `organization/members.test.ts` tests these. */
const isOfOrganization = ({ path }: Route): boolean => /^\/v2\/member(s|_groups)\//.test(path)
const reads = new Map(
  routes.filter(each => isAboutEntity(each) && each.method === 'GET').map(each => [each.path, each]),
)
/** Parts of a role. They have separate paths, and their requests use the tag of the role. */
const PART = /\/(?:permissions|parents\/[^/]+|implicit_grants(?:\/conditions)?)$/
const entityAt = (path: string): string => path.replace(PART, '')
const changes = routes.filter(each => reads.has(entityAt(each.path)) && each.method !== 'GET')
/** Whether a route accepts the tag of an entity. Routes of grants have another header. */
const takesTag = ({ headers }: Route): boolean => (headers ?? []).includes(IF_MATCH)
const namesOf = (fields: readonly { readonly name: string }[] | undefined): string[] =>
  (fields ?? []).map(({ name }) => name)

test('every path that reads and changes an entity accepts If-Match and returns a tag', () => {
  expect(changes.length).toBeGreaterThan(25)
  const taking = routes.filter(each => takesTag(each) && !isOfOrganization(each))
  expect(taking.map(({ operationId }) => operationId).toSorted()).toEqual(
    changes.map(({ operationId }) => operationId).toSorted(),
  )
  for (const { operationId, path, responses, refusals } of changes) {
    const read = reads.get(entityAt(path))!
    expect(refusals, operationId).toContain(412)
    expect(namesOf(read.responses[200]!.headers), read.operationId).toContain('ETag')
    const success = responses[200]
    // A response that shows only a part of the entity has no tag.
    if (success !== undefined)
      expect(namesOf(success.headers).includes('ETag'), operationId).toBe(
        success.schema === read.responses[200]!.schema,
      )
  }
  const mounted = mountedRoutes.filter(takesTag)
  expect(mounted.map(({ operationId }) => operationId).toSorted()).toEqual(
    changes
      .filter(({ path }) => path.startsWith('/v2/facts/'))
      .map(each => each.operationId)
      .toSorted(),
  )
})

test('every operation that accepts If-Match changes an entity only if its tag matches', async () => {
  const service = await startedService()
  const tested = new Set<string>()
  for (const { operation, method, path, body } of MANAGEMENT_CALLS) {
    if (!changes.some(({ operationId }) => operationId === operation)) {
      await service.send(method, path, { body })
      continue
    }
    tested.add(operation)
    const entity = entityAt(path)
    const before = await service.get(entity)
    const refused = await sendIf('"another"', method, path, body, service)
    expect([refused.status, (refused.body as Problem).error_code], operation).toEqual([
      412,
      'PRECONDITION_FAILED',
    ])
    expect(refused.headers.get('cache-control'), operation).toBe('no-transform')
    const same = await service.get(entity)
    expect([same.status, same.headers.get('etag')]).toEqual([before.status, before.headers.get('etag')])
    // A PUT can create its entity. No client has a tag in this case.
    const made =
      before.status === 404
        ? await service.send(method, path, { body })
        : await sendIf(await tagOf(entity, service), method, path, body, service)
    expect(made.status, `${operation} ${JSON.stringify(made.body)}`).toBeLessThan(300)
    const after = await service.get(entity)
    const isGone = method === 'DELETE' && entity === path
    expect(after.status).toBe(isGone ? 404 : 200)
    if (isGone) continue
    if (made.headers.has('etag')) {
      expect(made.headers.get('etag'), operation).toBe(after.headers.get('etag'))
      expect(made.headers.get('cache-control'), operation).toBe('no-transform')
    }
    expect(after.headers.get('etag'), operation).not.toBe(before.headers.get('etag'))
  }
  expect(tested).toEqual(new Set(changes.map(({ operationId }) => operationId)))
})

test('a tag is the same by key and by id, on every thread, and after a restart', async () => {
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
  // The tag that was read by key also matches in a request by id.
  expect((await sendIf(tags[0]!, 'PATCH', `${RESOURCES}/${id}`, { name: 'Paper' }, again)).status).toBe(200)
})

test('a tag changes if and only if the response changes', async () => {
  await verdict.user('ann')
  await verdict.users('joe', 'sue')
  await verdict.group('team')
  await verdict.instance('document:d1')
  const entities = {
    user: `${FACTS}/users/ann`,
    resource: `${RESOURCES}/document`,
    group: `${GROUPS}/team`,
    instance: `${FACTS}/resource_instances/document:d1`,
  }
  const tags = () => Promise.all(Object.values(entities).map(path => tagOf(path)))
  const changed = async (work: () => Promise<unknown>): Promise<string[]> => {
    const before = await tags()
    await work()
    const after = await tags()
    return Object.keys(entities).filter((_, index) => before[index] !== after[index])
  }
  const viewer = `${RESOURCES}/document/roles/viewer`
  expect(await changed(() => verdict.assign('ann', 'reviewer', 'default'))).toEqual(['user'])
  expect(await changed(() => verdict.patch(viewer, { description: 'Looks' }))).toEqual(['resource'])
  expect(await changed(() => verdict.join('team', 'joe'))).toEqual(['group'])
  expect(await changed(() => verdict.leave('team', 'joe'))).toEqual(['group'])
  const attributes = { size: 1 }
  expect(await changed(() => verdict.patch(entities.instance, { attributes }))).toEqual(['instance'])
  expect(await changed(() => verdict.assign('sue', 'reviewer', 'default'))).toEqual([])
})

test('a response to a request with query parameters has no tag, because changes do not use these parameters', async () => {
  await verdict.instance('document:d2')
  const path = `${FACTS}/resource_instances/document:d2`
  expect((await verdict.get(`${path}?detailed=true`)).headers.get('etag')).toBeNull()
  await tagOf(path)
})

test('paths under /facts accept the tags of the paths that name the environment', async () => {
  await verdict.user('mia')
  const tag = await tagOf(`${FACTS}/users/mia`)
  expect(await tagOf('/facts/users/mia')).toBe(tag)
  expect((await sendIf(tag, 'PATCH', '/facts/users/mia', { email: 'mia@example.com' })).status).toBe(200)
  expect((await sendIf(tag, 'PATCH', '/facts/users/mia', { email: null })).status).toBe(412)
})

test('a client whose tag is stale receives the current tag, and can read the entity and retry', async () => {
  const stale = await tagOf(ROLE)
  await verdict.patch(ROLE, { name: 'Somebody else was here' })
  const refused = await sendIf(stale, 'PATCH', ROLE, { name: 'Mine' })
  const present = await tagOf(ROLE)
  const { title, error_code, message } = refused.body as Problem
  expect([refused.status, title, error_code, message]).toEqual([
    412,
    'The entity changed since you read it',
    'PRECONDITION_FAILED',
    `If-Match expects ${stale}, but the current tag is ${present}; nothing was changed, read the entity again`,
  ])
  expect(refused.headers.get('etag')).toBe(present)
  expect((await verdict.get<{ name: string }>(ROLE)).body.name).toBe('Somebody else was here')
  expect((await sendIf(present, 'PATCH', ROLE, { name: 'Mine' })).status).toBe(200)
})

/** Changes that compressing proxies make to a tag: HAProxy, nginx and Caddy; Apache; Jetty; others. */
const PROXIED: readonly ((tag: string) => string)[] = [
  tag => `W/${tag}`,
  tag => `${tag.slice(0, -1)}-gzip"`,
  tag => `${tag.slice(0, -1)}-br"`,
  tag => `${tag.slice(0, -1)}--gzip"`,
  tag => `${tag.slice(0, -1)};gzip"`,
  tag => `W/${tag.slice(0, -1)}-gzip"`,
]

test('If-Match accepts a list of tags, `*` for any entity that exists, and tags changed by proxies', async () => {
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
  expect(message).toMatch(/^If-Match expects "a", but the current tag is /)
  expect(await patched(() => '"*"')).toBe(412)
  expect(await patched(() => '""')).toBe(412)
})

test('an If-Match that is not a list of tags is a 422 and changes nothing', async () => {
  const tag = await tagOf(ROLE)
  const bare = tag.slice(1, -1)
  for (const text of [bare, `"${bare}`, `${tag} ${tag}`, `*, ${tag}`, `w/${tag}`, ',', '', `${tag}; q=1`]) {
    const { status, body } = await sendIf(text, 'PATCH', ROLE, { name: 'Changed' })
    expect([status, (body as Problem).error_code], text).toEqual([422, 'INVALID_INPUT'])
  }
  expect(await tagOf(ROLE)).toBe(tag)
})

test('If-Match on an entity that does not exist is a 404 for PATCH and DELETE, and a 412 for PUT', async () => {
  const nobody = `${FACTS}/users/nobody`
  for (const tags of ['"a"', '*']) {
    expect((await sendIf(tags, 'PATCH', nobody, {})).status).toBe(404)
    expect((await sendIf(tags, 'DELETE', nobody)).status).toBe(404)
    const refused = await sendIf(tags, 'PUT', nobody, { key: 'nobody' })
    expect([refused.status, (refused.body as Problem).message]).toEqual([
      412,
      expect.stringMatching(/, but it does not exist; nothing was changed/),
    ])
  }
  expect((await verdict.get(nobody)).status).toBe(404)
})
