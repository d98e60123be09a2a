/** Interface for parsing a large body on another thread than the one that received it. */
import type { Principal } from '#model/principal.ts'
import type { AskingClient, CancelableClient } from '#model/caller.ts'

/** A body in shared memory. It is not modified until the work on it is done. */
export interface SharedBody {
  readonly bytes: number
  /** Segments of the body, in order. All have the same size. */
  readonly segments: readonly SharedArrayBuffer[]
}

/** A request with a large body, which has been admitted. */
export interface BodyWork {
  /** Operation id of the route. */
  readonly operationId: string
  /** The caller. Null if the API key is not known, but a later state of the organization might contain it. */
  readonly principal: Principal | null
  readonly contentEncoding: string | undefined
  /** The client, as observers of the decisions see it. */
  readonly client: AskingClient
  readonly body: SharedBody
  readonly waiting: CancelableClient
  /**
   * Returns the present caller, whose level can have changed. Throws an error if the key of the caller is no
   * longer valid. Called when the work begins, and again before its outcome is returned.
   */
  readonly identify: () => Principal | null
  /** Whether the body is only parsed and validated, without producing a response. */
  readonly isOnlyChecked: boolean
}

export type BodyOutcome =
  | { readonly kind: 'checked' }
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The outcome as JSON. */
      readonly bytes: Uint8Array
      /**
       * Whether the outcome can be as long as the largest response. The total memory for such outcomes is
       * limited (`large-answers.ts`).
       */
      readonly isOfParts: boolean
    }

export interface BodyReader {
  /**
   * Processes the body. The promise resolves after the last read of the body. It resolves to null if no
   * thread could be started; in that case, nothing has been done. It rejects with the error of an invalid
   * request, or with `OVERLOADED` if the queue is full, the thread died or the client disconnected.
   */
  read(work: BodyWork): Promise<BodyOutcome | null>
}
