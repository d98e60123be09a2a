/**
 * Plans of rules that depend on stored facts: attributes of instances, of instances that a column names,
 * and roles of the user by tenant (filter.md P25, P26 and P32 to P37). Each filter is compared with checks
 * of rows that are stored, stored in another tenant, and not stored.
 */
import { expect, test } from 'vitest'
import type { AccessPlan } from '#filter/tree.ts'
import type { Change } from '#model/change.ts'
import { askRoutes } from '#testing/engines/ask-routes.ts'
import * as made from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { rowMatches } from '#testing/oracle/filters.ts'

function stored(name: string, inTenant: string, attributes: object): Change {
  return { ...made.instance(name, inTenant), attributes: attributes as never }
}

const CHIEF = { 'user.roles': { array_contains: 'chief' } }
const OPEN = { 'resource.state': { equals: 'open' } }
const NO_STATE = { 'resource.state': { exists: false } }
const OWN = { 'resource.owner': { equals: 'x' } }
const NAMED = { 'resource.owner.name': { equals: 'n' } }
const inFolder = (match: object) => ({
  'resource.folder': { object_match: { match, fk_resource_type: 'folder' } },
})

/** Conditions of the user set, and of the resource set. */
const RULES: Readonly<Record<string, readonly [user: object | string, resource: object]>> = {
  open: [{}, OPEN],
  'not-open': [{}, { not: OPEN }],
  stateless: [{}, NO_STATE],
  'stateless-or-own': [{}, { anyOf: [NO_STATE, OWN] }],
  'open-and-own': [{}, { allOf: [OPEN, OWN] }],
  own: [{}, OWN],
  'not-own': [{}, { not: OWN }],
  named: [{}, NAMED],
  'not-named': [{}, { not: NAMED }],
  'in-open-folder': [{}, inFolder({ open: { equals: true } })],
  'not-in-open-folder': [{}, { not: inFolder({ open: { equals: true } }) }],
  chief: [CHIEF, {}],
  'not-chief': [{ not: CHIEF }, {}],
  'chief-role': ['__autogen_chief', {}],
  'chief-own': ['__autogen_chief', OWN],
  'not-chief-open': [{ not: CHIEF }, OPEN],
  'in-acme': [{}, { 'tenant.key': { equals: 'acme' } }],
  'in-large': [{}, { 'tenant.size': { equals: 'large' } }],
}
const FACTS: readonly Change[] = [
  made.tenant('default'),
  { ...made.tenant('acme'), attributes: { size: 'large' } as never },
  made.resourceType('folder'),
  made.resourceType('document', ...Object.keys(RULES)),
  made.tenantRole('chief'),
  made.tenantRole('clerk'),
  made.user('ann'),
  made.assignInTenant('ann', 'chief', 'acme'),
  made.assignInTenant('ann', 'clerk', 'default'),
  stored('document:s1', 'default', { state: 'open', owner: 'x' }),
  stored('document:s2', 'default', { state: 'shut', owner: { name: 'n' } }),
  made.instance('document:s3'),
  stored('document:s4', 'default', { owner: { name: 'm' } }),
  stored('document:a1', 'acme', { state: 'open', 'owner.name': 'n' }),
  stored('document:a2', 'acme', { owner: 'x' }),
  stored('folder:f1', 'default', { open: true }),
  stored('folder:f2', 'default', { open: false }),
  stored('folder:g1', 'acme', { open: true }),
]
const SETS = Object.entries(RULES).flatMap(([action, [user, resource]]): Change[] => [
  ...(typeof user === 'string' ? [] : [made.conditionSet(`by-${action}`, user)]),
  made.conditionSet(`on-${action}`, resource, { side: 'resource', type: 'document' }),
  made.ruleOf(typeof user === 'string' ? user : `by-${action}`, `on-${action}`, { action }),
])

const KEYS = ['s1', 's2', 's3', 's4', 'a1', 'a2', 'other']
const ROWS = KEYS.flatMap(key =>
  ['default', 'acme', 'nowhere'].flatMap(tenant =>
    [null, 'x', 'y'].flatMap(owner =>
      [null, 'f1', 'f2', 'g1', 'none'].map(folder => ({ key, tenant, owner, folder })),
    ),
  ),
)

test.each(Object.keys(RULES))(
  'the filter of the rule %s selects the rows that checks allow',
  async action => {
    const engine = SharedEngine.with([...FACTS, ...SETS])
    const ask = askRoutes(() => engine, Date.UTC(2026, 10, 26))
    const met = { selected: 0, others: 0 }
    for (const tenant of [null, 'default', 'acme']) {
      for (const hasColumn of [true, false]) {
        for (const nulls of ['sent', 'missing'] as const) {
          const question = { user: { key: 'ann' }, action }
          const attributes = { owner: { type: 'string', nulls }, folder: { type: 'string' } }
          const resource = { type: 'document', tenant }
          const body = { ...question, resource, columns: { tenant: hasColumn, attributes } }
          const { kind, filter } = await ask<AccessPlan>('planAccess', JSON.stringify(body))
          const checks = ROWS.map(row => {
            const { key, owner, folder } = row
            const sent = owner === null && nulls === 'missing' ? { folder } : { folder, owner }
            const inTenant = tenant ?? (hasColumn ? row.tenant : null)
            return { ...question, resource: { type: 'document', key, tenant: inTenant, attributes: sent } }
          })
          const { allow } = await ask<{ allow: { allow: boolean }[] }>(
            'isAllowedBulk',
            JSON.stringify(checks),
          )
          const expected = ROWS.filter((row, index) => {
            const isInTenant = tenant === null || !hasColumn || row.tenant === tenant
            return allow[index]!.allow && isInTenant
          })
          const selected = ROWS.filter(({ key, tenant: home, owner, folder }) => {
            if (filter === undefined) return kind === 'always_allowed'
            const fields = { 'attributes.owner': owner, 'attributes.folder': folder }
            return rowMatches(filter, { key, ...(hasColumn && { tenant: home }), ...fields })
          })
          met.selected += selected.length
          met.others += ROWS.length - selected.length
          expect({ body, filter, rows: selected }).toEqual({ body, filter, rows: expected })
        }
      }
    }
    expect(met.selected).toBeGreaterThan(0)
    expect(met.others).toBeGreaterThan(0)
  },
)
