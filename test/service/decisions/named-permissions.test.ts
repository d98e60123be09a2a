/** Cost of permission lists with named resources and tenants. */
import { expect, test } from 'vitest'
import { listPermissionEntries } from '#decisions/lists/permission-entries.ts'
import { conditionSet, resourceType, ruleOf, tenant } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const NAMES = 1_000

test('a permission list with named resources and tenants looks up each name only once, and yields', () => {
  const engine = SharedEngine.with([
    resourceType('document', 'read', 'write'),
    tenant('default'),
    conditionSet('all', {}),
    ...['read', 'write'].map(action => ruleOf('all', undefined, { action })),
  ])
  const tenantOf = engine.tenantOf.bind(engine)
  let lookups = 0
  engine.tenantOf = (type, key) => {
    lookups += 1
    return tenantOf(type, key)
  }
  const names = Array.from({ length: NAMES }, (_, n) => `n${n}`)
  const query = { user: { key: 'ann' }, tenants: names, resources: names, resource_types: ['document'] }
  const attributes = { user: null, resource: null, tenant: null, context: null }
  const list = listPermissionEntries(engine, {
    kind: 'permissions',
    query,
    limits: { entriesMax: 10, bytesMax: 100 },
    format: 'action:resource',
    page: null,
    requestAttributes: { readAt: 0, attributes },
  })
  let slices = 0
  while (!list.next().done) slices += 1
  expect(lookups).toBe(NAMES)
  expect(slices).toBeGreaterThan(2)
})
