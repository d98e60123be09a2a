/** Projects and environments: creation, reads, changes and deletion at run time (native.md B.13). */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import type { Environment, EnvironmentStats } from '#model/wire/organization/environment.ts'
import type { Project } from '#model/wire/organization/project.ts'
import { answerFindings } from '#testing/requests/routes.ts'
import {
  ADMIN_KEY,
  type Answer,
  API_KEY,
  type Client,
  fresh,
  neighbourOf,
  question,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { DUPLICATE, INVALID, NOT_FOUND, refusal } from '../../support/calls/refusals.ts'

const PROJECTS = '/v2/projects'
const ENVS = `${PROJECTS}/default/envs`
const verdict = await sharedService({ httpThreads: 2 })

function admin<Body = unknown>(method: string, path: string, body?: unknown, client: Client = verdict) {
  return client.admin<Body>(method, path, body)
}

/** The body of a successful call. Verifies the schema of the response. */
async function done<Body>(operation: string, call: Promise<Answer<Body>>, status = 200): Promise<Body> {
  const answer = await call
  expect([answer.status, answerFindings(operation, status, answer.body)]).toEqual([status, []])
  expect(answer.headers.get('x-revision'), operation).toMatch(/^[a-z0-9-]+\.\d+(, [a-z0-9-]+\.\d+)?$/)
  return answer.body
}

const check = (key: string, client: Client = verdict) =>
  client.send('POST', '/allowed', { key, body: question('nobody', 'read', 'document') })

const twin = { key: 'same', name: 'Same' }

describe('a project', () => {
  test('can be created, read by key and id, listed, searched, changed and deleted', async () => {
    const [key] = fresh('project')
    const body = { key, name: 'A project', urn_namespace: 'urn:p', settings: { a: [1] } }
    const project = await done('createProject', admin<Project>('POST', PROJECTS, body))
    expect(project).toMatchObject({ ...body, description: null, active_policy_repo_id: null })
    for (const name of [key, project.id, project.id.toUpperCase()]) {
      expect(await done('getProject', admin('GET', `${PROJECTS}/${name}`))).toEqual(project)
    }
    const all = await done('listProjects', admin<Project[]>('GET', `${PROJECTS}?per_page=100`))
    expect(all[0]!.key).toBe('default')
    expect(all).toContainEqual(project)
    expect((await admin('GET', `${PROJECTS}?search=${key}`)).body).toEqual([project])
    expect((await admin('GET', `${PROJECTS}?per_page=1&page=2`)).body).toEqual([all[1]])
    const change = { name: 'Renamed', description: 'D', settings: null, active_policy_repo_id: 'r' }
    const changed = await done('updateProject', admin<Project>('PATCH', `${PROJECTS}/${key}`, change))
    expect(changed).toEqual({ ...project, ...change, updated_at: changed.updated_at })
    expect((await admin('PATCH', `${PROJECTS}/${key}`, {})).body).toMatchObject(change)
    expect((await admin('DELETE', `${PROJECTS}/${key}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE']) {
      expect(refusal(await admin(method, `${PROJECTS}/${key}`))).toEqual(NOT_FOUND)
    }
  })

  test.each([
    ['dev and production by default', {}, ['dev Development', 'production Production']],
    [
      'dev and production for null',
      { initial_environments: null },
      ['dev Development', 'production Production'],
    ],
    ['none for an empty list', { initial_environments: [] }, []],
    [
      'the environments of the list',
      {
        initial_environments: [
          { key: 'one', name: 'One', description: 'First' },
          { key: 'two', name: 'Two' },
        ],
      },
      ['one One', 'two Two'],
    ],
  ])('is created with its initial environments: %s', async (_, initial, expected) => {
    const [key] = fresh('furnished')
    await done('createProject', admin<Project>('POST', PROJECTS, { key, name: 'F', ...initial }))
    const { body } = await admin<Environment[]>('GET', `${PROJECTS}/${key}/envs`)
    expect(body.map(environment => `${environment.key} ${environment.name}`)).toEqual(expected)
    for (const environment of body) {
      const { secret } = (await admin<ApiKey>('GET', `/v2/api-key/${key}/${environment.key}`)).body
      expect((await check(secret!)).status).toBe(200)
    }
  })

  test.each([
    ['more than 100', Array.from({ length: 101 }, (_, n) => ({ key: `e${n}`, name: 'E' })), INVALID],
    ['two with the same key', [twin, twin], DUPLICATE],
  ])('is not created with %s initial environments', async (_, initial_environments, refused) => {
    const [key] = fresh('uncreated')
    expect(refusal(await admin('POST', PROJECTS, { key, name: 'T', initial_environments }))).toEqual(refused)
    expect((await admin('GET', `${PROJECTS}/${key}`)).status).toBe(404)
  })

  test('is deleted with its environments and all their keys', async () => {
    const [key] = fresh('whole')
    await admin('POST', PROJECTS, { key, name: key })
    await admin('POST', `${PROJECTS}/${key}/envs`, { key: 'one', name: 'One' })
    const ofEnvironment = (await admin<ApiKey>('GET', `/v2/api-key/${key}/one`)).body
    const ofProject = (await admin<ApiKey>('POST', '/v2/api-key', { project_id: key })).body
    expect((await check(ofEnvironment.secret!)).status).toBe(200)
    expect((await admin('DELETE', `${PROJECTS}/${key}`)).status).toBe(204)
    for (const { id, secret } of [ofEnvironment, ofProject]) {
      expect((await verdict.send('GET', '/v2/api-key/scope', { key: secret })).status).toBe(401)
      expect((await admin('GET', `/v2/api-key/${id}`)).status).toBe(404)
    }
    expect(refusal(await admin('GET', `/v2/facts/${key}/one/tenants`))).toEqual(NOT_FOUND)
  })

  test.each([
    [{ key: 'default', name: 'D' }, 409],
    [{ key: 'no spaces', name: 'D' }, 422],
    [{ key: 'environments', name: 'D', initial_environments: ['dev'] }, 422],
    [{ key: 'environments', name: 'D', initial_environments: [{ key: 'dev' }] }, 422],
  ])('is not created from %j, but rejected with %i', async (body, status) => {
    expect(refusal(await admin('POST', PROJECTS, body))[0]).toBe(status)
  })
})

describe('an environment', () => {
  test('can be created, read by key and id, listed, searched, changed and deleted', async () => {
    const [key] = fresh('env')
    const body = { key, name: 'An environment', custom_branch_name: 'main', jwks: { keys: [] } }
    const environment = await done('createEnvironment', admin<Environment>('POST', ENVS, body))
    expect(environment).toMatchObject({ ...body, description: null, settings: null })
    const read = { ...environment, email_configuration: null }
    for (const name of [key, environment.id, environment.id.toUpperCase()]) {
      expect(await done('getEnvironment', admin('GET', `${ENVS}/${name}`))).toEqual(read)
    }
    const all = await done('listEnvironments', admin<Environment[]>('GET', `${ENVS}?per_page=100`))
    expect(all[0]!.key).toBe('default')
    expect(all).toContainEqual(read)
    expect((await admin('GET', `${ENVS}?search=${key}`)).body).toEqual([read])
    const change = { name: 'Renamed', description: 'D', jwks: null, settings: { a: 1 } }
    const changed = await done('updateEnvironment', admin<Environment>('PATCH', `${ENVS}/${key}`, change))
    expect(changed).toEqual({ ...environment, ...change, updated_at: changed.updated_at })
    expect((await admin('DELETE', `${ENVS}/${key}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE']) {
      expect(refusal(await admin(method, `${ENVS}/${key}`))).toEqual(NOT_FOUND)
    }
  })

  test('starts with the tenant default, and its key is valid on every thread after the response', async () => {
    const [name] = fresh('started')
    const key = await neighbourOf(verdict, name)
    const answers = await Promise.all(Array.from({ length: 12 }, () => check(key)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const tenants = await verdict.send<{ key: string }[]>('GET', `/v2/facts/default/${name}/tenants`, { key })
    expect(tenants.body.map(tenant => tenant.key)).toEqual(['default'])
    expect((await verdict.send('GET', `/v2/schema/default/${name}/roles`, { key })).body).toEqual([])
  })

  test('has statistics about its entities', async () => {
    const [name] = fresh('counted')
    const key = await neighbourOf(verdict, name)
    const post = (path: string, body: unknown) => verdict.send('POST', path, { key, body })
    await post(`/v2/schema/default/${name}/resources`, {
      key: 'document',
      name: 'D',
      actions: { read: {}, write: {} },
      roles: { viewer: { name: 'V', permissions: ['read'] } },
    })
    await post(`/v2/schema/default/${name}/roles`, {
      key: 'editor',
      name: 'E',
      permissions: ['document:read', 'document:write'],
    })
    await post(`/v2/facts/default/${name}/users`, { key: 'alice' })
    const path = `${ENVS}/${name}/stats`
    const { stats } = await done('getEnvironmentStats', admin<EnvironmentStats>('GET', path))
    expect(stats).toMatchObject({ roles: 2, users: 1, policies: 3, resources: 1, tenants: 1 })
    expect(refusal(await admin('GET', `${ENVS}/nothing/stats`))).toEqual(NOT_FOUND)
  })

  test('that is deleted and created again is empty, and its former key is rejected', async () => {
    const [name] = fresh('again')
    const oldKey = await neighbourOf(verdict, name)
    const users = `/v2/facts/default/${name}/users`
    await verdict.send('POST', users, { key: oldKey, body: { key: 'alice' } })
    expect((await admin('DELETE', `${ENVS}/${name}`)).status).toBe(204)
    const key = await neighbourOf(verdict, name)
    expect((await verdict.send('GET', users, { key: oldKey })).status).toBe(401)
    expect((await check(oldKey)).status).toBe(401)
    expect((await verdict.send('GET', users, { key })).body).toMatchObject({ data: [], total_count: 0 })
  })

  test('can have the key of an environment in another project', async () => {
    const [project] = fresh('twin')
    await admin('POST', PROJECTS, { key: project, name: project })
    const envs = `${PROJECTS}/${project}/envs`
    expect((await admin('POST', envs, { key: 'default', name: 'D' })).status).toBe(200)
    const { body } = await admin<Environment>('GET', `${envs}/default`)
    const own = await admin<Environment>('GET', `${ENVS}/default`)
    expect(body.id).not.toBe(own.body.id)
    // A path with the id of another project does not find the environment.
    expect((await admin('GET', `${ENVS}/${body.id}`)).status).toBe(404)
  })

  test.each([
    [ENVS, { key: 'default', name: 'D' }, 409],
    [ENVS, { key: 'no spaces', name: 'D' }, 422],
    [`${PROJECTS}/nothing/envs`, { key: 'k', name: 'D' }, 404],
    [`${PROJECTS}/nothing/envs`, { key: 'k' }, 422],
  ])('is not created at %s from %j, but rejected with %i', async (path, body, status) => {
    expect(refusal(await admin('POST', path, body))[0]).toBe(status)
  })
})

test('requests during the deletion of an environment succeed, or fail as if the environment did not exist', async () => {
  const [name] = fresh('removed')
  const key = await neighbourOf(verdict, name)
  const users = `/v2/facts/default/${name}/users`
  let removing: Promise<Answer> | null = null
  const seen = new Set<string>()
  await Promise.all(
    Array.from({ length: 12 }, async (_, caller) => {
      const isAdmin = caller % 2 === 0
      for (let round = 0; ; round += 1) {
        const body = { key: `u-${caller}-${round}` }
        const { status } = await verdict.send('POST', users, { key: isAdmin ? ADMIN_KEY : key, body })
        seen.add(`${isAdmin ? 'admin' : 'own'} ${status}`)
        if (status !== 200) return
        if (caller === 0 && round === 3) removing = admin('DELETE', `${ENVS}/${name}`)
      }
    }),
  )
  expect((await removing!).status).toBe(204)
  const expected = ['admin 200', 'admin 404', 'own 200', 'own 401', 'own 403', 'own 404']
  expect([...seen].filter(each => !expected.includes(each))).toEqual([])
  expect(seen).toContain('admin 404')
  expect((await verdict.send('POST', users, { key, body: { key: 'late' } })).status).toBe(401)
})

describe('an environment in a store on disk', () => {
  test('survives a restart with its key, and leaves no files after its deletion', async () => {
    const directory = storeDirectory()
    const client = await startedService({ storeUrl: `lmdb:${directory}` })
    const kept = await neighbourOf(client, 'kept')
    await client.send('POST', '/v2/facts/default/kept/users', { key: kept, body: { key: 'alice' } })
    const gone = await neighbourOf(client, 'gone')
    const directories = readdirSync(directory).length
    expect((await admin('DELETE', `${ENVS}/gone`, undefined, client)).status).toBe(204)
    expect(readdirSync(directory)).toHaveLength(directories - 1)
    const next = await client.restart()
    expect([(await check(kept, next)).status, (await check(gone, next)).status]).toEqual([200, 401])
    const users = await next.send('GET', '/v2/facts/default/kept/users', { key: kept })
    expect(users.body).toMatchObject({ total_count: 1 })
  })

  test('that is the default environment can be deleted; a start creates it again, empty, only if API_KEY is set', async () => {
    const client = await startedService({ storeUrl: `lmdb:${storeDirectory()}`, apiKey: null })
    expect((await admin('DELETE', `${PROJECTS}/default`, undefined, client)).status).toBe(204)
    for (const list of ['/v1/users', '/v1/tenants']) {
      const { status, body, headers } = await admin('GET', list, undefined, client)
      expect([status, body, headers.has('x-revision')]).toEqual([200, [], true])
    }
    await client.close()
    const without = await startedService(client.settings)
    expect((await admin('GET', PROJECTS, undefined, without)).body).toEqual([])
    await without.close()
    const configured = await startedService({ ...client.settings, apiKey: API_KEY })
    expect((await check(API_KEY, configured)).status).toBe(200)
  })
})
