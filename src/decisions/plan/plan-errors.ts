/** Errors of plans without an exact filter (filter.md P53 to P56). */
import type { ListSource, Problem } from '#conditions/plan/formula.ts'
import { AuthzError } from '#model/errors.ts'
import { PLAN_REASONS_MAX } from '#model/limits.ts'

export interface OversizedList {
  readonly field: string
  readonly source: ListSource
}

const REMEDIES: Readonly<Record<ListSource, string>> = {
  instance_roles: 'declare a relation column if the roles come from a relation',
  relation_subjects: 'use a search',
  other_tenants: 'set tenants_agree if stored instances are in the tenants of their rows',
  tenants: 'name the tenant, or set tenants_agree',
  stored_attributes: 'declare the attribute as a column',
  lookup: 'use a search',
  condition: 'raise max_ids',
}

/** `lists` are the lists of the filter, the longest first. */
export function tooManyIds(lists: readonly OversizedList[], idsMax: number): AuthzError {
  const remedies = new Set(lists.map(({ source }) => REMEDIES[source]))
  return new AuthzError(
    'FILTER_TOO_LARGE',
    `the lists of the filter would have more than ${idsMax} elements (max_ids): ${[...remedies].join(', or ')}`,
    {
      limit: 'plan',
      planDetail: lists
        .slice(0, PLAN_REASONS_MAX)
        .map(({ field, source }) => ({ field, source, limit: idsMax })),
    },
  )
}

export function tooManyNodes(source: 'nodes' | 'bytes' | ListSource, limit: number): AuthzError {
  const what = source === 'bytes' ? 'bytes of JSON' : 'nodes'
  return new AuthzError(
    'FILTER_TOO_LARGE',
    `the filter would have more than ${limit} ${what}: declare the attributes of the rules as columns, or use a search`,
    { limit: 'plan', planDetail: [{ source, limit }] },
  )
}

export function notExpressible(
  problems: readonly Extract<Problem, { kind: 'not-expressible' }>[],
): AuthzError {
  const [first] = problems
  const { path, operator, msg } = first!
  return new AuthzError(
    'FILTER_NOT_EXPRESSIBLE',
    `no filter expresses the rules exactly: ${operator} of ${path}: ${msg}`,
    {
      planDetail: problems
        .slice(0, PLAN_REASONS_MAX)
        .map(({ rule, set, path: at, operator: name, msg: why }) => ({
          rule,
          set,
          path: at,
          operator: name,
          msg: why,
        })),
    },
  )
}

const COSTS = {
  instances: 'stored instances would be scanned',
  tenants: 'tenants would be distinguished',
  steps: 'steps of tests would be evaluated',
} as const

export function tooCostly(source: keyof typeof COSTS, limit: number): AuthzError {
  return new AuthzError(
    'FILTER_TOO_COSTLY',
    `more than ${limit} ${COSTS[source]}: declare the attributes of the rules as columns, name the tenant, or use a search`,
    { limit: 'plan', planDetail: [{ source, limit }] },
  )
}

export function unknownRelation(type: string, relation: string): AuthzError {
  return new AuthzError(
    'UNKNOWN_RELATION',
    `columns.relations: the resource ${JSON.stringify(type)} does not define the relation ${JSON.stringify(relation)}`,
    { planDetail: [{ relation }] },
  )
}
