/** Limits of lists in environments with rules. */
import { expect, test } from 'vitest'
import { EXPLAINED_MAX, listAuthorizedUsers } from '#decisions/lists/listing.ts'
import { listPermissionEntries } from '#decisions/lists/permission-entries.ts'
import { RULES_EXPLAINED_MAX } from '#engine/explanation.ts'
import type { Change } from '#model/change.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import {
  assignInTenant,
  conditionSet,
  instance,
  resourceType,
  ruleOf,
  tenant,
  tenantRole,
  user,
} from '#testing/engines/changes.ts'
import { ListingEngine, type SharedEngine } from '#testing/engines/shared-engine.ts'

const limits = { entriesMax: 1_000_000, bytesMax: Infinity }
const requestAttributes = {
  readAt: 0,
  attributes: { user: null, resource: null, tenant: null, context: null },
}

const put = (n: number): Change => instance(`document:d${n}`)

function permissionsOf(engine: SharedEngine, name: string): Record<string, object> {
  const query = { user: { key: name }, tenants: null, resources: null, resource_types: ['document'] }
  const job = {
    kind: 'permissions',
    query,
    limits,
    format: 'action:resource',
    page: null,
    requestAttributes,
  } as const
  return JSON.parse(Buffer.from(runAtOnce(listPermissionEntries(engine, job))).toString()) as Record<
    string,
    object
  >
}

function usersOf(engine: SharedEngine): { readonly users: object } {
  const question = { action: 'read', type: 'document', key: 'd0', tenant: null, requestAttributes }
  const job = { kind: 'authorized-users', question, areRulesAsked: true, limits } as const
  return JSON.parse(Buffer.from(runAtOnce(listAuthorizedUsers(engine, job))).toString()) as { users: object }
}

test('a permission list evaluates rules for a limited number of entries, whether roles or rules allow them', () => {
  const engine = new ListingEngine(Infinity)
  engine.apply([
    resourceType('document', 'read'),
    tenant('default'),
    user('ann'),
    tenantRole('reader', { can: ['document:read'] }),
    assignInTenant('ann', 'reader', 'default'),
    conditionSet('nobody', { 'user.nothing': { equals: 1 } }),
    ruleOf('nobody'),
  ])
  engine.apply(Array.from({ length: EXPLAINED_MAX }, (_, n) => put(n)))
  expect(permissionsOf(engine, 'ann')).toEqual({})
  engine.apply([put(EXPLAINED_MAX)])
  const message = expect.stringContaining('rules') as string
  const refused = expect.objectContaining({ code: 'LIMIT_EXCEEDED', message })
  expect(() => permissionsOf(engine, 'ann')).toThrow(refused)
})

test('a permission list contains all rules that allow up to a limit, and then reports that there are more', () => {
  const engine = new ListingEngine(Infinity)
  const rules = (from: number, to: number): Change[] =>
    Array.from({ length: to - from }, (_, n) => [
      conditionSet(`s${from + n}`, {}),
      ruleOf(`s${from + n}`),
    ]).flat()
  engine.apply([resourceType('document', 'read'), tenant('default'), put(0)])
  engine.apply([user('ann'), ...rules(0, RULES_EXPLAINED_MAX - 1)])
  const told = permissionsOf(engine, 'ann')['document:d0'] as { userset: string[]; more?: true }
  expect([told.userset.length, told.more]).toEqual([RULES_EXPLAINED_MAX - 1, undefined])
  expect(Object.values(usersOf(engine).users)[0]).toHaveLength(RULES_EXPLAINED_MAX - 1)
  engine.apply(rules(RULES_EXPLAINED_MAX - 1, RULES_EXPLAINED_MAX + 1))
  expect(permissionsOf(engine, 'ann')['document:d0']).toMatchObject({ more: true })
  expect(() => usersOf(engine)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }))
})
