/**
 * Interface for moving expensive work off the thread that parsed it; `threads/pool/job-pool.ts` implements
 * it. Results are the same as those of the engine, in the same order.
 */
import type { ActionQuestion, KeyPage, PageRequest, ResourceQuestion, UserQuestion } from '#engine/engine.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { AuthorizedUsersJob, PermissionsJob } from './listing.ts'
import type { AllowedTenantsJob, UserTenantsJob } from './tenant-lists.ts'
import type { Sendable, SendableQuery } from './sendable-query.ts'
import type { ExplainJob, ExplainedDecisions } from './explained-decisions.ts'
import type { TriedSamples, TryJob } from './tried-conditions.ts'

/** A client that waits for a response. */
export interface WaitingClient {
  /** True if the connection is closed, so that no client waits for the response. */
  readonly isGone: boolean
}

/** A client that waits for a response and has sent a body. */
export interface RequestClient extends WaitingClient {
  /** Size of the body. 0 if the request has no body or the body arrives in chunks. */
  readonly bodyBytes: number
  /**
   * Calls `listener` when the request is over: the last byte of the response has been sent, or the connection
   * is closed. Calls it immediately if that has already happened. Several listeners are called in order.
   */
  whenOver(listener: () => void): void
}

/** A client whose work is canceled, even while it runs, if the client disconnects. */
export type CancelableClient = Pick<RequestClient, 'isGone' | 'whenOver'>

/** For work that is completed even if the client disconnects. */
export const SOMEBODY: WaitingClient = Object.freeze({ isGone: false })

export type SearchJob =
  | { readonly kind: 'users'; readonly question: Sendable<UserQuestion>; readonly page: PageRequest }
  | { readonly kind: 'resources'; readonly question: Sendable<ResourceQuestion>; readonly page: PageRequest }

/** Potentially long reads that run in time slices. */
export interface SlicedJobs {
  /** Actions in ascending order. */
  readonly actions: { readonly job: ActionsJob; readonly answer: string[] }
  /** A query whose conditions take long to evaluate. */
  readonly decide: { readonly job: DecideJob; readonly answer: boolean }
  /** A search that evaluates rules. */
  readonly search: { readonly job: RuledSearchJob; readonly answer: KeyPage }
  readonly try: { readonly job: TryJob; readonly answer: TriedSamples }
  readonly explain: { readonly job: ExplainJob; readonly answer: ExplainedDecisions }
  /** Result is JSON text as bytes. */
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
 * All methods throw or reject with `OVERLOADED` if the queue is full or if the thread that processed the job
 * died. If the client disconnects, a queued job is not started and a sliced job is stopped; its promise is
 * also rejected with `OVERLOADED`.
 */
export interface DecisionPool {
  /** Minimum number of checks for which a bulk is spread over the pool. */
  readonly pooledChecksMin: number
  /**
   * Resolves to 1 or 0 per query, like `DecisionEngine.evaluatePacked`. The bytes are not used after the
   * method has returned.
   */
  evaluate(environmentId: string, packed: PackedQueries, waiting: WaitingClient): Promise<Uint8Array>
  search(environmentId: string, job: SearchJob, waiting: WaitingClient): Promise<KeyPage>
  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: CancelableClient,
  ): Promise<SlicedAnswer<Kind>>
}
