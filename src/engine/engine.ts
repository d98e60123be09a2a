/**
 * The interface of the engine for the other layers. An engine makes decisions for one environment, on the
 * state after the last `apply`. It is pure and synchronous: it uses no clock and no I/O, and randomness never
 * affects a result.
 *
 * All queries use the same decision logic. For example, a search lists exactly the entities that `evaluate`
 * allows. Each call uses one state, except that a long bulk uses several consecutive states. If a result can
 * be large, the call takes a limit, so that memory stays bounded.
 *
 * Calls that can take long are resumable: other queries can run whenever such a call pauses. The call still
 * uses one state: if the state changes during a pause, the call starts again. If writes never pause, a long
 * call, such as a search, ends with `OVERLOADED`. Writers never wait for such calls.
 */
import type { Change, InstanceKey, Permission } from '#model/change.ts'
import type { QueryContext, Query } from '#model/decision.ts'
import type { Question, Verdicts } from '#model/question.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { Explanation, RuleDetail, TriedConditions } from './explanation.ts'
import type { PlanReader } from './plan-reads.ts'

/** A complete engine: it applies changes and answers queries. */
export interface Engine extends ChangeSink, DecisionEngine {}

/** The write side. Only one thread may write. */
export interface ChangeSink {
  /**
   * Applies the changes of one commit, in order. Readers see all of the changes or none. If the memory of the
   * engine is not sufficient, throws `LIMIT_EXCEEDED` and changes nothing. Any other exception means that an
   * invariant is broken.
   */
  apply(changes: Iterable<Change>): void
}

/** The read side. */
export interface DecisionEngine {
  /**
   * Returns whether `query.user` may perform `query.action`. Decides as specified in native.md A.2 and C.2:
   * first by tenant roles in the tenant of the query, and then by roles on the instance, which can be direct,
   * held through groups, or derived. Unknown names give `false`.
   */
  evaluate(query: Query): boolean
  /**
   * Returns whether any rule on condition sets exists. If so, a check can take long, because its conditions
   * determine its cost.
   */
  hasRules(): boolean
  /**
   * Like `evaluate`, for the first check of a question. Uses at most `stepsMax` steps for conditions, and
   * never more than the limit per query. Returns `null` if the steps were not sufficient, or if the thread
   * needs more time to parse conditions that are new to it. The next call continues to parse them. Never
   * returns `null` if the environment has no rules.
   */
  evaluateWithin(question: Question, stepsMax: number): boolean | null
  /**
   * Decides checks from the first on, until their conditions have used `stepsMax` steps. Writes 1 for allow
   * and 0 for deny. Returns the number of decided checks: at most 128, and 0 if the first check alone needs
   * more steps.
   */
  evaluateSome(question: Question, stepsMax: number, verdicts: Verdicts): number
  /**
   * Evaluates each check like `evaluate`, in order. No result is based on a state older than the call. Up to
   * 128 consecutive checks use the same state. If a whole long bulk used one state, it would block the writer
   * for the time of the bulk. Fills and returns `verdicts`, which must have space for all checks and can be
   * shared memory. Its content is undefined until the call returns, and after an exception.
   */
  evaluateAll(question: Question, verdicts?: Verdicts): Verdicts
  /**
   * Like `evaluateAll`, for checks whose attributes were not sent to this thread, because their environment
   * had no rules. Returns false if rules have been added since then. The verdicts are then undefined, because
   * the rules would treat the attributes as missing.
   */
  evaluateWithoutRules(question: Question, verdicts: Verdicts): boolean

  /**
   * Returns the keys of the stored instances of a type for which `evaluate` allows the action. If rules are
   * evaluated, later keys can be based on a later state than earlier keys.
   */
  searchResources(question: ResourceQuestion, page: PageRequest): Resumable<KeyPage>
  /**
   * Returns the stored users who may perform the action on the instance or, if there is no key, on the type.
   * If rules are evaluated, later keys can be based on a later state than earlier keys.
   */
  searchUsers(question: UserQuestion, page: PageRequest): Resumable<KeyPage>
  /** Returns the declared actions that the user may perform, in ascending order of their UTF-8 bytes. */
  searchActions(question: ActionQuestion): Resumable<string[]>

  /**
   * Passes tenants in which the user holds a tenant role to `results`. `accepts` selects the tenants; `null`
   * accepts all. Passes at most `limit` tenants, in no particular order.
   */
  tenantRolesOf(
    user: string,
    accepts: TenantFilter | null,
    limit: number,
    results: ResultSink<TenantRoles>,
  ): Resumable<void>
  /**
   * Passes instances on which the user holds a role, direct or derived, to `results`. Passes at most `limit`
   * instances, in no particular order.
   */
  instanceRolesOf(
    user: string,
    filter: InstanceFilter,
    limit: number,
    results: ResultSink<InstanceRoles>,
  ): Resumable<void>
  /**
   * Like `tenantRolesOf` and `instanceRolesOf`, both on one state. So a commit that moves a role between an
   * instance and a tenant hides it from neither list.
   */
  rolesOf(user: string, tenants: TenantListing, instances: InstanceListing): Resumable<void>
  /**
   * Passes every grant that allows a user to perform the action to `results`, each once. Passes at most
   * `limit` grants, in no particular order.
   */
  grantsOn(question: UserQuestion, limit: number, results: ResultSink<UserGrant>): Resumable<void>

  /** Returns an object that reads what one plan needs. */
  planReader(): PlanReader

  /** Returns the tenant of an instance, or null if the instance is not stored. */
  tenantOf(type: string, key: string): string | null
  /**
   * Returns the attributes of an instance as JSON, or null if the instance is not stored or has no
   * attributes.
   */
  attributesOf(type: string, key: string): string | null
  /**
   * Returns the types and actions that have rules, in no particular order. O(number of these permissions).
   */
  ruledPermissions(): readonly Permission[]
  /**
   * Returns the check to which the mapping rules of the environment map a request with this method and URL
   * (conditions.md 10.3). Returns null if no rule matches or if the URL is ambiguous. The resource type or
   * the action might not exist any more.
   */
  mapped(method: string, url: string): MappedRequest | null
  /** Queries about the tenants themselves. */
  readonly tenants: StoredTenants

  /**
   * Explains the decision of `evaluate`, and always agrees with it. Each of its three graph searches takes at
   * most `stepsMax` steps. Results that a search has not found after this number of steps are omitted
   * (`isCutShort`). `detail` selects the detail for rules (default: `leaf`). With `none`, near misses are
   * also omitted.
   */
  explain(query: Query, stepsMax: number, detail?: RuleDetail): Resumable<Explanation>
  /**
   * Evaluates a conjunction of conditions: the result is true if all of them are true. The conditions need
   * not belong to a stored set. The step limit is that of one query. Names that are not stored have no
   * values. Each of the conditions must be valid.
   */
  tryConditions(question: TriedQuestion, conditions: readonly WrittenConditions[]): Resumable<TriedConditions>
}

/** Conditions as JSON. */
export type WrittenConditions = Readonly<Record<string, unknown>>

/** Like `Query`, but without an action. `null` means that the question has no user or no instance. */
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
  /** Values of the placeholders in the URL of the mapping rule, by the names of the placeholders. */
  readonly attributes: Readonly<Record<string, string>>
}

export interface StoredTenants {
  /** Returns the keys of at most `limit` stored tenants, in no particular order. O(all stored entities). */
  keys(limit: number): Resumable<string[]>
  /** Returns the attributes of a tenant as JSON, or null if the tenant is not stored or has no attributes. */
  attributesOf(tenant: string): string | null
}

/**
 * Like `Query`, for all keys. If `tenant` is given, only instances of this tenant are searched. If it is
 * `null`, instances of all tenants are searched, and each is checked in its own tenant.
 */
export type ResourceQuestion = Omit<Query, 'key'>

/** A `Query` for all users instead of one. */
export type UserQuestion = Omit<Query, 'user'>

/** A `Query` for all actions instead of one. */
export type ActionQuestion = Omit<Query, 'action'>

export interface PageRequest {
  /** The page begins after this key. If it is `null`, the page begins at the start. */
  readonly after: string | null
  /** Maximum number of keys in the page. If it is 0, only the total is computed. */
  readonly limit: number
  /**
   * Maximum number of candidates for which rules are evaluated. If it is reached, the page ends although it
   * has fewer than `limit` keys.
   */
  readonly triedMax: number
}

export interface KeyPage {
  /** Keys in ascending order of their UTF-8 bytes (native.md D-46), without duplicates. */
  readonly keys: string[]
  /** Whether further keys might follow the page. */
  readonly hasMore: boolean
  /** The last candidate, after which the next page begins. `null` if no candidate was tried. */
  readonly last: string | null
  /**
   * Number of keys on all pages together. `null` if rules were evaluated, because not all candidates were
   * tried.
   */
  readonly total: number | null
}

/** Receives the results of a listing one by one. The results are valid only after the listing is complete. */
export interface ResultSink<Entry> {
  /**
   * Discards all results received so far. Called when the listing begins, and each time it begins again on a
   * later state.
   */
  begin(): void
  /** Receives a result. Returns false to end the listing early. */
  take(entry: Entry): boolean
}

/**
 * Roles and permissions of the user in one tenant. If the engine knows that the user has equal roles in
 * several tenants, their objects share the `roles` and `permissions` arrays.
 */
export interface TenantRoles {
  readonly tenant: string
  /** Attributes as JSON. */
  readonly attributes: string | null
  /** Tenant roles that the user holds in the tenant, without the roles that these extend. */
  readonly roles: readonly string[]
  /** Declared actions, without duplicates, that these roles or the roles that they extend permit. */
  readonly permissions: readonly { readonly type: string; readonly action: string }[]
}

export interface TenantListing {
  readonly accepts: TenantFilter | null
  readonly limit: number
  readonly results: ResultSink<TenantRoles>
}

export interface InstanceListing {
  readonly filter: InstanceFilter
  readonly limit: number
  readonly results: ResultSink<InstanceRoles>
}

export type TenantFilter = (tenant: string) => boolean

export interface InstanceFilter {
  /** Tenants of the instances to list; `null` lists instances of any tenant. */
  readonly tenants: ReadonlySet<string> | null
  readonly types: ReadonlySet<string> | null
  /** Returns whether to list this instance. If it is `null`, all instances are listed. */
  readonly accepts: ((instance: InstanceKey) => boolean) | null
}

/**
 * Roles and actions of the user on one instance. If the engine knows that the user has equal roles on several
 * instances of one type, their objects share the `roles` and `actions` arrays.
 */
export interface InstanceRoles {
  readonly instance: InstanceKey
  readonly tenant: string
  /** Attributes as JSON. */
  readonly attributes: string | null
  /** Roles that the user holds on the instance, direct or derived, without the roles that these extend. */
  readonly roles: readonly string[]
  /** Declared actions, without duplicates, that these roles or the roles that they extend permit. */
  readonly actions: readonly string[]
}

/**
 * An assignment because of which a user may perform the action. It is an assignment of a tenant role, or of
 * the direct role from which the sufficient role is derived (native.md A.5).
 */
export interface UserGrant {
  readonly user: string
  readonly role: string
  /**
   * Instance on which the user directly holds the role. `null` means that it is a tenant role in the tenant
   * of the query.
   */
  readonly instance: InstanceKey | null
}

/**
 * Thrown if an invariant of the index of one environment is broken, by a defect or by corrupted memory. This
 * index makes no more decisions. Other indexes share no memory with it, so they are not affected. The thread
 * that detected the fault also continues.
 */
export class IndexFault extends Error {
  override readonly name = 'IndexFault'

  constructor(cause: Error) {
    super(`the index of an environment is inconsistent: ${cause.message}`, { cause })
  }
}
