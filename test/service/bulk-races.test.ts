/** Concurrent bulks and removals. Each call takes effect as a whole, before or after the other call. */
import { describe, expect, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { call, type Call, RunningEnvironment } from '../support/running-environment.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'

/** Enough elements for a bulk to yield before it is complete. */
const ELEMENTS = 400
const users = Array.from({ length: ELEMENTS }, (_, number) => `u${number}`)
const assignments = users.map(user => ({ user, role: 'member', tenant: 'acme' }))
const tuples = users.map(key => ({
  subject: `folder:${key}`,
  relation: 'parent',
  object: `doc:${key}`,
  tenant: 'acme',
}))

async function prepared(url: string): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open(url)
  await environment.resource('folder', ['read'])
  await environment.resource('doc', ['read'], {}, { parent: 'folder' })
  await environment.execute('createTenant', { body: { key: 'acme', name: 'Acme' } })
  await environment.tenantRole('member', 'doc:read')
  await environment.users(...users)
  return environment
}

const BULKS: Readonly<Record<string, { readonly run: Call; readonly kind: 'assignment' | 'tuple' }>> = {
  assignments: { run: call('assignRoles', { body: assignments, query: {} }), kind: 'assignment' },
  tuples: {
    run: call('createRelationshipTuples', { body: { operations: tuples } }),
    kind: 'tuple',
  },
}

/** Name of a removal, name of a bulk, the removal, and the number of facts that remain if it is second. */
const REMOVALS: readonly (readonly [string, keyof typeof BULKS, Call, number])[] = [
  ['the tenant', 'assignments', call('deleteTenant', { params: { tenant_id: 'acme' } }), 0],
  ['the role', 'assignments', call('deleteTenantRole', { params: { role_id: 'member' } }), 0],
  ['one of the users', 'assignments', call('deleteUser', { params: { user_id: 'u399' } }), ELEMENTS - 1],
  ['the tenant', 'tuples', call('deleteTenant', { params: { tenant_id: 'acme' } }), 0],
  ['the resource type', 'tuples', call('deleteResource', { params: { resource_id: 'doc' } }), 0],
  [
    'the relation',
    'tuples',
    call('deleteRelation', { params: { resource_id: 'doc', relation_id: 'parent' } }),
    0,
  ],
]

describe.each(['memory', 'lmdb'])('on %s', kind => {
  const url = () => (kind === 'memory' ? 'memory:' : `lmdb:${storeDirectory()}`)

  test.each(REMOVALS)(
    'a removal of %s takes effect before or after a bulk of %s',
    async (_what, name, remove, left) => {
      const bulk = BULKS[name]!
      for (const turns of kind === 'memory' ? [0, 1, 2, 4, 8] : [1]) {
        const environment = await prepared(url())
        const running = bulk.run(environment).then(
          () => null,
          (error: unknown) => error as AuthzError,
        )
        for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve))
        await remove(environment)
        const refusal = await running
        if (refusal !== null) {
          expect(refusal).toMatchObject({
            code: 'NOT_FOUND',
            message: expect.stringMatching(/\[\d+\]: there is no/),
          })
        }
        await environment.purged()
        expect(environment.count(bulk.kind)).toBe(refusal === null ? left : 0)
        expect(environment.orphanCount()).toBe(0)
        const question = { user: 'u0', action: 'read', type: 'doc', key: null, tenant: 'acme' }
        expect(environment.decide(question)).toBe(environment.oracle().evaluate(question))
        await environment.close()
      }
    },
  )

  test('concurrent bulks of the same assignments create and count each assignment once', async () => {
    const environment = await prepared(url())
    const assign = () => environment.execute('assignRoles', { body: assignments, query: {} })
    const made = await Promise.all([assign(), assign(), assign()])
    expect(made.reduce((sum, { assignments_created }) => sum + assignments_created, 0)).toBe(ELEMENTS)
    const take = () => environment.execute('unassignRoles', { body: assignments })
    const taken = await Promise.all([take(), take()])
    expect(taken.reduce((sum, { assignments_removed }) => sum + assignments_removed, 0)).toBe(ELEMENTS)
    expect(environment.count('assignment')).toBe(0)
  })
})
