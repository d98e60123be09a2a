/** Numbers of entities in an environment (native.md B.13). */
import type { ReadContext } from '#management/drafts/context.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { lists } from '#store/keyspace/keyspace.ts'

export interface EnvironmentCounts {
  readonly roles: number
  readonly users: number
  /** Permissions that roles have. */
  readonly policies: number
  readonly resources: number
  readonly tenants: number
  readonly condition_sets: number
  readonly set_rules: number
  readonly proxy_configs: number
}

/**
 * O(roles), because only the row of a role contains its permissions. The other numbers are counters. Rows
 * other than those of rules are never dead, so the counters are exact.
 */
export function* countEnvironment({ records }: ReadContext): Resumable<EnvironmentCounts> {
  let policies = 0
  let rows = 0
  for (const role of records.list('role', lists.all('role'))) {
    policies += role.permissions.length
    if (++rows % YIELD_ROWS === 0) yield
  }
  const rules = yield* records.liveCount('rule', lists.all('rule'))
  return {
    roles: records.count(lists.all('role')),
    users: records.count(lists.all('user')),
    policies,
    resources: records.count(lists.all('type')),
    tenants: records.count(lists.all('tenant')),
    condition_sets: records.count(lists.all('condition-set')),
    set_rules: rules,
    proxy_configs: records.count(lists.all('proxy-config')),
  }
}

export const reads = { countEnvironment }
