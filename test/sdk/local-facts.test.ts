/**
 * Facts written through the decision point by the commercial service's own client, and asked for at once. There the
 * client may say how long to wait until a fact is in force; here it is in force when its answer is there.
 */
import { describe, expect, test } from 'vitest'
import type { Permit } from 'permitio'
import {
  permitAt,
  permitOfNewService,
  type PermitOptions,
  statusOfRefusal,
} from '../support/permit-client.ts'

const THROUGH: PermitOptions = { proxyFactsViaPdp: true }

async function repository(options: PermitOptions = THROUGH): Promise<Permit> {
  const { permit } = await permitOfNewService(options)
  const { api } = permit
  await api.resources.create({ key: 'repo', name: 'Repo', actions: { clone: {}, push: {} } })
  await api.roles.create({ key: 'developer', name: 'Developer', permissions: ['repo:clone'] })
  await api.resourceRoles.create('repo', { key: 'owner', name: 'Owner', permissions: ['push'] })
  await api.users.create({ key: 'lin' })
  return permit
}

test('a role in a tenant counts in the check behind it', async () => {
  const permit = await repository()
  expect(await permit.check('lin', 'clone', 'repo')).toBe(false)
  await permit.api.roleAssignments.assign({ user: 'lin', role: 'developer', tenant: 'default' })
  expect(await permit.check('lin', 'clone', 'repo')).toBe(true)
})

test('a role on an instance takes its tenant from the instance', async () => {
  const permit = await repository()
  const { api } = permit
  await api.tenants.create({ key: 'acme', name: 'Acme' })
  const created = await api.resourceInstances.create({ resource: 'repo', key: 'site', tenant: 'acme' })
  expect([created.resource, created.key, created.tenant]).toEqual(['repo', 'site', 'acme'])
  const assigned = await api.roleAssignments.assign({
    user: 'lin',
    role: 'owner',
    resource_instance: 'repo:site',
  })
  expect(assigned.tenant).toBe('acme')
  expect(await permit.check('lin', 'push', { type: 'repo', key: 'site', tenant: 'acme' })).toBe(true)
})

describe('a wait that the client asks for', () => {
  test.each([[0], [0.5], [10], [-1], [null]])('%s seconds is accepted, and there is none', async seconds => {
    const permit = await repository()
    const asked = permit.api.roleAssignments.waitForSync(seconds, 'fail')
    await asked.assign({ user: 'lin', role: 'developer', tenant: 'default' })
    // Also for 0, with which the original promises nothing: docs/compatibility.md.
    expect(await permit.check('lin', 'clone', 'repo')).toBe(true)
  })

  test.each<[string, PermitOptions]>([
    ['a timeout that is no number', { ...THROUGH, factsSyncTimeout: Number.NaN }],
    ['a policy nobody knows', { ...THROUGH, factsSyncTimeoutPolicy: 'hope' as 'fail' }],
  ])('with %s is refused, and nothing is written', async (_what, options) => {
    const { service } = await permitOfNewService()
    const permit = permitAt(service.address, options)
    expect(await statusOfRefusal(permit.api.users.create({ key: 'lin' }))).toBe(400)
    expect((await permitAt(service.address).api.users.list()).total_count).toBe(0)
  })
})
