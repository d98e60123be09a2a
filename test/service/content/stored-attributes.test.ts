/** Stored attributes and mapping rules are in force after a creation, a change and a reload. */
import { expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import { ruleOf, conditionSet } from '#testing/engines/changes.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'

const CONDITIONS = {
  'user.level': { equals: 3 },
  'user.email': { equals: 'ann@example.org' },
  'user.first_name': { equals: 'Ann' },
  'resource.public': { equals: true },
  'tenant.plan': { equals: 'gold' },
}
const rules: Change[] = [conditionSet('all', CONDITIONS), ruleOf('all')]
const QUESTION = { user: 'ann', action: 'read', type: 'document', key: 'plan', tenant: null }

test('decisions use stored attributes, and fields of a user take precedence over attributes of the same name', async () => {
  const environment = await RunningEnvironment.open()
  const decidesEverywhere = (): boolean[] =>
    [environment.freshEngine(), environment.oracle()].map(engine => {
      engine.apply(rules)
      return engine.evaluate(QUESTION)
    })
  await environment.resource('document', ['read'])
  await environment.tenantRole('member')
  await environment.execute('updateTenant', {
    params: { tenant_id: 'default' },
    body: { attributes: { plan: 'gold' } },
  })
  await environment.execute('createResourceInstance', {
    body: { resource: 'document', key: 'plan', tenant: 'default', attributes: { public: true } },
  })
  await environment.users('bare')
  await environment.execute('createUser', {
    body: {
      key: 'ann',
      email: 'ann@example.org',
      attributes: { level: 3, email: 'other', first_name: 'Ann' },
    },
  })
  // The attributes of a tenant are not available without a role of the user in this tenant.
  expect(decidesEverywhere()).toEqual([false, false])
  await environment.execute('createRoleAssignment', {
    body: { user: 'ann', role: 'member', tenant: 'default' },
  })
  expect(decidesEverywhere()).toEqual([true, true])

  environment.apply(rules)
  expect(environment.decide(QUESTION)).toBe(true)
  await environment.execute('updateUser', { params: { user_id: 'ann' }, body: { attributes: { level: 3 } } })
  expect(environment.decide(QUESTION)).toBe(false)
  await environment.execute('updateUser', { params: { user_id: 'ann' }, body: { first_name: 'Ann' } })
  expect(environment.decide(QUESTION)).toBe(true)
  expect(decidesEverywhere()).toEqual([true, true])
  await environment.execute('updateUser', { params: { user_id: 'ann' }, body: { email: null } })
  expect(environment.decide(QUESTION)).toBe(false)
  expect(decidesEverywhere()).toEqual([false, false])
})

test('an engine that is loaded from the store knows the current mapping rules', async () => {
  const environment = await RunningEnvironment.open()
  await environment.resource('page', ['get'])
  const to = (...paths: readonly string[]) =>
    paths.map(path => ({ url: `https://a.org/${path}`, http_method: 'get' as const, resource: 'page' }))
  for (const key of ['a', 'b']) {
    const body = { key, name: 'X', secret: 'x', mapping_rules: key === 'a' ? to('0') : [] }
    await environment.execute('createProxyConfig', { body })
  }
  const changed = { params: { proxy_config_id: 'b' }, body: { mapping_rules: to('0-b', '1-b') } }
  await environment.execute('updateProxyConfig', changed)
  const known = (path: string) => environment.freshEngine().mapped('get', `https://a.org/${path}`)?.type
  expect([known('0'), known('1'), known('1-b')]).toEqual(['page', undefined, 'page'])
  await environment.execute('deleteProxyConfig', { params: { proxy_config_id: 'a' } })
  expect([known('0'), known('1-b')]).toEqual([undefined, 'page'])
})
