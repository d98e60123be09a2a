/**
 * Messages between an HTTP thread and the thread that parses its large bodies: plain data and shared memory.
 */
import type { Query } from '#model/decision.ts'
import type { ErrorData } from '#model/errors.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { Principal } from '#model/principal.ts'
import type { Verdicts } from '#model/question.ts'
import type { JobIndex, ThreadJob } from './pool-jobs.ts'

/** Data that the thread is started with. */
export interface BodyThreadData<Settings> {
  readonly settings: Settings
  readonly tokenSecret: string
  /** Whether decisions are observed, and whether their checks are observed also. */
  readonly observes: 'nothing' | 'decisions' | 'checks'
}

export interface BodyRequest {
  readonly kind: 'body'
  readonly operationId: string
  readonly principal: Principal | null
  readonly contentEncoding: string | undefined
  /** See `SharedBody`. */
  readonly segments: readonly SharedArrayBuffer[]
  readonly bytes: number
  /**
   * The index for decisions, or the reason why decisions are not possible; null if the body is only parsed
   * and validated.
   */
  readonly on: JobIndex | { readonly refusal: ErrorData } | null
  /** Shared cell: not 0 if the client has disconnected. */
  readonly over: Int32Array
}

export type BodyJob = ThreadJob | BodyRequest

export interface BodyAnswer {
  readonly outcome:
    | { readonly kind: 'refused'; readonly error: ErrorData }
    | { readonly kind: 'checked' }
    /**
     * `isOfParts` marks a response of up to the maximum size, whose memory counts against a limit
     * (`large-answers.ts`).
     */
    | {
        readonly kind: 'answered'
        readonly status: number
        readonly bytes: Uint8Array
        readonly isOfParts: boolean
      }
  /** Decisions made for the request, for observers. */
  readonly decided: readonly Decided[]
}

/** Decisions on a question, with the members of the question that the observer reads. */
export interface Decided {
  readonly verdicts: Verdicts
  readonly isSingle: boolean
  readonly nonUserCount: number
  /**
   * The checks, packed; or, if they cannot be packed, with long names truncated. Null if the observer does
   * not read them.
   */
  readonly checks: PackedData | readonly Query[] | null
}

/** Same fields as `PackedQueries`. */
export interface PackedData {
  readonly count: number
  readonly bytes: Uint8Array
  readonly keyRanges: Int32Array
  readonly termsTable: readonly QueryTerms[]
  readonly termsIndex: Int32Array
}
