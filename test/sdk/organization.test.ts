/** Projects, environments and keys through the official client, and a decision in a new environment. */
import { describe, expect, test } from 'vitest'
import { PermitContextError, type Permit } from 'permitio'
import { permitAt, type PermitOptions, statusOfRefusal } from '../support/calls/permit-client.ts'
import { ADMIN_KEY, type Client, startedService } from '#testing/processes/running-service.ts'

interface Organization {
  readonly service: Client
  readonly admin: Permit
  as(token: string, options?: PermitOptions): Permit
}

/** A new service with the project `shop` and its environment `staging`. */
async function organization(): Promise<Organization> {
  const service = await startedService()
  const as = (token: string, options: PermitOptions = {}) => permitAt(service.address, { token, ...options })
  const admin = as(ADMIN_KEY)
  await admin.api.projects.create({ key: 'shop', name: 'Shop' })
  await admin.api.environments.create('shop', { key: 'staging', name: 'Staging' })
  return { service, admin, as }
}

async function secretOf({ admin }: Organization, environment: string): Promise<string> {
  return (await admin.api.environments.getApiKey('shop', environment)).secret!
}

/** Creates a project key without the client, which has methods only for keys of environments. */
async function projectKeyOf({ service }: Organization): Promise<string> {
  return (await service.createKey({ project_id: 'shop' })).secret
}

async function model({ api }: Permit): Promise<void> {
  await api.resources.create({ key: 'file', name: 'File', actions: { read: {} } })
  await api.roles.create({ key: 'clerk', name: 'Clerk', permissions: ['file:read'] })
}

async function mayRead(permit: Permit): Promise<boolean> {
  return permit.check('ann', 'read', { type: 'file', tenant: 'default' })
}

describe('the key of an organization', () => {
  test('creates an environment, whose key decides only there, and copies its model without facts', async () => {
    const made = await organization()
    const staging = made.as(await secretOf(made, 'staging'))
    await model(staging)
    await staging.api.users.sync({ key: 'ann' })
    await staging.api.users.assignRole({ user: 'ann', role: 'clerk', tenant: 'default' })
    const target_env = { new: { key: 'live', name: 'Live' } }
    await made.admin.api.environments.copy('shop', 'staging', { target_env })
    const live = made.as(await secretOf(made, 'live'))
    expect((await live.api.roles.get('clerk')).permissions).toEqual(['file:read'])
    expect((await live.api.users.list()).data).toEqual([])
    expect([await mayRead(staging), await mayRead(live)]).toEqual([true, false])
    const { stats } = await made.admin.api.environments.getStats('shop', 'staging')
    expect(stats).toMatchObject({ roles: 1, users: 1, policies: 1, resources: 1, tenants: 1 })
    await made.admin.api.environments.delete('shop', 'staging')
    await expect(mayRead(staging)).rejects.toThrow()
    expect(await mayRead(live)).toBe(false)
  })
})

describe('the key of a project', () => {
  test('manages the project and its environments, and cannot decide', async () => {
    const made = await organization()
    const { api } = made.as(await projectKeyOf(made))
    expect((await api.projects.list()).map(({ key }) => key)).toEqual(['shop'])
    expect((await api.projects.update('shop', { name: 'Ours' })).name).toBe('Ours')
    await api.environments.create('shop', { key: 'live', name: 'Live' })
    const live = { existing: 'live' }
    await api.environments.copy('shop', 'staging', { target_env: live, conflict_strategy: 'overwrite' })
    expect((await api.environments.list({ projectKey: 'shop' })).map(({ key }) => key)).toEqual([
      'dev',
      'production',
      'staging',
      'live',
    ])
    await api.environments.delete('shop', 'staging')
    expect(await statusOfRefusal(api.projects.get('default'))).toBe(403)
    expect(await statusOfRefusal(api.environments.get('default', 'default'))).toBe(403)
    // The client rejects the call without a request.
    await expect(api.projects.create({ key: 'other', name: 'Other' })).rejects.toThrow(PermitContextError)
    await expect(mayRead(made.as(await projectKeyOf(made)))).rejects.toThrow()
  })
})
