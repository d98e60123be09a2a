/** The request of a plan, its result, and the job that a thread of the pool receives (filter.md). */
import type { Sendable } from '#decisions/questions/sendable-query.ts'
import type { ColumnType, NullMeaning, PlanKind } from '#filter/tree.ts'
import type { QueryContext } from '#model/decision.ts'

/** A column of an attribute, as the request declares it. */
export interface DeclaredColumn {
  readonly name: string
  readonly type: ColumnType
  readonly nulls: NullMeaning
}

/** The request of a plan, as `docs/spec/filter.md` defines it, with all defaults. */
export interface PlannedQuestion {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly tenant: string | null
  readonly hasTenantColumn: boolean
  readonly attributes: readonly DeclaredColumn[]
  /** In ascending order. */
  readonly relations: readonly string[]
  readonly tenantsAgree: boolean
  readonly idsMax: number
  readonly queryContext: QueryContext
}

export interface PlanJob {
  readonly kind: 'plan'
  readonly question: Sendable<PlannedQuestion>
}

export interface PlanAnswer {
  readonly kind: PlanKind
  /** JSON of the filter; null if the filter is constant. */
  readonly filter: Uint8Array | null
  readonly ids: number
  /** Time until which the plan can be used, in milliseconds since 1970. */
  readonly expiresAt: number | null
}
