/**
 * The engine's façade: what other layers know of it. One engine answers for one environment, at the state left by
 * the last `apply`. Pure and synchronous: no clock, no I/O, no randomness that an answer could depend on.
 *
 * Every question is the same decision seen from another side: what a search lists is exactly what `evaluate` allows.
 * Each call answers for one state (long bulks for one after the other); calls that may find much take a limit, so that
 * memory stays bounded. What may take long is resumable: other questions may be asked whenever it has stopped. It still answers
 * for one state: where that has changed meanwhile it begins again, and under writes that never pause it ends in `OVERLOADED`, as
 * searches do, unless it is short. Nobody who writes waits for it.
 */
import type { Change, InstanceKey } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Resumable } from '#model/resumable.ts'
import type { Explanation } from './explanation.ts'

/** An engine whole: what hears the changes and answers the questions. */
export interface Engine extends ChangeSink, DecisionEngine {}

/** The side that is told. One thread writes. */
export interface ChangeSink {
  /**
   * Applies the changes of one commit, in order; whoever asks sees all of them or none.
   * Throws `LIMIT_EXCEEDED`, with nothing changed, for what the engine has no room for; else only on a broken invariant.
   */
  apply(changes: Iterable<Change>): void
}

/** The side that is asked. */
export interface DecisionEngine {
  /**
   * May `query.user` do `query.action` there? Decides by contract A.2 and C.2: tenant roles in the question's
   * tenant, then roles on the instance, direct, through groups and derived. Unknown names are a plain `false`.
   */
  evaluate(query: Query): boolean
  /** The same for the first of questions that still are bytes. */
  evaluateFirst(packed: PackedQueries): boolean
  /**
   * Each query answered as by `evaluate`, in order: no answer is older than the call, and up to 128 neighbours belong to
   * one state. A state shared by all of a long bulk would stop whoever writes meanwhile.
   */
  evaluateAll(queries: readonly Query[]): boolean[]
  /**
   * The same for questions that still are bytes: 1 or 0 for each, in `verdicts`, which it returns. They have room for
   * all, and may be shared; until it has returned, and where it throws, they mean nothing.
   */
  evaluatePacked(packed: PackedQueries, verdicts?: Uint8Array): Uint8Array

  /** The stored instances of a type on which the user may do the action. */
  searchResources(question: ResourceQuestion, page: PageRequest): KeyPage
  /** The users who may do the action on the instance, or, without a key, on the type. */
  searchUsers(question: UserQuestion, page: PageRequest): KeyPage
  /** The declared actions the user may do there, ascending by UTF-8 bytes. */
  searchActions(question: ActionQuestion): Resumable<string[]>

  /** The accepted tenants (`null`: any) in which the user holds a tenant role, at most `limit`, in no particular order. */
  tenantRolesOf(
    user: string,
    accepts: TenantFilter | null,
    limit: number,
    results: ResultSink<TenantRoles>,
  ): Resumable<void>
  /** The instances on which the user holds a role, direct or derived, at most `limit`, in no particular order. */
  instanceRolesOf(
    user: string,
    filter: InstanceFilter,
    limit: number,
    results: ResultSink<InstanceRoles>,
  ): Resumable<void>
  /** Every way in which any user may do the action there, at most `limit`, in no particular order, each once. */
  grantsOn(question: UserQuestion, limit: number, results: ResultSink<UserGrant>): Resumable<void>

  /** The tenant a stored instance lives in; `null` when nobody has stored it. */
  tenantOf(type: string, key: string): string | null

  /**
   * Why `evaluate` answers as it does; agrees with it always. Each of its three walks over the graph makes so many steps at
   * most, and what is not found by then is left out (`isCutShort`).
   */
  explain(query: Query, stepsMax: number): Resumable<Explanation>
}

export interface ResourceQuestion {
  readonly user: string
  readonly action: string
  readonly type: string
  /** Only instances of this tenant; `null`: each counts in its own. */
  readonly tenant: string | null
}

/** As `Query`, with the user left open. */
export type UserQuestion = Omit<Query, 'user'>

/** As `Query`, with the action left open. */
export type ActionQuestion = Omit<Query, 'action'>

export interface PageRequest {
  /** Continue strictly after this key; `null` from the beginning. */
  readonly after: string | null
  /** At most so many keys. 0 asks for the total alone. */
  readonly limit: number
}

export interface KeyPage {
  /** Ascending by UTF-8 bytes (contract D-46), without duplicates. */
  readonly keys: string[]
  /** Whether there are keys beyond the last one. */
  readonly hasMore: boolean
  /** Number of all matches, whatever the page. */
  readonly total: number
}

/** Takes what a listing finds, as it is found. What it has counts when the listing is over. */
export interface ResultSink<Entry> {
  /** Forgets what it has: the listing begins, maybe anew at a later state. */
  begin(): void
  /** False: it wants no more, and the listing is over. */
  take(entry: Entry): boolean
}

/** `roles` and `permissions` are shared by tenants with the same roles, as far as the engine knows. */
export interface TenantRoles {
  readonly tenant: string
  /** As JSON. */
  readonly attributes: string | null
  /** The tenant roles assigned there, as they are: without those they extend. */
  readonly roles: readonly string[]
  /** What the roles permit, with what they extend, on declared actions; without duplicates. */
  readonly permissions: readonly { readonly type: string; readonly action: string }[]
}

export type TenantFilter = (tenant: string) => boolean

export interface InstanceFilter {
  /** `null`: any. */
  readonly tenants: ReadonlySet<string> | null
  readonly types: ReadonlySet<string> | null
  /** Of the instance itself; `null`: any. */
  readonly accepts: ((instance: InstanceKey) => boolean) | null
}

/** `roles` and `actions` are shared by instances of the same type with the same roles, as far as the engine knows. */
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

/** One assignment that allows: a tenant role, or the direct role at the root of a derivation (contract A.5). */
export interface UserGrant {
  readonly user: string
  readonly role: string
  /** Where the role is held directly; `null`: in the tenant of the question. */
  readonly instance: InstanceKey | null
}

/**
 * An invariant is broken in the index of one environment, be it by a defect or by what somebody wrote. Nobody decides on that index
 * any more. It says nothing of other indexes, with which it shares no memory, nor of the thread that met it.
 */
export class IndexFault extends Error {
  override readonly name = 'IndexFault'

  constructor(cause: Error) {
    super(`the index of an environment cannot be right: ${cause.message}`, { cause })
  }
}
