/**
 * Tenants of the rows of a plan (filter.md P25 and P26). The tenant of a row is fixed by the request, is a
 * column, or is the tenant of the stored instance with the key of the row.
 */
import {
  and,
  among,
  amongKeys,
  Column,
  type Formula,
  type ListSource,
  notAmongKeys,
  Obstacle,
  or,
} from '#conditions/plan/formula.ts'
import { KEY_COLUMN } from '#conditions/plan/plan-values.ts'
import type { InstanceKeys, PlanReader } from '#engine/plan-reads.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { PLAN_TENANTS_MAX } from '#model/limits.ts'
import { tooCostly } from './plan-errors.ts'
import type { PlannedQuestion } from './planned-question.ts'

export const TENANT_COLUMN = new Column('tenant', 'string', false)

/** Returns a test that the column has one of these keys. An incomplete list is an obstacle. */
export function inKeys(
  column: Column,
  source: ListSource,
  { isWhole }: Pick<InstanceKeys, 'isWhole'>,
  keys: readonly string[],
): Formula {
  return isWhole
    ? amongKeys(column, keys, source)
    : new Obstacle({ kind: 'too-large', field: column.field, source })
}

export class RowSpace {
  readonly #question: PlannedQuestion
  readonly #reader: PlanReader
  /** Whether the tenant of a row can be determined without stored instances. */
  readonly #isAgreed: boolean
  readonly #isDefaultStored: boolean
  #stored: readonly string[] | null = null

  constructor(question: PlannedQuestion, reader: PlanReader, isDefaultStored: boolean) {
    this.#question = question
    this.#reader = reader
    this.#isAgreed = question.tenantsAgree
    this.#isDefaultStored = isDefaultStored
  }

  /** Whether conditions on keys of instances need no test of the tenant. */
  get isTenantImplied(): boolean {
    const { tenant, hasTenantColumn, tenantsAgree } = this.#question
    return tenant !== null || !hasTenantColumn || tenantsAgree
  }

  /** Whether rows of all tenants can be combined: instances are in the tenants of the rows that name them. */
  get isJoint(): boolean {
    return this.#question.tenant !== null || this.#isAgreed
  }

  /** Returns all tenants in which rules can allow, in ascending order. */
  *tenants(): Resumable<readonly string[]> {
    const { tenant } = this.#question
    if (tenant !== null) return [tenant]
    if (this.#stored === null) {
      const stored = yield* this.#reader.tenants(PLAN_TENANTS_MAX + 1)
      if (stored.length > PLAN_TENANTS_MAX) throw tooCostly('tenants', PLAN_TENANTS_MAX)
      this.#stored = stored.toSorted(compareUtf8)
    }
    return this.#stored
  }

  /**
   * Returns a formula for the rows whose tenant is one of these. With `isAll`, these are all stored tenants;
   * the list is then read only if it is needed.
   */
  *rows(tenants: Iterable<string>, isAll = false): Resumable<Formula> {
    const { tenant, hasTenantColumn, tenantsAgree, type, idsMax } = this.#question
    const named = new Set(tenants)
    if (!isAll && named.size === 0) return false
    if (tenant !== null) return true
    if (isAll && tenantsAgree) return true
    if (isAll && !hasTenantColumn && this.#isDefaultStored) return true
    const wanted = isAll ? new Set(yield* this.tenants()) : named
    if (wanted.size === 0) return false
    if (hasTenantColumn) return among(TENANT_COLUMN, wanted, 'tenants')
    const hasDefault = wanted.has(DEFAULT_TENANT)
    const keys = yield* this.#reader.keys(type, { tenants: wanted, areExcluded: hasDefault }, idsMax + 1)
    if (!hasDefault) return inKeys(KEY_COLUMN, 'tenants', keys, allOf(keys))
    return keys.isWhole
      ? notAmongKeys(KEY_COLUMN, allOf(keys), 'other_tenants')
      : new Obstacle({ kind: 'too-large', field: 'key', source: 'other_tenants' })
  }

  /** Returns a formula for the rows of a tenant, for keys of instances that are in it. */
  rowsOfInstancesIn(tenant: string): Formula {
    return this.isTenantImplied || among(TENANT_COLUMN, [tenant])
  }

  /**
   * Restricts a formula to rows without a tenant mismatch. `tenants` are those in which the formula can be
   * true; null stands for all.
   */
  *withoutMismatch(formula: Formula, tenants: ReadonlySet<string> | null): Resumable<Formula> {
    const { tenant, hasTenantColumn, type, idsMax } = this.#question
    if (formula === false || this.#isAgreed || (tenant === null && !hasTenantColumn)) return formula
    const only = tenant ?? (tenants?.size === 1 ? [...tenants][0]! : null)
    const others = { tenants: new Set(only === null ? [] : [only]), areExcluded: true }
    const keys = yield* this.#reader.keys(type, others, idsMax + 1)
    if (!keys.isWhole) {
      return and([formula, new Obstacle({ kind: 'too-large', field: 'key', source: 'other_tenants' })])
    }
    const unstored = notAmongKeys(KEY_COLUMN, allOf(keys), 'other_tenants')
    if (only !== null) return and([formula, unstored])
    const stored = [...keys.byTenant]
      .filter(([home]) => tenants === null || tenants.has(home))
      .map(([home, ofTenant]) =>
        and([among(TENANT_COLUMN, [home]), amongKeys(KEY_COLUMN, ofTenant, 'other_tenants')]),
      )
    return and([formula, or([unstored, ...stored])])
  }

  /** Restricts the whole filter to the tenant of the request if there is also a tenant column. */
  within(formula: Formula): Formula {
    const { tenant, hasTenantColumn } = this.#question
    return tenant !== null && hasTenantColumn ? and([among(TENANT_COLUMN, [tenant]), formula]) : formula
  }
}

export function allOf({ byTenant }: InstanceKeys): string[] {
  return [...byTenant.values()].flat()
}
