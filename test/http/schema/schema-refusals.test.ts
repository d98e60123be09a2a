/** Rejected schema calls: statuses, error codes and precedence of errors (native.md B.1, D-38). */
import { describe, expect, test } from 'vitest'
import { EXTENDS_REACH_MAX, PARTS_PER_BODY_MAX, PARTS_PER_RESOURCE_MAX } from '#model/limits.ts'
import { inherited, newPage } from '../../support/calls/pages.ts'
import { GROUPS, RESOURCES, SCHEMA, sharedService } from '#testing/processes/running-service.ts'
import {
  DUPLICATE,
  IMPOSSIBLE,
  INVALID,
  NOT_FOUND,
  type Problem,
  refusal,
} from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
const ROLES = `${SCHEMA}/roles`

const page = await newPage(verdict)
const P = `${RESOURCES}/${page}`
const create = { key: 'x', name: 'X' }

describe('a schema call', () => {
  test.each<[string, string, unknown?]>([
    ['PATCH', `${RESOURCES}/nothing`, {}],
    ['DELETE', `${RESOURCES}/nothing`],
    ['GET', `${RESOURCES}/nothing/actions`],
    ['POST', `${RESOURCES}/nothing/actions`, create],
    ['GET', `${P}/actions/fly`],
    ['PATCH', `${P}/actions/fly`, {}],
    ['DELETE', `${P}/actions/${UNKNOWN_ID}`],
    ['POST', `${RESOURCES}/nothing/action_groups`, create],
    ['POST', `${P}/action_groups`, { ...create, actions: ['fly'] }],
    ['GET', `${P}/action_groups/none`],
    ['PATCH', `${P}/action_groups/none`, {}],
    ['DELETE', `${P}/action_groups/none`],
    ['POST', `${RESOURCES}/nothing/attributes`, { key: 'x', type: 'bool' }],
    ['GET', `${P}/attributes/none`],
    ['PATCH', `${P}/attributes/none`, {}],
    ['DELETE', `${P}/attributes/none`],
    ['GET', `${RESOURCES}/nothing/relations`],
    ['GET', `${P}/relations/none`],
    ['DELETE', `${P}/relations/none`],
    ['GET', `${RESOURCES}/nothing/roles`],
    ['GET', `${P}/roles/none`],
    ['DELETE', `${P}/roles/none`],
    ['POST', `${P}/roles/none/permissions`, { permissions: [] }],
    ['POST', `${P}/roles/none/implicit_grants`, inherited(page)],
    ['PUT', `${P}/roles/none/implicit_grants/conditions`, { no_direct_roles_on_object: true }],
    ['GET', `${ROLES}/none`],
    ['PATCH', `${ROLES}/none`, {}],
    ['DELETE', `${ROLES}/none`],
    ['PATCH', `${SCHEMA}/users/attributes/none`, {}],
    ['DELETE', `${SCHEMA}/users/attributes/none`],
  ])('is a 404 if an entity does not exist: %s %s', async (method, path, body) => {
    expect(refusal(await verdict.send(method, path, { body }))).toEqual(NOT_FOUND)
  })

  test.each<[string, string, unknown, (string | number)[]]>([
    ['POST', `${RESOURCES}/nothing/actions`, { key: 'no key', name: 'X' }, ['body', 'key']],
    ['POST', `${P}/actions`, { key: 'x' }, ['body', 'name']],
    ['PATCH', `${P}/actions/fly`, { name: null }, ['body', 'name']],
    ['POST', `${P}/action_groups`, { ...create, actions: 'read' }, ['body', 'actions']],
    ['PATCH', `${P}/attributes/none`, { type: 'text' }, ['body', 'type']],
    ['POST', `${RESOURCES}/nothing/roles`, { key: 'x' }, ['body', 'name']],
    ['PATCH', `${RESOURCES}/nothing`, { actions: null }, ['body', 'actions']],
    ['PUT', `${RESOURCES}/nothing`, { actions: {} }, ['body', 'name']],
    ['GET', `${P}/actions?per_page=101`, undefined, ['query', 'per_page']],
    ['GET', `${ROLES}?page=0`, undefined, ['query', 'page']],
  ])(
    'is a 422 if the request is invalid, even if an entity does not exist: %s %s %j',
    async (method, path, body, loc) => {
      const answer = await verdict.send<Problem>(method, path, { body })
      expect(refusal(answer)).toEqual(INVALID)
      expect(answer.body.detail!.map(finding => finding.loc)).toContainEqual(loc)
    },
  )

  test.each<[string, unknown]>([
    [`${P}/actions`, { key: 'read', name: 'X' }],
    [`${P}/relations`, { key: 'on', name: 'X', subject_resource: page }],
    [`${P}/roles`, { key: 'viewer', name: 'X' }],
  ])('is a 409 and changes nothing if the key exists: POST %s %j', async (path, body) => {
    const before = await verdict.revision()
    expect(refusal(await verdict.post(path, body))).toEqual(DUPLICATE)
    expect(await verdict.revision()).toBe(before)
  })

  test('is a 404 rather than a 409 if both apply (native.md D-38)', async () => {
    const taken = { key: 'on', name: 'X', subject_resource: 'nothing' }
    expect(refusal(await verdict.post(`${P}/relations`, taken))).toEqual(NOT_FOUND)
    const role = { key: 'viewer', name: 'X', permissions: ['fly'] }
    expect(refusal(await verdict.post(`${P}/roles`, role))).toEqual(NOT_FOUND)
    await verdict.post(`${P}/action_groups`, create)
    const group = { ...create, actions: ['fly'] }
    expect(refusal(await verdict.post(`${P}/action_groups`, group))).toEqual(NOT_FOUND)
    expect(refusal(await verdict.post(`${P}/action_groups`, create))).toEqual(DUPLICATE)
  })
})

describe('a body whose roles have several errors', () => {
  const role = { name: 'X' }
  const derived = (on_resource: string) => ({
    name: 'X',
    granted_to: { users_with_role: [{ role: 'viewer', on_resource, linked_by_relation: 'over' }] },
  })
  const circular = { first: { ...role, extends: ['second'] }, second: { ...role, extends: ['first'] } }
  const mismatched = { mismatched: derived(page), viewer: role }
  const missing = { missing: { ...role, extends: ['nothing'] } }
  const body = (key: string, roles: Record<string, unknown>) => {
    return { name: 'Y', actions: {}, relations: { over: key }, roles }
  }

  // The service checks roles in the order of the members of the object.
  test.each([
    ['first', { ...missing, ...circular, ...mismatched }],
    ['last', { ...mismatched, ...circular, ...missing }],
    ['after a cycle', { ...circular, ...missing }],
  ])('is a 404 if a missing entity is %s (native.md D-38)', async (_which, roles) => {
    const key = `page-${crypto.randomUUID()}`
    expect(refusal(await verdict.put(`${RESOURCES}/${key}`, body(key, roles)))).toEqual(NOT_FOUND)
    expect((await verdict.get(`${RESOURCES}/${key}`)).status).toBe(404)
    const taken = { ...body(page, roles), key: page }
    expect(refusal(await verdict.post(RESOURCES, taken))).toEqual(NOT_FOUND)
  })

  test('is a 400 rather than a 409 if both apply (native.md D-38)', async () => {
    const taken = (roles: Record<string, unknown>) => ({ ...body(page, roles), key: page })
    expect(refusal(await verdict.post(RESOURCES, taken(circular)))).toEqual(IMPOSSIBLE)
    expect(refusal(await verdict.post(RESOURCES, taken({ viewer: role })))).toEqual(DUPLICATE)
  })
})

describe('limits of a schema', () => {
  const keyed = <Part>(count: number, part: Part): Record<string, Part> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`part-${index}`, part]))

  test('a body can have PARTS_PER_BODY_MAX parts of a kind, and is a 422 with one more', async () => {
    const body = { key: 'wide-resource', name: 'Wide' }
    const tooWide = await verdict.post(RESOURCES, { ...body, actions: keyed(PARTS_PER_BODY_MAX + 1, {}) })
    expect(tooWide.status).toBe(422)
    expect((await verdict.get(`${RESOURCES}/wide-resource`)).status).toBe(404)
    await verdict.done('POST', RESOURCES, { ...body, actions: keyed(PARTS_PER_BODY_MAX, {}) })
  })

  test('a role can extend EXTENDS_REACH_MAX roles transitively, and is a 400 with one more', async () => {
    const roles = Array.from({ length: EXTENDS_REACH_MAX + 1 }, (_, index) => `chained-${index}`)
    for (const [index, key] of roles.entries()) {
      const extended = index === 0 ? [] : [roles[index - 1]!]
      expect((await verdict.post(ROLES, { key, name: key, extends: extended })).status).toBe(200)
    }
    const last = await verdict.post(ROLES, { key: 'one-too-many', name: 'X', extends: [roles.at(-1)!] })
    expect([last.status, (last.body as Problem).message]).toEqual([
      400,
      expect.stringContaining(`more than ${EXTENDS_REACH_MAX} roles`),
    ])
  })

  test('a resource can have PARTS_PER_RESOURCE_MAX roles and relations; one more is a 400', async () => {
    const key = 'full-resource'
    const roles = keyed(PARTS_PER_RESOURCE_MAX, { name: 'X' })
    const full = { key, name: 'Full', actions: {}, roles, relations: keyed(PARTS_PER_RESOURCE_MAX, key) }
    expect((await verdict.post(RESOURCES, full)).status).toBe(200)
    const more: [string, string, unknown][] = [
      ['POST', `${RESOURCES}/${key}/roles`, create],
      ['POST', `${RESOURCES}/${key}/relations`, { ...create, subject_resource: page }],
      ['POST', `${P}/relations`, { ...create, subject_resource: key }],
      ['PUT', `${SCHEMA}/bulk/roles`, { operations: [{ key: 'x', name: 'X', resource: key }] }],
    ]
    for (const [method, path, body] of more) {
      const answer = await verdict.send<Problem>(method, path, { body })
      expect(refusal(answer), `${method} ${path}`).toEqual(IMPOSSIBLE)
      expect(answer.body.message).toContain('which is the maximum')
    }
    const taken = { key: 'part-7', name: 'X', subject_resource: key }
    expect(refusal(await verdict.post(`${RESOURCES}/${key}/relations`, taken))[0]).toBe(409)
    expect(refusal(await verdict.post(`${RESOURCES}/${key}/roles`, taken))[0]).toBe(409)
    expect((await verdict.send('DELETE', `${RESOURCES}/${key}/roles/part-7`)).status).toBe(204)
    expect((await verdict.post(`${RESOURCES}/${key}/roles`, create)).status).toBe(200)
    expect((await verdict.send('DELETE', `${RESOURCES}/${key}`)).status).toBe(204)
    expect((await verdict.get(`${RESOURCES}/${key}`)).status).toBe(404)
  })
})

test.each<[string, string, string, unknown]>([
  ['POST', RESOURCES, '__role', { key: '__role', name: 'R', actions: {} }],
  ['PUT', `${RESOURCES}/__role`, '__role', { name: 'R', actions: {} }],
  ['POST', GROUPS, '__team', { group_instance_key: '__team:a', group_tenant: 'default' }],
])('a resource key that begins with __ is reserved: %s %s %s', async (method, path, key, body) => {
  const before = await verdict.everythingListed()
  const answer = await verdict.send<Problem>(method, path, { body })
  expect(refusal(answer)).toEqual(IMPOSSIBLE)
  expect(answer.body.message).toBe(
    `resource keys that begin with __ are reserved for built-in resources, got "${key}"`,
  )
  expect(await verdict.everythingListed()).toEqual(before)
})

test('an instance of the resource _tenant is not listed as a tenant by /user-permissions', async () => {
  await verdict.user('zoe')
  await verdict.resource({ key: '_tenant', roles: { keeper: { name: 'Keeper' } } })
  await verdict.assign('zoe', 'keeper', '_tenant:default')
  const listed = await verdict.post<object>('/user-permissions', { user: { key: 'zoe' } })
  expect(Object.keys(listed.body)).toEqual(['_tenant:default'])
})
