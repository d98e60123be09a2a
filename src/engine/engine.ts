/**
 * The engine's interface for other layers. An engine makes decisions for one environment, on the state after
 * the last `apply`. It is pure and synchronous: it uses no clock, no I/O, and no randomness that could affect
 * a result.
 *
 * All queries share the same decision logic: a search lists exactly what `evaluate` allows. Each call uses
 * one state; a long bulk uses several consecutive states. Calls with potentially large results take a limit,
 * so memory stays bounded.
 *
 * Calls that can take long are resumable: other queries can run whenever they pause. They still use one
 * state. If the state changes during a pause, they start again. If writes never pause, a long call ends with
 * `OVERLOADED`, as searches do. Writers never wait for such readers.
 */
import type { Change, InstanceKey, Permission } from '#model/change.ts'
import type { QueryContext, Query } from '#model/decision.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Resumable } from '#model/resumable.ts'
import type { Explanation, RuleDetail, TriedConditions } from './explanation.ts'

/** A complete engine: it applies changes and answers queries. */
export interface Engine extends ChangeSink, DecisionEngine {}

/** The write side. Only one thread may write. */
export interface ChangeSink {
  /**
   * Applies the changes of one commit, in order. Readers see all of them or none. Throws `LIMIT_EXCEEDED`
   * without any change if the capacity of the engine is not sufficient. Any other exception means that an
   * invariant is broken.
   */
  apply(changes: Iterable<Change>): void
}

/** The read side. */
export interface DecisionEngine {
  /**
   * Returns whether `query.user` can perform `query.action`. Decides as in native.md A.2 and C.2: by tenant
   * roles in the tenant of the query, then by roles on the instance: direct, through groups and derived.
   * Unknown names give `false`.
   */
  evaluate(query: Query): boolean
  /**
   * Returns whether any rule on condition sets exists. Without rules, attributes and context of a query are
   * never read, so callers need not keep them.
   */
  hasRules(): boolean
  /** Like `evaluate`, for the first of several packed queries. */
  evaluateFirst(packed: PackedQueries): boolean
  /**
   * Like `evaluate`, with at most `stepsMax` steps of conditions and at most the limit per query; of packed
   * queries, the first one is evaluated. `null` if the steps were not sufficient, or if parsing conditions
   * that are new to the thread took too long. The next call continues with them.
   */
  evaluateWithin(asked: Query | PackedQueries, stepsMax: number): boolean | null
  /**
   * Decides the first queries until their conditions have used `stepsMax` steps, and writes 1 for allow and 0
   * for deny. Returns the number of decided queries: at most 128, and 0 if the first query alone needs more
   * steps.
   */
  evaluateSome(asked: readonly Query[] | PackedQueries, stepsMax: number, verdicts: Uint8Array): number
  /**
   * Evaluates each query like `evaluate`, in order. No result is based on a state older than the call. Up to
   * 128 consecutive queries share one state; a whole long bulk on one state would block the writer for that
   * time.
   */
  evaluateAll(queries: readonly Query[]): boolean[]
  /**
   * Like `evaluateAll`, for packed queries. Fills and returns `verdicts`: 1 for allow, 0 for deny. `verdicts`
   * must have space for all queries and can be shared memory. Its content is undefined until the call
   * returns, and after an exception.
   */
  evaluatePacked(packed: PackedQueries, verdicts?: Uint8Array): Uint8Array

  /**
   * Returns the stored instances of a type on which the user can perform the action, that is, those whose
   * keys `evaluate` allows. If rules are evaluated, later results might be based on a later state than
   * earlier ones.
   */
  searchResources(question: ResourceQuestion, page: PageRequest): Resumable<KeyPage>
  /**
   * Returns the stored users who can perform the action on the instance or, without a key, on the type.
   * Consistency is as for `searchResources`.
   */
  searchUsers(question: UserQuestion, page: PageRequest): Resumable<KeyPage>
  /** Returns the declared actions that the user can perform, in ascending order of UTF-8 bytes. */
  searchActions(question: ActionQuestion): Resumable<string[]>

  /**
   * Returns the accepted tenants (`null`: all) in which the user holds a tenant role. At most `limit`, in no
   * particular order.
   */
  tenantRolesOf(
    user: string,
    accepts: TenantFilter | null,
    limit: number,
    results: ResultSink<TenantRoles>,
  ): Resumable<void>
  /**
   * The instances on which the user holds a role, direct or derived. At most `limit`, in no particular order.
   */
  instanceRolesOf(
    user: string,
    filter: InstanceFilter,
    limit: number,
    results: ResultSink<InstanceRoles>,
  ): Resumable<void>
  /**
   * Returns every grant that allows a user to perform the action, each once. At most `limit`, in no
   * particular order.
   */
  grantsOn(question: UserQuestion, limit: number, results: ResultSink<UserGrant>): Resumable<void>

  /** Returns the tenant of a stored instance; null if the instance is not stored. */
  tenantOf(type: string, key: string): string | null
  /**
   * Returns the attributes of a stored instance as JSON; null if the instance is not stored or has no
   * attributes.
   */
  attributesOf(type: string, key: string): string | null
  /** Returns the types and actions that have rules, in no particular order. O(their number). */
  ruledPermissions(): readonly Permission[]
  /**
   * Returns the check for a request with this method and URL, according to the mapping rules of the
   * environment (conditions.md 10.3). Null if no rule matches or the URL is ambiguous. The resource type or
   * action might no longer exist.
   */
  mapped(method: string, url: string): MappedRequest | null
  /** Queries about the tenants themselves. */
  readonly tenants: StoredTenants

  /**
   * Explains the decision of `evaluate` and always agrees with it. Each of its three graph searches takes at
   * most `stepsMax` steps. Results that a search has not found by then are omitted (`isCutShort`). `detail`:
   * detail for rules, `leaf` by default; with `none`, near misses are also omitted.
   */
  explain(query: Query, stepsMax: number, detail?: RuleDetail): Resumable<Explanation>
  /**
   * Evaluates conditions that must hold together, whether or not a stored set has them, with the step limit
   * of one query. Names that are not stored have no values. Each of the conditions must be valid.
   */
  tryConditions(question: TriedQuestion, conditions: readonly WrittenConditions[]): Resumable<TriedConditions>
}

/** Conditions in their JSON form. */
export type WrittenConditions = Readonly<Record<string, unknown>>

/** Like `Query`, without an action. `null`: without a user or without an instance. */
export interface TriedQuestion {
  readonly user: string | null
  readonly type: string | null
  readonly key: string | null
  readonly tenant: string
  readonly queryContext?: QueryContext
}

export interface MappedRequest {
  readonly type: string
  readonly action: string
  /** Values of the placeholders in the URL of the rule, by name. */
  readonly attributes: Readonly<Record<string, string>>
}

export interface StoredTenants {
  /**
   * Returns the keys of the stored tenants, at most `limit`, in no particular order. O(all stored entities).
   */
  keys(limit: number): Resumable<string[]>
  /** Returns the attributes of a tenant as JSON; null if it is not stored or has no attributes. */
  attributesOf(tenant: string): string | null
}

/**
 * Like `Query`, for any key. `tenant`: only instances of this tenant; `null`: each instance in its own
 * tenant.
 */
export type ResourceQuestion = Omit<Query, 'key'>

/** Like `Query`, for any user. */
export type UserQuestion = Omit<Query, 'user'>

/** Like `Query`, for any action. */
export type ActionQuestion = Omit<Query, 'action'>

export interface PageRequest {
  /** The page begins strictly after this key; `null`: at the beginning. */
  readonly after: string | null
  /** Maximum number of keys of the page. With 0, only the total is computed. */
  readonly limit: number
  /**
   * Maximum number of candidates for which rules are evaluated. When it is reached, the page ends with fewer
   * keys.
   */
  readonly triedMax: number
}

export interface KeyPage {
  /** Ascending order of UTF-8 bytes (native.md D-46), without duplicates. */
  readonly keys: string[]
  /** Whether there might be keys after the page. */
  readonly hasMore: boolean
  /** The key after which the next page begins: the last candidate. `null` if no candidate was tried. */
  readonly last: string | null
  /**
   * Total number of matches on all pages; `null` if rules were evaluated, because not all candidates were
   * tried.
   */
  readonly total: number | null
}

/** Receives the results of a listing one by one. They are valid only after the listing has completed. */
export interface ResultSink<Entry> {
  /** Discards all results so far: the listing begins, or begins again on a later state. */
  begin(): void
  /** Returns false to stop the listing early. */
  take(entry: Entry): boolean
}

/**
 * Tenants with the same roles share their `roles` and `permissions` arrays if the engine knows that they are
 * equal.
 */
export interface TenantRoles {
  readonly tenant: string
  /** Attributes as JSON. */
  readonly attributes: string | null
  /** Tenant roles assigned in the tenant, without the roles that they extend. */
  readonly roles: readonly string[]
  /** Declared actions permitted by the roles and the roles that they extend, without duplicates. */
  readonly permissions: readonly { readonly type: string; readonly action: string }[]
}

export type TenantFilter = (tenant: string) => boolean

export interface InstanceFilter {
  /** `null`: any tenant. */
  readonly tenants: ReadonlySet<string> | null
  readonly types: ReadonlySet<string> | null
  /** Returns whether to list this instance; `null`: list all instances. */
  readonly accepts: ((instance: InstanceKey) => boolean) | null
}

/**
 * Instances of one type with the same roles share their `roles` and `actions` arrays if the engine knows that
 * they are equal.
 */
export interface InstanceRoles {
  readonly instance: InstanceKey
  readonly tenant: string
  /** Attributes as JSON. */
  readonly attributes: string | null
  /** Effective roles: direct and derived, without the roles that they extend. */
  readonly roles: readonly string[]
  /** Declared actions permitted by these roles and the roles that they extend, without duplicates. */
  readonly actions: readonly string[]
}

/**
 * An assignment that allows: a tenant role, or the direct role from which the allowing role is derived
 * (native.md A.5).
 */
export interface UserGrant {
  readonly user: string
  readonly role: string
  /** Instance on which the role is held directly; `null`: the tenant of the query. */
  readonly instance: InstanceKey | null
}

/**
 * Thrown if an invariant of the index of one environment is broken, by a defect or by corrupted memory. This
 * index makes no more decisions. Other indexes share no memory with it, so neither they nor the thread that
 * detected the fault are affected.
 */
export class IndexFault extends Error {
  override readonly name = 'IndexFault'

  constructor(cause: Error) {
    super(`the index of an environment is inconsistent: ${cause.message}`, { cause })
  }
}
