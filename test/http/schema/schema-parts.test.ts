/** The parts of a resource, one by one, over HTTP (native.md B.4). */
import { describe, expect, test } from 'vitest'
import type { Action, ActionGroup } from '#entities/action.ts'
import type { Attribute } from '#entities/attribute.ts'
import type { Relation } from '#entities/relation.ts'
import type { Resource } from '#entities/resource.ts'
import { newPage } from '../../support/calls/pages.ts'
import {
  type Envelope,
  RESOURCES,
  SCHEMA,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { DUPLICATE, INVALID, NOT_FOUND, refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()

test('actions can be created, read by key or id, changed, listed as an array, and deleted', async () => {
  const page = await newPage(verdict)
  const path = `${RESOURCES}/${page}/actions`
  const { body: created } = await verdict.post<Action>(path, { key: 'sign', name: 'Sign' })
  expect(created).toMatchObject({
    key: 'sign',
    name: 'Sign',
    description: null,
    attributes: null,
    permission_name: `${page}:sign`,
  })
  expect((await verdict.get(`${path}/sign`)).body).toEqual(created)
  expect((await verdict.get(`${path}/${created.id.toUpperCase()}`)).body).toEqual(created)
  expect((await verdict.get(`${path}/%73ign`)).body).toEqual(created)

  const { body: changed } = await verdict.patch<Action>(`${path}/${created.id}`, {
    description: 'With a pen',
    attributes: { risk: 2 },
  })
  expect(changed).toMatchObject({ id: created.id, name: 'Sign', description: 'With a pen' })
  expect(changed.created_at).toBe(created.created_at)
  const cleared = await verdict.patch<Action>(`${path}/sign`, { description: null, attributes: null })
  expect(cleared.body).toMatchObject({ description: null, attributes: null })

  expect(await verdict.keysIn(path)).toEqual(['read', 'write', 'print', 'sign'])
  expect(await verdict.keysIn(`${path}?page=2&per_page=3`)).toEqual(['sign'])
  expect(await verdict.keysIn(`${path}?include_total_count=true`)).toHaveLength(4)
  expect((await verdict.delete(`${path}/sign`)).status).toBe(204)
  expect(refusal(await verdict.get(`${path}/sign`))).toEqual(NOT_FOUND)
  const { body: again } = await verdict.post<Action>(path, { key: 'sign', name: 'Sign' })
  expect(again.id).not.toBe(created.id)
})

test('action groups name actions of their resource by key or id, and appear in the resource', async () => {
  const page = await newPage(verdict)
  const path = `${RESOURCES}/${page}/action_groups`
  const { body: print } = await verdict.get<Action>(`${RESOURCES}/${page}/actions/print`)
  const { body: created } = await verdict.post<ActionGroup>(path, {
    key: 'all',
    name: 'All',
    actions: ['read', print.id, 'read'],
  })
  expect(created.actions).toEqual(['read', 'print'])
  expect((await verdict.get(`${path}/${created.id}`)).body).toEqual(created)
  expect((await verdict.get<Resource>(`${RESOURCES}/${page}`)).body.action_groups).toEqual({
    all: ['read', 'print'],
  })
  const { body: bare } = await verdict.post<ActionGroup>(path, { key: 'none', name: 'None' })
  expect(bare.actions).toEqual([])
  expect(await verdict.keysIn(path)).toEqual(['all', 'none'])
  const changed = await verdict.patch<ActionGroup>(`${path}/all`, { actions: ['write'] })
  expect(changed.body).toMatchObject({ id: created.id, name: 'All', actions: ['write'] })
  expect(refusal(await verdict.patch(`${path}/all`, { actions: ['fly'] }))).toEqual(NOT_FOUND)
  expect((await verdict.delete(`${path}/all`)).status).toBe(204)
  expect(await verdict.keysIn(path)).toEqual(['none'])
})

describe('attribute declarations', () => {
  test('can be created, changed, listed and deleted for a resource', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/attributes`
    const { body: created } = await verdict.post<Attribute>(path, { key: 'size', type: 'number' })
    expect(created).toMatchObject({ key: 'size', type: 'number', resource_key: page, built_in: false })
    const changed = await verdict.patch<Attribute>(`${path}/${created.id}`, { type: 'json' })
    expect(changed.body).toMatchObject({ id: created.id, type: 'json', description: null })
    const { body: resource } = await verdict.get<Resource>(`${RESOURCES}/${page}`)
    const size = { id: created.id, key: 'size', type: 'json', description: null }
    expect(resource.attributes['size']).toEqual(size)
    expect(await verdict.keysIn(path)).toEqual(['size'])
    expect(refusal(await verdict.post(path, { key: 'size', type: 'time' }))).toEqual(DUPLICATE)
    expect(refusal(await verdict.post(path, { key: 'x', type: 'integer' }))).toEqual(INVALID)
    expect((await verdict.delete(`${path}/size`)).status).toBe(204)
    expect(await verdict.get(path)).toMatchObject({ body: [] })
  })

  test('for users belong to a built-in resource, which is listed on request and cannot be changed', async () => {
    const service = await startedService()
    const path = `${SCHEMA}/users/attributes`
    expect((await service.get(path)).body).toEqual([])
    expect(refusal(await service.get(`${path}/level`))).toEqual(NOT_FOUND)
    const { body: created } = await service.post<Attribute>(path, { key: 'level', type: 'number' })
    expect(created).toMatchObject({ resource_key: '__user', built_in: true })
    expect((await service.get(`${path}/${created.id}`)).body).toEqual(created)
    await service.resource({ key: 'page' })
    expect(await service.keysIn(RESOURCES)).toEqual(['page'])
    const listed = await service.get<Envelope<Resource>>(
      `${RESOURCES}?include_built_in=true&include_total_count=true`,
    )
    expect(listed.body.data.map(({ key }) => key)).toEqual(['__user', '__tenant', 'page'])
    expect(listed.body.total_count).toBe(3)
    expect((await service.get<Resource>(`${RESOURCES}/__user`)).body.attributes).toHaveProperty('level')
    const name = { key: '__user', name: 'Mine', actions: {} }
    expect(refusal(await service.post(RESOURCES, name))).toEqual(DUPLICATE)
    expect(refusal(await service.put(`${RESOURCES}/__user`, name))).toEqual(DUPLICATE)
    expect(refusal(await service.delete(`${RESOURCES}/__user`))).toEqual(NOT_FOUND)
    expect(refusal(await service.delete(`${RESOURCES}/${created.resource_id}`))).toEqual(NOT_FOUND)
    expect((await service.delete(`${path}/level`)).status).toBe(204)
    expect((await service.get(path)).body).toEqual([])
  })

  test('for tenants belong to a built-in resource, which exists before its first attribute', async () => {
    const service = await startedService()
    const [path, resource] = [`${RESOURCES}/__tenant/attributes`, `${RESOURCES}/__tenant`]
    expect((await service.get(path)).body).toEqual([])
    expect(refusal(await service.get(`${path}/plan`))).toEqual(NOT_FOUND)
    const { body: before } = await service.get<Resource>(resource)
    expect(before).toMatchObject({ key: '__tenant', attributes: {}, actions: {}, roles: {}, relations: {} })
    const environment = await service.admin('GET', '/v2/projects/default/envs/default')
    expect(environment.body).toMatchObject({ created_at: before.created_at })
    expect((await service.get(`${RESOURCES}/${before.id}`)).body).toEqual(before)
    expect((await service.get(`${RESOURCES}/${before.id}/attributes`)).body).toEqual([])
    const { body: created } = await service.post<Attribute>(path, { key: 'plan', type: 'string' })
    expect(created).toMatchObject({ resource_key: '__tenant', resource_id: before.id, built_in: true })
    expect((await service.get(`${path}/${created.id}`)).body).toEqual(created)
    expect(await service.keysIn(`${RESOURCES}/${created.resource_id}/attributes`)).toEqual(['plan'])
    const changed = await service.patch<Attribute>(`${path}/plan`, { type: 'object' })
    expect(changed.body).toMatchObject({ id: created.id, type: 'object' })
    expect(await service.keysIn(RESOURCES)).toEqual([])
    const builtIn = `${RESOURCES}?include_built_in=true`
    expect(await service.keysIn(builtIn)).toEqual(['__user', '__tenant'])
    expect(await service.keysIn(`${builtIn}&search=TENANT`)).toEqual(['__tenant'])
    expect(await service.keysIn(`${builtIn}&page=2&per_page=1`)).toEqual(['__tenant'])
    await service.resource({ key: 'page' })
    await service.resource({ key: 'leaf' })
    expect(await service.keysIn(`${builtIn}&page=2&per_page=3`)).toEqual(['leaf'])
    expect(await service.keysIn(`${builtIn}&page=1&per_page=2`)).toEqual(['__user', '__tenant'])
    expect((await service.get<Resource>(resource)).body.attributes).toHaveProperty('plan')
    const definition = { name: 'Mine', actions: {} }
    for (const answer of [
      await service.post(RESOURCES, { key: '__tenant', ...definition }),
      await service.put(resource, definition),
    ]) {
      expect(refusal(answer)).toEqual(DUPLICATE)
    }
    for (const answer of [
      await service.patch(resource, { name: 'Mine' }),
      await service.delete(resource),
      await service.delete(`${RESOURCES}/${created.resource_id}`),
      await service.post(`${resource}/actions`, { key: 'read', name: 'Read' }),
      await service.post(`${resource}/roles`, { key: 'admin', name: 'Admin' }),
    ]) {
      expect(refusal(answer)).toEqual(NOT_FOUND)
    }
    expect((await service.delete(`${path}/plan`)).status).toBe(204)
    expect((await service.get(path)).body).toEqual([])
  })

  test('for users are the attributes of the built-in resource __user', async () => {
    const path = `${RESOURCES}/__user/attributes`
    const { body: created } = await verdict.post<Attribute>(path, { key: 'badge', type: 'string' })
    expect((await verdict.get(`${SCHEMA}/users/attributes/badge`)).body).toEqual(created)
    expect(await verdict.keysIn(path)).toContain('badge')
    expect((await verdict.delete(`${path}/badge`)).status).toBe(204)
    expect(refusal(await verdict.get(`${SCHEMA}/users/attributes/badge`))).toEqual(NOT_FOUND)
  })

  test.each([
    [`${SCHEMA}/users/attributes`, ['key', 'email', 'first_name', 'last_name', 'roles', 'tenants']],
    [`${RESOURCES}/__user/attributes`, ['key', 'email', 'first_name', 'last_name', 'roles', 'tenants']],
    [`${RESOURCES}/__tenant/attributes`, ['key']],
  ])('that conditions predefine are a 409 if they are created at %s', async (path, keys) => {
    for (const key of keys)
      expect(refusal(await verdict.post(path, { key, type: 'string' })), key).toEqual(DUPLICATE)
  })

  test('cannot have the key type on a resource, but can on users and tenants', async () => {
    const page = await newPage(verdict)
    const attributes = { type: { type: 'string' } }
    const definition = { name: 'Leaf', actions: {}, attributes }
    for (const answer of [
      await verdict.post(`${RESOURCES}/${page}/attributes`, { key: 'type', type: 'string' }),
      await verdict.post(RESOURCES, { key: `${page}-leaf`, ...definition }),
      await verdict.put(`${RESOURCES}/${page}-leaf`, definition),
      await verdict.put(`${RESOURCES}/${page}`, definition),
      await verdict.patch(`${RESOURCES}/${page}`, { attributes }),
    ]) {
      expect(refusal(answer)).toEqual(DUPLICATE)
    }
    expect(refusal(await verdict.get(`${RESOURCES}/${page}-leaf`))).toEqual(NOT_FOUND)
    expect((await verdict.get<Resource>(`${RESOURCES}/${page}`)).body.attributes).not.toHaveProperty('type')
    for (const path of [`${RESOURCES}/__user/attributes`, `${RESOURCES}/__tenant/attributes`]) {
      expect((await verdict.post(path, { key: 'type', type: 'string' })).status).toBe(200)
      expect((await verdict.delete(`${path}/type`)).status).toBe(204)
    }
  })

  test.each(['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array'])(
    'can have the type %s',
    async type => {
      const page = await newPage(verdict)
      const declared = await verdict.post<Attribute>(`${RESOURCES}/${page}/attributes`, { key: 'x', type })
      expect([declared.status, declared.body.type]).toEqual([200, type])
    },
  )
})

describe('relations', () => {
  test('are listed in an envelope, or as an array on request, and read by key or id', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/relations`
    const below = await verdict.relation(page, 'below', page)
    const whole = await verdict.get<Envelope<Relation>>(path)
    const data = [{ key: 'on' }, { key: 'below' }]
    expect(whole.body).toMatchObject({ data, total_count: 2, page_count: 1 })
    expect(await verdict.keysIn(`${path}?include_total_count=false`)).toEqual(['on', 'below'])
    const { body } = await verdict.get<Envelope<Relation>>(`${path}?include_total_count=true&per_page=1`)
    expect(body).toMatchObject({ data: [{ key: 'on' }], total_count: 2, page_count: 2 })
    expect((await verdict.get(`${path}/below`)).body).toEqual(below)
    expect((await verdict.get(`${path}/${below.id}`)).body).toEqual(below)
    expect((await verdict.delete(`${path}/${below.id}`)).status).toBe(204)
    expect(refusal(await verdict.delete(`${path}/below`))).toEqual(NOT_FOUND)
  })

  test.each([
    ['node:2.7.6', true],
    ['java:2.2.5', true],
    ['python:3.0.0', false],
    ['golang:1.2.8', false],
    ['nodes', false],
    ['a node:1', false],
  ])('are listed in the form that the client %s reads (an array: %s)', async (version, isArray) => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}/relations`
    const listed = async (query: string) => {
      const headers = { 'X-Permit-SDK-Version': version }
      return Array.isArray((await verdict.send('GET', `${path}${query}`, { headers })).body)
    }
    expect(await listed('')).toBe(isArray)
    expect(await listed('?per_page=100')).toBe(isArray)
    // The query parameter takes precedence over the client.
    expect(await listed('?include_total_count=true')).toBe(false)
    expect(await listed('?include_total_count=false')).toBe(true)
  })
})
