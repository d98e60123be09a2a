/**
 * Messages between an HTTP thread and the thread that parses its large bodies: plain data and shared memory.
 */
import type { Query } from '#model/decision.ts'
import type { ErrorData } from '#model/errors.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { Principal } from '#model/principal.ts'
import type { JobIndex, ThreadJob } from './pool-jobs.ts'

/** Data that the thread is started with. */
export interface BodyThreadData<Settings> {
  readonly settings: Settings
  readonly tokenSecret: string
  /** Whether decisions are observed, and whether their queries are observed also. */
  readonly observes: 'nothing' | 'decisions' | 'questions'
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

/** Decisions and their queries. */
export interface Decided {
  /** Whether it was a single decision, and not a bulk or a batch. */
  readonly isSingle: boolean
  /** 1 or 0 for each decision. */
  readonly decisions: Uint8Array
  /** Packed queries; or, if they were not packed, the queries themselves with long names truncated. */
  readonly asked: PackedData | readonly Query[]
}

/** Same fields as `PackedQueries`. If the queries are not recorded, their keys are missing. */
export interface PackedData {
  readonly count: number
  /** Null if the keys are not recorded. */
  readonly bytes: Uint8Array | null
  readonly keyRanges: Int32Array
  readonly termsTable: readonly QueryTerms[]
  readonly termsIndex: Int32Array
}
