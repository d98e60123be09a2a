/**
 * Reads of a plan from an engine (filter.md). All reads of a reader belong to one state. If the state changes
 * between two reads, the later one throws `StateChanged`, and the plan begins again with another reader. Only
 * a scan of instances can return data of later states.
 */
import type { Condition } from '#conditions/condition.ts'
import type { Resumable } from '#scheduling/resumable.ts'

export interface FactsQuestion {
  readonly user: string
  readonly action: string
  readonly type: string
  /** Tenant of every row, or null if rows can have different tenants. */
  readonly tenant: string | null
  /** Relations that are columns. */
  readonly relations: readonly string[]
  /** Maximum number of keys in each list. */
  readonly keysMax: number
}

/** Keys of instances by the keys of their tenants. If `isWhole` is false, keys are missing. */
export interface InstanceKeys {
  readonly byTenant: ReadonlyMap<string, readonly string[]>
  readonly isWhole: boolean
}

/** These tenants, or all tenants except these. */
export interface TenantChoice {
  readonly tenants: ReadonlySet<string>
  readonly areExcluded: boolean
}

/** Instances on which the user holds a role from which a role on the row is derived. */
export interface RelationSubjects {
  readonly relation: string
  /** Whether the derivation does not apply to users with a direct role on the row. */
  readonly isGuarded: boolean
  readonly keys: InstanceKeys
}

/** Facts that decide which rows roles allow, and the values that rules read. */
export interface PlanFacts {
  readonly isTypeDeclared: boolean
  readonly isActionDeclared: boolean
  /** A relation of the question that the type does not define, or null. */
  readonly unknownRelation: string | null
  /** Whether the tenant of the question is stored. Without a tenant: whether the default tenant is stored. */
  readonly isTenantStored: boolean
  /** Tenants in which a tenant role of the user allows the action, or only that of the question. */
  readonly grantingTenants: readonly string[]
  /**
   * Instances outside of these tenants on which a role allows the action, except those that have the role
   * only through relations of the question.
   */
  readonly instances: InstanceKeys
  readonly subjects: readonly RelationSubjects[]
  /** Instances on which the user has a direct role. Empty if no derivation in `subjects` is guarded. */
  readonly direct: InstanceKeys
  /** Earliest expiration time of a fact on which the lists depend, in milliseconds since 1970. */
  readonly factsEnd: number | null
  /** Earliest expiration time of a tenant role of the user. */
  readonly rolesEnd: number | null
  /** Attributes of the user as JSON. */
  readonly userAttributes: string | null
  /** Tenant roles of the user by tenant, both in ascending order. */
  readonly userRoles: ReadonlyMap<string, readonly string[]>
}

/** A condition set with its ancestors. If `conditions` is null, the set is never true. */
export interface PlannedSet {
  readonly key: string
  readonly conditions: readonly { readonly set: string; readonly condition: Condition }[] | null
}

/** A side of a rule: everything of its kind, the users with a tenant role, or a set. */
export type PlannedSide =
  | { readonly kind: 'all'; readonly key: string }
  | { readonly kind: 'role'; readonly key: string; readonly role: string }
  | { readonly kind: 'set'; readonly key: string; readonly set: PlannedSet }

export interface PlannedSides {
  readonly user: PlannedSide
  readonly resource: PlannedSide
}

/** An instance of a scan. `attributes` are JSON; null if there are none. */
export interface ScannedInstance {
  readonly tenant: string
  readonly key: string
  readonly attributes: string | null
}

export interface PlanReader {
  facts(question: FactsQuestion): Resumable<PlanFacts>
  /** Returns the rules on the action of the question. Call it after `facts`. */
  rules(): Resumable<readonly PlannedSides[]>
  /** Returns the keys of at most `limit` stored tenants, in no particular order. */
  tenants(limit: number): Resumable<readonly string[]>
  /** Returns the attributes of a tenant as JSON, or null if it has none. */
  tenantAttributes(tenant: string): string | null
  /**
   * Returns at most `limit` keys of stored instances of a type in the tenants of the choice. Only the first
   * call reads the whole index. Later calls read the instances that they return, and for excluded tenants the
   * names of all tenants.
   */
  keys(type: string, choice: TenantChoice, limit: number): Resumable<InstanceKeys>
  /**
   * Returns the attributes of an instance as JSON, null if it has none, and undefined if it is not stored in
   * the tenant.
   */
  attributesOf(type: string, key: string, tenant: string): string | null | undefined
  /**
   * Begins a scan of the stored instances of a type, in no particular order. Returns null if there are more
   * than `limit`. From then on, reads can return data of later states.
   */
  scan(type: string, limit: number): Resumable<InstanceScan | null>
}

export interface InstanceScan {
  /** Number of instances at the start of the scan. */
  readonly count: number
  /** Returns the next instances, or null at the end. Instances that were removed since then are omitted. */
  next(): readonly ScannedInstance[] | null
}

/** Thrown if the state changed between two reads of a plan. */
export class StateChanged extends Error {
  override readonly name = 'StateChanged'
}
