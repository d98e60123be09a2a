/** The messages between an HTTP thread and the thread that reads its large bodies: plain data, and shared memory. */
import type { Query } from '#model/decision.ts'
import type { ErrorData } from '#model/errors.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { Principal } from '#model/principal.ts'
import type { JobIndex, ThreadJob } from './pool-jobs.ts'

/** The data that the thread is started with. */
export interface BodyThreadData<Settings> {
  readonly settings: Settings
  readonly tokenSecret: string
  /** Whether decisions are observed, and whether their questions are, too. */
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
  /** The index to decide on, or the reason why nothing can be decided; null: the body is only read and checked. */
  readonly on: JobIndex | { readonly refusal: ErrorData } | null
  /** Shared: not 0 once the caller has left. */
  readonly over: Int32Array
}

export type BodyJob = ThreadJob | BodyRequest

export interface BodyAnswer {
  readonly outcome:
    | { readonly kind: 'refused'; readonly error: ErrorData }
    | { readonly kind: 'checked' }
    /** `isOfParts`: as long as it may be, and bounded among others (`large-answers.ts`). */
    | {
        readonly kind: 'answered'
        readonly status: number
        readonly bytes: Uint8Array
        readonly isOfParts: boolean
      }
  /** The decisions made on the way, for observers. */
  readonly decided: readonly Decided[]
}

/** Decisions, and their questions. */
export interface Decided {
  /** Whether it was a single decision, and not a bulk or a batch. */
  readonly isSingle: boolean
  /** 1 or 0 for each decision. */
  readonly decisions: Uint8Array
  /** Packed questions; or, if they were not packed, the questions themselves with long names cut. */
  readonly asked: PackedData | readonly Query[]
}

/** As `PackedQueries`. Where the questions are not recorded, their keys are missing. */
export interface PackedData {
  readonly count: number
  /** Null: the keys are not recorded. */
  readonly bytes: Uint8Array | null
  readonly keyRanges: Int32Array
  readonly termsTable: readonly QueryTerms[]
  readonly termsIndex: Int32Array
}
