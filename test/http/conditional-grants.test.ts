/**
 * `If-None-Match: *` and `If-Match` on grants: who makes one, moves its end or takes it away overwrites no end that it has not seen. The tag
 * of a grant is its end.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  type Envelope,
  FACTS,
  fresh,
  grantBody,
  groupPath,
  memberPath,
  type Problem,
  refusal,
  sharedService,
} from '#testing/processes/running-service.ts'
import { mountedRoutes, routes } from '#testing/requests/routes.ts'

/** On lmdb, where commits take time, so that callers meet. */
const directory = mkdtempSync(join(tmpdir(), 'verdict-test-'))
// Hooks run last to first: the service is closed before this.
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const verdict = await sharedService({ httpThreads: 2, storeUrl: `lmdb:${directory}` })
await verdict.createDocumentModel()
await verdict.resource({ key: 'page', actions: {}, roles: {}, relations: { parent: 'page' } })
await verdict.tenantRole('reviewer', ['document:read'])

const LASTS = '"null"'
const MAY = '2090-05-01T00:00:00.000Z'
const JUNE = '2090-06-01T00:00:00.000Z'
const tagOf = (end: string | null): string => `"${end}"`

interface Ended {
  readonly expires_at?: string
}

/** Headers of a request. */
type Wanted = Readonly<Record<string, string>>

/** A grant of one kind, with nothing there yet. */
interface Grant {
  /** The operations it is made and removed by. */
  readonly made: string
  readonly removed: string
  put(end: string | null, wanted?: Wanted): Promise<Answer>
  drop(wanted?: Wanted): Promise<Answer>
  /** When it ends, as the list shows it; undefined: it is not there. */
  end(): Promise<string | null | undefined>
}

async function firstEnd(path: string): Promise<string | null | undefined> {
  const { status, body } = await verdict.get<Envelope<Ended> | Ended[]>(path)
  expect(status, path).toBe(200)
  const [granted] = 'data' in body ? body.data : body
  return granted && (granted.expires_at ?? null)
}

function grantBy(
  operations: Pick<Grant, 'made' | 'removed'>,
  [method, path, body]: readonly [method: string, path: string, body: object],
  list: string,
): Grant {
  const { tenant: _, ...named } = body as { readonly tenant?: string }
  const removal = path.includes('relationship_tuples') ? named : body
  return {
    ...operations,
    put: (end, headers = {}) => verdict.send(method, path, { body: { ...body, expires_at: end }, headers }),
    drop: (headers = {}) =>
      verdict.send('DELETE', path, { body: path.includes('assign_group') ? named : removal, headers }),
    end: () => firstEnd(list),
  }
}

async function membership(): Promise<Grant> {
  const [group, user] = fresh('team', 'ann')
  await verdict.group(group)
  await verdict.user(user)
  return grantBy(
    { made: 'addGroupMember', removed: 'removeGroupMember' },
    ['PUT', memberPath(group, user), { tenant: 'default' }],
    `${groupPath(group)}/users`,
  )
}

async function nesting(): Promise<Grant> {
  const [outer, inner] = fresh('outer', 'inner')
  for (const group of [outer, inner]) await verdict.group(group)
  return grantBy(
    { made: 'assignGroup', removed: 'unassignGroup' },
    ['PUT', `${groupPath(outer)}/assign_group`, { group_instance_key: inner }],
    `${groupPath(outer)}/children`,
  )
}

async function roleOfGroup(): Promise<Grant> {
  const [group, plan] = fresh('team', 'plan')
  await verdict.group(group)
  await verdict.instance(`document:${plan}`)
  return grantBy(
    { made: 'addGroupRole', removed: 'removeGroupRole' },
    ['POST', `${groupPath(group)}/roles`, grantBody('viewer', `document:${plan}`)],
    `${groupPath(group)}/roles`,
  )
}

async function assignment(): Promise<Grant> {
  const [user] = fresh('ann')
  await verdict.user(user)
  return grantBy(
    { made: 'createRoleAssignment', removed: 'deleteRoleAssignment' },
    ['POST', `${FACTS}/role_assignments`, { user, role: 'reviewer', tenant: 'default' }],
    `${FACTS}/role_assignments?user=${user}`,
  )
}

async function assignmentOfUser(): Promise<Grant> {
  const [user] = fresh('ann')
  await verdict.user(user)
  return grantBy(
    { made: 'assignUserRole', removed: 'unassignUserRole' },
    ['POST', `${FACTS}/users/${user}/roles`, { role: 'reviewer', tenant: 'default' }],
    `${FACTS}/role_assignments?user=${user}`,
  )
}

async function tuple(): Promise<Grant> {
  const [subject, object] = fresh('page:one', 'page:two')
  return grantBy(
    { made: 'createRelationshipTuple', removed: 'deleteRelationshipTuple' },
    ['POST', `${FACTS}/relationship_tuples`, { subject, relation: 'parent', object, tenant: 'default' }],
    `${FACTS}/relationship_tuples?subject=${subject}`,
  )
}

const KINDS: readonly (readonly [name: string, make: () => Promise<Grant>])[] = [
  ['a membership', membership],
  ['a nesting', nesting],
  ['a role of a group', roleOfGroup],
  ['a role assignment', assignment],
  ["a user's role assignment", assignmentOfUser],
  ['a tuple', tuple],
]

function expectRefused(answer: Answer, present: string | null): void {
  expect(refusal(answer)).toEqual([412, 'PRECONDITION_FAILED'])
  expect(answer.headers.get('etag')).toBe(present)
  expect(answer.headers.get('cache-control')).toBe('no-transform')
}

describe.each(KINDS)('%s', (_, make) => {
  test('is made only where there is none yet; who is refused is told the tag of what is there', async () => {
    const grant = await make()
    expect((await grant.put(MAY, { 'if-none-match': '*' })).status).toBe(200)
    for (const end of [MAY, JUNE, null])
      expectRefused(await grant.put(end, { 'if-none-match': '*' }), tagOf(MAY))
    expect(await grant.end()).toBe(MAY)
    await grant.drop()
    expect((await grant.put(null, { 'if-none-match': '*' })).status).toBe(200)
    expectRefused(await grant.put(MAY, { 'if-none-match': '*' }), LASTS)
    expect(await grant.end()).toBeNull()
  })

  test('gets another end only where it has the one that was seen', async () => {
    const grant = await make()
    expectRefused(await grant.put(MAY, { 'if-match': LASTS }), null)
    expectRefused(await grant.put(MAY, { 'if-match': '*' }), null)
    expect(await grant.end()).toBeUndefined()
    await grant.put(null)
    expectRefused(await grant.put(JUNE, { 'if-match': tagOf(MAY) }), LASTS)
    expect((await grant.put(MAY, { 'if-match': LASTS })).status).toBe(200)
    expectRefused(await grant.put(JUNE, { 'if-match': LASTS }), tagOf(MAY))
    expect((await grant.put(JUNE, { 'if-match': `"another", ${tagOf(MAY)}` })).status).toBe(200)
    expect((await grant.put(null, { 'if-match': '*' })).status).toBe(200)
    expect(await grant.end()).toBeNull()
  })

  test('is removed only where it has the end that was seen', async () => {
    const grant = await make()
    expect((await grant.drop({ 'if-match': '*' })).status).toBe(404)
    await grant.put(MAY)
    for (const tag of [LASTS, tagOf(JUNE), `W/${tagOf(JUNE)}`])
      expectRefused(await grant.drop({ 'if-match': tag }), tagOf(MAY))
    expect(await grant.end()).toBe(MAY)
    expect((await grant.drop({ 'if-match': tagOf(MAY) })).status).toBe(204)
    expect(await grant.end()).toBeUndefined()
    // As proxies that compress change a tag.
    await grant.put(MAY)
    expect((await grant.put(null, { 'if-match': `W/${tagOf(MAY)}` })).status).toBe(200)
    expect((await grant.drop({ 'if-match': `${LASTS.slice(0, -1)}-gzip"` })).status).toBe(204)
  })

  test('of two who have seen the same one wins each time, whatever they do', async () => {
    const grant = await make()
    const statuses = async (...calls: Promise<Answer>[]): Promise<number[]> =>
      (await Promise.all(calls)).map(({ status }) => status).toSorted()
    for (let round = 0; round < 15; round += 1) {
      expect(
        await statuses(grant.put(MAY, { 'if-none-match': '*' }), grant.put(JUNE, { 'if-none-match': '*' })),
      ).toEqual([200, 412])
      const seen = { 'if-match': tagOf((await grant.end()) ?? null) }
      expect(await statuses(grant.put(null, seen), grant.put('2091-01-01T00:00:00.000Z', seen))).toEqual([
        200, 412,
      ])
      const now = { 'if-match': tagOf((await grant.end()) ?? null) }
      const [removed, moved] = await Promise.all([grant.drop(now), grant.put(MAY, now)])
      expect(['204 412', '412 200'], `round ${round}`).toContain(`${removed.status} ${moved.status}`)
      if (removed.status === 412) await grant.drop()
    }
  })

  test('takes its headers as its description says', async () => {
    const { made, removed } = await make()
    const headersOf = (operation: string): string[] =>
      [...routes, ...mountedRoutes]
        .filter(({ operationId }) => operationId === operation)
        .map(({ headers, refusals }) =>
          [
            ...(headers ?? []).map(({ name }) => name).filter(name => name.startsWith('If-')),
            ...refusals,
          ].join(),
        )
    for (const each of headersOf(made)) expect(each).toMatch(/^If-Match,If-None-Match,.*412/)
    for (const each of headersOf(removed)) expect(each).toMatch(/^If-Match,.*412/)
  })
})

test('what stands in the headers and means nothing is 422, and changes nothing', async () => {
  const grant = await membership()
  for (const text of ['', '"null"', 'W/"a"', '*, *']) {
    expect(refusal(await grant.put(null, { 'if-none-match': text })), text).toEqual([422, 'INVALID_INPUT'])
  }
  expect(refusal(await grant.put(null, { 'if-match': 'null' }))).toEqual([422, 'INVALID_INPUT'])
  expect(await grant.end()).toBeUndefined()
  await grant.put(null)
  // Nothing is both there and not there yet.
  expectRefused(await grant.put(MAY, { 'if-match': LASTS, 'if-none-match': '*' }), LASTS)
  expect(await grant.end()).toBeNull()
})

test('who is refused is told what there is, in words, too', async () => {
  const grant = await membership()
  await grant.put(MAY)
  const told = ({ body }: Answer): string => (body as Problem).message
  expect(told(await grant.put(null, { 'if-none-match': '*' }))).toBe(
    `If-None-Match expects none, and there is one, "${MAY}": nothing was changed; read it again`,
  )
  expect(told(await grant.put(null, { 'if-match': LASTS }))).toBe(
    `If-Match expects "null", and it is "${MAY}" by now: nothing was changed; read it again`,
  )
})

test('a refusal leaves no entry in the audit log', async () => {
  const grant = await roleOfGroup()
  await grant.put(MAY)
  const audited = async () =>
    (await verdict.get<{ total_count: number }>('/v2/audit-log/default/default')).body.total_count
  const before = await audited()
  expectRefused(await grant.put(null, { 'if-none-match': '*' }), tagOf(MAY))
  expectRefused(await grant.drop({ 'if-match': LASTS }), tagOf(MAY))
  expect(await audited()).toBe(before)
})
