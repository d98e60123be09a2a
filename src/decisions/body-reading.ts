/** Interface for parsing large bodies on another thread than the one that received them. */
import type { Principal } from '#model/principal.ts'
import type { CancelableClient } from './decision-pool.ts'

/** A body in shared memory. It is not modified until the work is done. */
export interface SharedBody {
  readonly bytes: number
  /** Consecutive segments of equal size. */
  readonly segments: readonly SharedArrayBuffer[]
}

/** An admitted request with a large body. */
export interface BodyWork {
  /** Operation id of the route. */
  readonly operationId: string
  /** Null if the key is not known yet but might belong to a later state. */
  readonly principal: Principal | null
  readonly contentEncoding: string | undefined
  readonly requestId: string
  readonly body: SharedBody
  readonly waiting: CancelableClient
  /**
   * Throws the error for a caller whose key is no longer valid. Called when the work begins and before its
   * outcome is returned.
   */
  readonly identify: () => void
  /** True if the body is only parsed and validated, without producing a response. */
  readonly isOnlyChecked: boolean
}

export type BodyOutcome =
  | { readonly kind: 'checked' }
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The body as JSON. */
      readonly bytes: Uint8Array
      /**
       * True if the result can be as long as the largest response. The memory for such results is limited in
       * total (`large-answers.ts`).
       */
      readonly isOfParts: boolean
    }

export interface BodyReader {
  /**
   * Resolves when the body is no longer read. Resolves to null if no thread could be started; nothing has
   * been done then. Rejects with the error of an invalid request. Rejects with `OVERLOADED` if the queue is
   * full, if the thread died, or if the client disconnected.
   */
  read(work: BodyWork): Promise<BodyOutcome | null>
}
