/**
 * What takes wide work off the thread that parsed it (`threads/pool/job-pool.ts` does). Its answers are those the engine gives, in the same
 * order.
 */
import type { ActionQuestion, KeyPage, PageRequest, ResourceQuestion, UserQuestion } from '#engine/engine.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { AuthorizedUsersJob, PermissionsJob } from './listing.ts'
import type { AllowedTenantsJob, UserTenantsJob } from './tenant-lists.ts'
import type { Sendable, SendableQuery } from './sendable-query.ts'
import type { ExplainJob, ToldDecisions } from './told-decisions.ts'
import type { TriedSamples, TryJob } from './tried-conditions.ts'

/** Who waits for an answer. */
export interface Waiting {
  /** Whether nobody does any more: the connection has ended. */
  readonly isGone: boolean
}

/** Who waits for an answer, and has sent a body for it. */
export interface Caller extends Waiting {
  /** Of the body; 0 where there is none, or it comes in pieces. */
  readonly bodyBytes: number
  /**
   * Has `listener` called when nobody waits any more: the last byte of the answer is out, or the connection has ended. At once, if
   * that is so already. Several listeners are called in order.
   */
  whenOver(listener: () => void): void
}

/** Who waits for what is given up in its midst when nobody does any more. */
export type Leaver = Pick<Caller, 'isGone' | 'whenOver'>

/** Work that is done whoever left. */
export const SOMEBODY: Waiting = Object.freeze({ isGone: false })

export type SearchJob =
  | { readonly kind: 'users'; readonly question: Sendable<UserQuestion>; readonly page: PageRequest }
  | { readonly kind: 'resources'; readonly question: Sendable<ResourceQuestion>; readonly page: PageRequest }

/** Reads that may take long and are done in slices. */
export interface SlicedJobs {
  /** Actions, ascending. */
  readonly actions: { readonly job: ActionsJob; readonly answer: string[] }
  /** A question whose conditions take long. */
  readonly decide: { readonly job: DecideJob; readonly answer: boolean }
  /** A search in which rules are asked. */
  readonly search: { readonly job: RuledSearchJob; readonly answer: KeyPage }
  readonly try: { readonly job: TryJob; readonly answer: TriedSamples }
  readonly explain: { readonly job: ExplainJob; readonly answer: ToldDecisions }
  /** JSON text in bytes. */
  readonly permissions: { readonly job: PermissionsJob; readonly answer: Uint8Array }
  readonly 'authorized-users': { readonly job: AuthorizedUsersJob; readonly answer: Uint8Array }
  readonly 'allowed-tenants': { readonly job: AllowedTenantsJob; readonly answer: Uint8Array }
  readonly 'user-tenants': { readonly job: UserTenantsJob; readonly answer: Uint8Array }
}

export interface ActionsJob {
  readonly kind: 'actions'
  readonly question: Sendable<ActionQuestion>
}

export interface DecideJob {
  readonly kind: 'decide'
  readonly question: SendableQuery
}

export interface RuledSearchJob {
  readonly kind: 'search'
  readonly search: SearchJob
}

export type SlicedKind = keyof SlicedJobs
export type SlicedJob<Kind extends SlicedKind = SlicedKind> = SlicedJobs[Kind]['job']
export type SlicedAnswer<Kind extends SlicedKind = SlicedKind> = SlicedJobs[Kind]['answer']

/**
 * All throw or reject with `OVERLOADED` when too much waits already, and when the thread that was at it died. What nobody
 * waits for any more is not begun, and what is done in slices is not gone on with; its promise is rejected with
 * `OVERLOADED`, too.
 */
export interface DecisionPool {
  /** From so many checks on a bulk is better spread over the pool. */
  readonly pooledChecksMin: number
  /** 1 or 0 for each question, as `DecisionEngine.evaluatePacked`. The bytes are not used after this returned. */
  evaluate(environmentId: string, packed: PackedQueries, waiting: Waiting): Promise<Uint8Array>
  search(environmentId: string, job: SearchJob, waiting: Waiting): Promise<KeyPage>
  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: Leaver,
  ): Promise<SlicedAnswer<Kind>>
}
