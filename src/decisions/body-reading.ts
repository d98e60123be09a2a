/** What takes large bodies off the thread that received them. */
import type { Principal } from '#model/principal.ts'
import type { Leaver } from './decision-pool.ts'

/** A body in shared memory, which nobody writes until the work is done. */
export interface SharedBody {
  readonly bytes: number
  /** Of one size, one behind the other. */
  readonly segments: readonly SharedArrayBuffer[]
}

/** An admitted request with a large body. */
export interface BodyWork {
  /** Of the route. */
  readonly operationId: string
  /** Null: one whose key may be known in a state to come. */
  readonly principal: Principal | null
  readonly contentEncoding: string | undefined
  readonly requestId: string
  readonly body: SharedBody
  readonly waiting: Leaver
  /** Throws the refusal of a caller whose key is none any more: asked when it is begun, and before its outcome is told. */
  readonly identify: () => void
  /** Whether it is read and checked, and not answered. */
  readonly isOnlyChecked: boolean
}

export type BodyOutcome =
  | { readonly kind: 'checked' }
  | {
      readonly kind: 'answered'
      readonly status: number
      /** JSON. */
      readonly bytes: Uint8Array
      /** Whether it is as long as an answer may be, and kept only among others that are bounded. */
      readonly isOfParts: boolean
    }

export interface BodyReader {
  /**
   * Resolves when nobody reads the body any more. Null: no thread could be started, and nothing has been done. Rejects with
   * what is wrong with the request, with `OVERLOADED` when too much waits already or the thread died, and when nobody waits any more.
   */
  read(work: BodyWork): Promise<BodyOutcome | null>
}
