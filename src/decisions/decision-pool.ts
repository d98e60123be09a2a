/**
 * Interface for running expensive work on other threads than the one that received the request.
 * `threads/pool/job-pool.ts` implements it. The results are those of the engine, in the same order.
 */
import type { ActionQuestion, KeyPage, PageRequest, ResourceQuestion, UserQuestion } from '#engine/engine.ts'
import type { CancelableClient, WaitingClient } from '#model/caller.ts'
import type { PackedQueries } from '#model/packed-queries.ts'
import type { Verdicts } from '#model/question.ts'
import type { AuthorizedUsersJob, PermissionsJob } from '#decisions/lists/listing.ts'
import type { AllowedTenantsJob, UserTenantsJob } from '#decisions/lists/tenant-lists.ts'
import type { PlanAnswer, PlanJob } from '#decisions/plan/planned-question.ts'
import type { Sendable, SendableQuery } from '#decisions/questions/sendable-query.ts'
import type { ExplainJob, ExplainedDecisions } from '#decisions/rules/explained-decisions.ts'
import type { TriedSamples, TryJob } from '#decisions/rules/tried-conditions.ts'

/** Minimum number of checks of a bulk that is sent to the pool. */
export const POOLED_CHECKS_MIN = 2_000

export type SearchJob =
  | { readonly kind: 'users'; readonly question: Sendable<UserQuestion>; readonly page: PageRequest }
  | { readonly kind: 'resources'; readonly question: Sendable<ResourceQuestion>; readonly page: PageRequest }

/** Reads that can take long and therefore run in time slices. */
export interface SlicedJobs {
  /** Search for actions. The result is in ascending order. */
  readonly actions: { readonly job: ActionsJob; readonly answer: string[] }
  /** Decision on a query whose conditions take long. */
  readonly decide: { readonly job: DecideJob; readonly answer: boolean }
  /** A search that evaluates rules. */
  readonly search: { readonly job: RuledSearchJob; readonly answer: KeyPage }
  readonly plan: { readonly job: PlanJob; readonly answer: PlanAnswer }
  readonly try: { readonly job: TryJob; readonly answer: TriedSamples }
  readonly explain: { readonly job: ExplainJob; readonly answer: ExplainedDecisions }
  /** Listings. Each result is JSON text, as bytes. */
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

/** Decides the queries of a bulk, which have their own memory. */
export type DecideWithRules = (own: PackedQueries) => Verdicts | Promise<Verdicts>

/**
 * Pool of threads for decisions. All methods throw or reject with `OVERLOADED` if the queue is full or if the
 * thread that ran the job died. If the client disconnects, a job that is still queued is not started, and a
 * sliced job is stopped. The promise of such a job also rejects with `OVERLOADED`.
 */
export interface DecisionPool {
  /** Number of checks from which a bulk is distributed over the pool. */
  readonly pooledChecksMin: number
  /**
   * Resolves to 1 or 0 for each query, like `DecisionEngine.evaluateWithoutRules`. If the environment gets
   * rules before all queries are decided, resolves to the result of `decideWithRules`. The bytes of `packed`
   * are only read before the method returns.
   */
  evaluate(
    environmentId: string,
    packed: PackedQueries,
    waiting: WaitingClient,
    decideWithRules: DecideWithRules,
  ): Promise<Verdicts>
  search(environmentId: string, job: SearchJob, waiting: WaitingClient): Promise<KeyPage>
  read<Kind extends SlicedKind>(
    environmentId: string,
    job: SlicedJob<Kind>,
    waiting: CancelableClient,
  ): Promise<SlicedAnswer<Kind>>
}
