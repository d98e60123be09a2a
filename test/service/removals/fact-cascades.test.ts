/** Deletions with dependent rows (native.md C.7): correct before, during and after the purge. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { holdsForAll } from '../../support/random-runs.ts'
import { call, RunningEnvironment } from '../../support/running-environment.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'

const DEPENDANTS = 60
const numbers = Array.from({ length: DEPENDANTS }, (_, number) => number)

type Removal = 'tenant' | 'user' | 'instance'
const REMOVALS: readonly Removal[] = ['tenant', 'user', 'instance']

async function prepared(url?: string): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open(url)
  const roles = { editor: ['update'], owner: [] }
  await environment.resource('document', ['update'], roles, { parent: 'document' })
  await environment.tenantRole('admin', 'document:update')
  await environment.execute('createTenants', {
    body: { operations: [...numbers.map(n => `t${n}`), 'acme', 'other'].map(key => ({ key, name: key })) },
  })
  await environment.users(...numbers.map(n => `u${n}`), 'alice', 'bob')
  return environment
}

/** All users are admins of `acme` and editors of its `d1`. Alice is an admin of all other tenants. */
async function fill(environment: RunningEnvironment, tenant: string): Promise<void> {
  await environment.execute('assignRoles', {
    query: {},
    body: [
      ...numbers.map(n => ({ user: `u${n}`, role: 'admin', tenant })),
      ...numbers.map(n => ({ user: `u${n}`, role: 'editor', resource_instance: 'document:d1', tenant })),
      ...numbers.map(n => ({ user: 'alice', role: 'admin', tenant: `t${n}` })),
      { user: 'bob', role: 'admin', tenant: 'other' },
    ],
  })
  await environment.execute('createRelationshipTuples', {
    body: {
      operations: numbers.map(n => ({
        subject: 'document:d1',
        relation: 'parent',
        object: `document:c${n}`,
        tenant,
      })),
    },
  })
}

const REMOVE = {
  tenant: call('deleteTenant', { params: { tenant_id: 'acme' } }),
  user: call('deleteUser', { params: { user_id: 'alice' } }),
  instance: call('deleteResourceInstance', { params: { instance_id: 'document:d1' } }),
} satisfies Record<Removal, (it: RunningEnvironment) => Promise<unknown>>

/** Creates the entity again, in another tenant if possible, with one fact in it. */
const RECREATE = {
  tenant: async it => {
    await it.execute('createTenant', { body: { key: 'acme', name: 'New' } })
    await it.execute('createResourceInstance', {
      body: { resource: 'document', key: 'c7', tenant: 'other', attributes: {} },
    })
    await it.execute('createRoleAssignment', {
      body: { user: 'bob', role: 'editor', resource_instance: 'document:c7' },
    })
  },
  user: async it => {
    await it.execute('createUser', { body: { key: 'alice' } })
    await it.execute('createRoleAssignment', { body: { user: 'alice', role: 'admin', tenant: 't3' } })
  },
  instance: async it => {
    await it.execute('createResourceInstance', { body: { resource: 'document', key: 'd1', tenant: 'other' } })
    await it.execute('createRoleAssignment', {
      body: { user: 'bob', role: 'editor', resource_instance: 'document:d1' },
    })
  },
} satisfies Record<Removal, (it: RunningEnvironment) => Promise<unknown>>

/** Expects that the total of every list equals its length, and that decisions match the stored rows. */
async function expectWhole(environment: RunningEnvironment): Promise<void> {
  const oracle = environment.oracle()
  const all = { per_page: 1_000, include_total_count: true }
  const filters = [{}, { user: ['alice'] }, { role: ['admin'] }, { role: ['editor'] }, { tenant: ['acme'] }]
  let assignments = 0
  for (const filter of [...filters, { resource: 'document' }, { resource_instance: 'document:d1' }]) {
    const page = await environment.execute('listRoleAssignments', { query: { ...filter, ...all } })
    if (Array.isArray(page)) throw new Error('the total was asked for')
    expect(page.total_count).toBe(page.data.length)
    if (Object.keys(filter).length === 0) assignments = page.total_count
  }
  const tuples = await environment.execute('listDetailedRelationshipTuples', { query: { per_page: 100 } })
  expect(tuples.total_count).toBe(tuples.data.length)
  const instances = await environment.execute('listDetailedResourceInstances', { query: { per_page: 100 } })
  expect(instances.total_count).toBe(instances.data.length)
  for (const query of [{ role: '' }, { role: 'admin' }, { role: 'editor' }]) {
    const users = await environment.execute('listUsers', { query: { ...query, per_page: 100 } })
    expect(users.total_count).toBe(users.data.length)
    const hasRoles = users.data.map(({ roles }) => roles.length > 0)
    if (query.role !== 'editor') expect(new Set(hasRoles).size).toBeLessThan(2)
  }
  expect(assignments).toBe(environment.standingCount('assignment-put'))
  for (const user of ['u7', 'alice', 'bob']) {
    for (const key of ['d1', 'c7', null]) {
      for (const tenant of ['acme', 'other', 't3', null]) {
        const question = { user, action: 'update', type: 'document', key, tenant }
        expect(environment.decide(question)).toBe(oracle.evaluate(question))
      }
    }
  }
}

describe.each(REMOVALS)('a deleted %s', removal => {
  test('is absent from decisions and lists when the response is sent, and the purge removes every dependent row', async () => {
    const environment = await prepared()
    await fill(environment, 'acme')
    await REMOVE[removal](environment)
    expect(environment.count('purge')).toBe(1)
    await expectWhole(environment)
    await environment.purged()
    await expectWhole(environment)
    expect(environment.orphanCount()).toBe(0)
  })
})

test('deleted entities stay deleted after a restart during the purge, and the purge then completes', async () => {
  const environment = await prepared(`lmdb:${storeDirectory()}`)
  await fill(environment, 'acme')
  await REMOVE.tenant(environment)
  await REMOVE.user(environment)
  const next = await environment.reopen()
  await expectWhole(next)
  await next.purged()
  expect(next.orphanCount()).toBe(0)
})

test('a purge yields between its batches', async () => {
  const environment = await prepared()
  await fill(environment, 'acme')
  await REMOVE.tenant(environment)
  let turns = 0
  for (; environment.count('purge') > 0; turns += 1) await new Promise(resolve => setImmediate(resolve))
  // The first batch has 24 rows, and each batch is at most a tenth larger than the previous one.
  expect(turns).toBeGreaterThan(4)
})

test('a bulk deletion has several purge rows, so that no row grows with the number of deleted entities', async () => {
  const environment = await prepared()
  const many = Array.from({ length: 100 }, (_, number) => `m${number}`)
  await environment.execute('createUsers', { body: { operations: many.map(key => ({ key })) } })
  const body = many.flatMap(user => ['acme', 'other'].map(tenant => ({ user, role: 'admin', tenant })))
  await environment.execute('assignRoles', { query: {}, body })
  await environment.execute('deleteUsers', { body: { idents: many } })
  expect(environment.count('purge')).toBeGreaterThan(1)
  await environment.purged()
  expect(environment.orphanCount()).toBe(0)
})

test('purges that overlap in their rows complete despite conflicts', async () => {
  const environment = await prepared(`lmdb:${storeDirectory()}`)
  const many = Array.from({ length: 2_000 }, (_, number) => `m${number}`)
  await environment.execute('createUsers', { body: { operations: many.map(key => ({ key })) } })
  const body = many.map(user => ({ user, role: 'admin', tenant: 'acme' }))
  await environment.execute('assignRoles', { query: {}, body })
  await REMOVE.tenant(environment)
  await environment.execute('deleteTenantRole', { params: { role_id: 'admin' } })
  expect(environment.count('purge')).toBe(2)
  await environment.purged()
  expect(environment.count('assignment')).toBe(0)
})

test('an entity that is re-created after any step of the purge inherits nothing from its predecessor', async () => {
  const anyStory = fc.array(fc.tuple(fc.constantFrom(...REMOVALS), fc.nat(12), fc.boolean()), {
    minLength: 1,
    maxLength: 3,
  })
  await holdsForAll(anyStory, 6, async story => {
    const environment = await prepared()
    await fill(environment, 'acme')
    const done = new Set<Removal>()
    for (const [removal, turns, isCreatedAgain] of story) {
      if (done.has(removal)) continue
      done.add(removal)
      const isThere = removal !== 'instance' || !done.has('tenant')
      if (isThere) await REMOVE[removal](environment)
      for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve))
      if (isThere && isCreatedAgain) await RECREATE[removal](environment)
      await expectWhole(environment)
    }
    while (environment.count('purge') > 0) {
      await expectWhole(environment)
      await new Promise(resolve => setImmediate(resolve))
    }
    await expectWhole(environment)
    expect(environment.orphanCount()).toBe(0)
    await environment.close()
  })
})
