/**
 * The engine's façade: what other layers know of it. One engine answers for one environment, at the state left
 * by the last `apply`. It is pure and synchronous: no clock, no I/O, and no randomness that an answer could
 * depend on.
 *
 * Every question is the same decision seen from another side: a search lists exactly what `evaluate` allows.
 * Each call answers for one state; a long bulk answers for one state after the other. Calls that may find much
 * take a limit, so memory stays bounded.
 *
 * Calls that may take long are resumable: other questions may be asked whenever they pause. They still answer
 * for one state. If the state changed meanwhile, they begin again. Under writes without a pause a long one ends
 * in `OVERLOADED`, as searches do. Writers never wait for readers of this kind.
 */
import type { Change, InstanceKey, Permission } from '#model/change.ts'
import type { Circumstances, Query } from '#model/decision.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Resumable } from '#model/resumable.ts'
import type { Explanation, RuleDetail, TriedConditions } from './explanation.ts'

/** A whole engine: it takes changes and answers questions. */
export interface Engine extends ChangeSink, DecisionEngine {}

/** The write side. Only one thread may write. */
export interface ChangeSink {
  /**
   * Applies the changes of one commit, in order. Readers see all of them or none. Throws `LIMIT_EXCEEDED`, with
   * nothing changed, if the engine has no room for them. It throws otherwise only on a broken invariant.
   */
  apply(changes: Iterable<Change>): void
}

/** The read side. */
export interface DecisionEngine {
  /**
   * May `query.user` do `query.action` there? Decides by native.md A.2 and C.2: tenant roles in the
   * question's tenant, then roles on the instance, direct, through groups and derived. Unknown names are a
   * plain `false`.
   */
  evaluate(query: Query): boolean
  /**
   * Whether there is a rule on condition sets. Where there is none, nobody looks at what a question says beside its keys and
   * terms, so that callers need not keep it.
   */
  hasRules(): boolean
  /** As `evaluate`, for the first question of a packed list. */
  evaluateFirst(packed: PackedQueries): boolean
  /**
   * As `evaluate`, also of the first question of a packed list, with at most so many steps of conditions, or as many as a question may take. `null`:
   * they were not enough, or conditions that the thread has not read before took too long to read all of them. The next call continues
   * with these.
   */
  evaluateWithin(asked: Query | PackedQueries, stepsMax: number): boolean | null
  /**
   * Decides the first questions, until their conditions have taken so many steps, and writes 1 for allow and 0 for deny. Returns how many
   * were decided: at most 128, and 0 where the first one alone takes more.
   */
  evaluateSome(asked: readonly Query[] | PackedQueries, stepsMax: number, verdicts: Uint8Array): number
  /**
   * Answers each query as `evaluate` does, in order. No answer is older than the call. Up to 128 neighbours
   * share one state; if a whole long bulk did, it would stop the writer for as long.
   */
  evaluateAll(queries: readonly Query[]): boolean[]
  /**
   * As `evaluateAll`, for packed questions. It fills and returns `verdicts`: 1 for allow, 0 for deny.
   * `verdicts` has room for all of them and may be shared memory. Its content is undefined until the call
   * returns, and after a throw.
   */
  evaluatePacked(packed: PackedQueries, verdicts?: Uint8Array): Uint8Array

  /**
   * The stored instances of a type on which the user may do the action: those that `evaluate` allows when the key of one is filled in.
   * Where rules are asked, those found last may be of a later state than those found first.
   */
  searchResources(question: ResourceQuestion, page: PageRequest): Resumable<KeyPage>
  /** The stored users who may do the action on the instance, or, without a key, on the type. As `searchResources`. */
  searchUsers(question: UserQuestion, page: PageRequest): Resumable<KeyPage>
  /** The declared actions the user may do there, ascending by UTF-8 bytes. */
  searchActions(question: ActionQuestion): Resumable<string[]>

  /**
   * The accepted tenants (`null`: all) in which the user holds a tenant role. At most `limit`, in no particular
   * order.
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
   * Every way in which any user may do the action there, each once. At most `limit`, in no particular order.
   */
  grantsOn(question: UserQuestion, limit: number, results: ResultSink<UserGrant>): Resumable<void>

  /** The tenant of a stored instance; null if the instance is not stored. */
  tenantOf(type: string, key: string): string | null
  /** The attributes of a stored instance, as JSON; null if there are none, or no such instance. */
  attributesOf(type: string, key: string): string | null
  /** The types and actions that rules are on, in no particular order. O(their number). */
  ruledPermissions(): readonly Permission[]
  /**
   * The check for a request with this method and URL, by the mapping rules of the environment
   * (conditions.md 10.3). Null if no rule fits or the URL is ambiguous. The resource or action may no longer exist.
   */
  mapped(method: string, url: string): MappedRequest | null
  /** What is asked about tenants themselves. */
  readonly tenants: StoredTenants

  /**
   * Explains the answer of `evaluate` and always agrees with it. Each of its three walks over the graph makes
   * at most `stepsMax` steps. What a walk has not found by then is left out (`isCutShort`). `detail`: of rules, `leaf` by default;
   * with `none`, near misses are not looked for either.
   */
  explain(query: Query, stepsMax: number, detail?: RuleDetail): Resumable<Explanation>
  /**
   * Evaluates conditions that hold together, whether or not a set has them, with the steps of one question. Nothing is known of names
   * that are not stored. Each of the conditions can be read.
   */
  tryConditions(question: TriedQuestion, conditions: readonly WrittenConditions[]): Resumable<TriedConditions>
}

/** Conditions as they are written. */
export type WrittenConditions = Readonly<Record<string, unknown>>

/** As `Query`, about no action. `null`: it is about no user, or about no instance. */
export interface TriedQuestion {
  readonly user: string | null
  readonly type: string | null
  readonly key: string | null
  readonly tenant: string
  readonly circumstances?: Circumstances
}

export interface MappedRequest {
  readonly type: string
  readonly action: string
  /** What the placeholders of the rule's URL stand for, by name. */
  readonly attributes: Readonly<Record<string, string>>
}

export interface StoredTenants {
  /** The keys of the stored tenants, at most `limit`, in no particular order. O(everything stored). */
  keys(limit: number): Resumable<string[]>
  /** The attributes of a tenant as JSON; null where it has none, or is not stored. */
  attributesOf(tenant: string): string | null
}

/** As `Query`, with the key left open. `tenant`: only instances of it; `null`: each counts in its own. */
export type ResourceQuestion = Omit<Query, 'key'>

/** As `Query`, with the user left open. */
export type UserQuestion = Omit<Query, 'user'>

/** As `Query`, with the action left open. */
export type ActionQuestion = Omit<Query, 'action'>

export interface PageRequest {
  /** Continue strictly after this key; `null` from the beginning. */
  readonly after: string | null
  /** The most keys of the page. 0 asks for the total alone. */
  readonly limit: number
  /** Where rules have to be asked about one candidate after the other: so many, and the page ends with fewer keys. */
  readonly triedMax: number
}

export interface KeyPage {
  /** Ascending by UTF-8 bytes (native.md D-46), without duplicates. */
  readonly keys: string[]
  /** Whether there may be keys behind the page. */
  readonly hasMore: boolean
  /** The key after which to go on: that of the last candidate. `null`: none was tried. */
  readonly last: string | null
  /** Number of all matches, whatever the page; `null` where rules were asked: nobody has tried them all. */
  readonly total: number | null
}

/** Receives the results of a listing one by one. They count only once the listing has ended. */
export interface ResultSink<Entry> {
  /** Drops all results so far: the listing begins, or begins again at a later state. */
  begin(): void
  /** Returns false to end the listing early. */
  take(entry: Entry): boolean
}

/** Tenants with the same roles share their `roles` and `permissions` arrays, where the engine knows it. */
export interface TenantRoles {
  readonly tenant: string
  /** As JSON. */
  readonly attributes: string | null
  /** The tenant roles assigned there, without those they extend. */
  readonly roles: readonly string[]
  /** What the roles and those they extend permit on declared actions, without duplicates. */
  readonly permissions: readonly { readonly type: string; readonly action: string }[]
}

export type TenantFilter = (tenant: string) => boolean

export interface InstanceFilter {
  /** `null`: any. */
  readonly tenants: ReadonlySet<string> | null
  readonly types: ReadonlySet<string> | null
  /** Whether the instance itself is wanted; `null`: all are. */
  readonly accepts: ((instance: InstanceKey) => boolean) | null
}

/**
 * Instances of one type with the same roles share their `roles` and `actions` arrays, where the engine knows
 * it.
 */
export interface InstanceRoles {
  readonly instance: InstanceKey
  readonly tenant: string
  /** As JSON. */
  readonly attributes: string | null
  /** Effective roles: direct and derived, without those they extend. */
  readonly roles: readonly string[]
  /** The declared actions that those roles, with what they extend, permit; without duplicates. */
  readonly actions: readonly string[]
}

/**
 * One assignment that allows: a tenant role, or the direct role at the root of a derivation (native.md A.5).
 */
export interface UserGrant {
  readonly user: string
  readonly role: string
  /** Where the role is held directly; `null`: in the tenant of the question. */
  readonly instance: InstanceKey | null
}

/**
 * An invariant is broken in the index of one environment, by a defect or by corrupted memory. The index decides
 * nothing more. Other indexes share no memory with it and are not affected, nor is the thread that found the
 * fault.
 */
export class IndexFault extends Error {
  override readonly name = 'IndexFault'

  constructor(cause: Error) {
    super(`the index of an environment cannot be right: ${cause.message}`, { cause })
  }
}
