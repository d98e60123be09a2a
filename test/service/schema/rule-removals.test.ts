/** Removal of entities with many rules (conditions, section 1.5). */
import { expect, test } from 'vitest'
import type { Draft } from '#management/drafts/draft.ts'
import { deleteAction } from '#management/schema/actions.ts'
import { deleteConditionSet } from '#management/schema/condition-sets/condition-sets.ts'
import { deleteResource } from '#management/schema/resources.ts'
import { deleteTenantRole } from '#management/schema/tenant-roles.ts'
import { isResumable, runAtOnce } from '#scheduling/resumable.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'

const SETS = 60
/** Maximum number of dependent rows that the commit of a removal deletes. */
const ROWS_WITH_REMOVAL_MAX = 24

/** `SETS` user sets with a rule on `open` each, and `SETS` resource sets with rules for two sides each. */
async function prepared(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  await environment.resource('document', ['read', 'write'])
  await environment.tenantRole('auditor')
  const set = { name: 'X', description: null, parent: null, conditions: {} }
  const numbers = Array.from({ length: SETS }, (_, index) => index)
  const conditionSets = [
    { ...set, key: 'open', type: 'resourceset', resource: null } as const,
    { ...set, key: 'everybody', type: 'userset', resource: null } as const,
    ...numbers.map(n => ({ ...set, key: `u${n}`, type: 'userset', resource: null }) as const),
    ...numbers.map(n => ({ ...set, key: `r${n}`, type: 'resourceset', resource: 'document' }) as const),
  ]
  const permission = 'document:read'
  const rules = numbers.flatMap(n => [
    { user_set: `u${n}`, permission, resource_set: 'open' },
    { user_set: '__autogen_auditor', permission, resource_set: `r${n}` },
    { user_set: 'everybody', permission, resource_set: `r${n}` },
  ])
  const schema = { resources: [], tenantRoles: [], builtInTypes: [], conditionSets, rules, proxyConfigs: [] }
  await environment.execute('importSchema', { schema, conflictStrategy: 'fail' })
  return environment
}

type Removal = (context: WriteContext) => unknown
const ofSet = (key: string) => ({ params: { condition_set_id: key } })

test.each<[what: string, remove: Removal, rulesLeft: number, setsLeft: number]>([
  ['a role', it => deleteTenantRole(it, { params: { role_id: 'auditor' } }), 2 * SETS, 2 * SETS + 2],
  ['a user set', it => deleteConditionSet(it, ofSet('everybody')), 2 * SETS, 2 * SETS + 1],
  ['a resource set', it => deleteConditionSet(it, ofSet('open')), 2 * SETS, 2 * SETS + 1],
  [
    'an action',
    it => deleteAction(it, { params: { resource_id: 'document', action_id: 'read' } }),
    0,
    2 * SETS + 2,
  ],
  ['a resource', it => deleteResource(it, { params: { resource_id: 'document' } }), 0, SETS + 2],
])('a small commit that removes %s also disables its rules', async (_, remove, rulesLeft, setsLeft) => {
  const environment = await prepared()
  let draft: Draft | null = null
  const { work, commit } = environment.attempt(context => {
    draft = context.records
    return remove(context)
  })
  if (isResumable(work)) runAtOnce(work)
  const written = [...draft!.written('rule')]
  expect(written.length).toBeLessThanOrEqual(ROWS_WITH_REMOVAL_MAX)
  expect(await commit()).toBe(true)

  // The purge has not begun, so most of the rows still exist.
  expect(environment.count('rule')).toBe(3 * SETS - written.length)
  expect(environment.standingCount('rule-put')).toBe(rulesLeft)
  expect(environment.count('condition-set')).toBe(setsLeft)
  const query = { per_page: 1, include_total_count: true }
  expect(await environment.execute('listSetRules', { query })).toMatchObject({ total_count: rulesLeft })
  const counts = await environment.execute('countEnvironment', undefined)
  expect(counts).toMatchObject({ set_rules: rulesLeft, condition_sets: setsLeft })

  // A change starts the purge again.
  await environment.execute('createUser', { body: { key: 'ann' } })
  await environment.purged()
  expect(environment.count('rule')).toBe(rulesLeft)
  expect(environment.orphanCount()).toBe(0)
})
