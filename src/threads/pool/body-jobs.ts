/** What an HTTP thread and the thread that reads its large bodies say to each other: plain data, and shared memory. */
import type { Query } from '#model/decision.ts'
import type { ErrorData } from '#model/errors.ts'
import type { QueryForm } from '#model/packed-queries.ts'
import type { Principal } from '#model/principal.ts'
import type { JobIndex, ThreadJob } from './pool-jobs.ts'

/** What the thread is started with. */
export interface BodyThreadData<Settings> {
  readonly settings: Settings
  readonly tokenSecret: string
  /** Whether somebody hears of the decisions, and of the questions, too. */
  readonly observes: 'nothing' | 'decisions' | 'questions'
}

export interface BodyRequest {
  readonly kind: 'body'
  readonly operationId: string
  readonly principal: Principal | null
  readonly contentEncoding: string | undefined
  /** As of `SharedBody`. */
  readonly segments: readonly SharedArrayBuffer[]
  readonly bytes: number
  /** What is decided on; in its place, why nothing can be decided; null: the body is only read and checked. */
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
  /** What was decided on the way, for those who hear of decisions. */
  readonly decided: readonly Decided[]
}

/** Decisions, and what was asked. */
export interface Decided {
  /** Whether it was one alone, and not a bulk or a batch. */
  readonly isSingle: boolean
  /** 1 or 0 for each. */
  readonly decisions: Uint8Array
  /** Of questions that are packed; of others they are there themselves, with long names cut. */
  readonly asked: PackedData | readonly Query[]
}

/** As `PackedQueries`. Without the questions' keys where they are not recorded. */
export interface PackedData {
  readonly count: number
  /** Null: the keys are not recorded. */
  readonly bytes: Uint8Array | null
  readonly spots: Int32Array
  readonly forms: readonly QueryForm[]
  readonly places: Int32Array
}
