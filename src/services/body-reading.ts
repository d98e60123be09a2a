/** What takes large bodies off the thread that received them. */
import type { Principal } from '#model/principal.ts'
import type { Leaver } from './decision-pool.ts'

/** A body in memory that is nobody else's. */
export interface LentBody {
  readonly bytes: number
  /** Its memory, to be transferred, with the body at the beginning. */
  leave(): ArrayBuffer
  comeBack(memory: ArrayBuffer): void
}

/** An admitted request with a large body. */
export interface BodyWork {
  /** Of the route. */
  readonly operationId: string
  /** Null: one whose key may be known in a state to come. */
  readonly principal: Principal | null
  readonly contentEncoding: string | undefined
  readonly requestId: string
  readonly body: LentBody
  readonly waiting: Leaver
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
   * Resolves when the body is back, unless its thread died. Null: no thread could be started, and nothing has been done. Rejects with
   * what is wrong with the request, with `OVERLOADED` when too much waits already or the thread died, and when nobody waits any more.
   */
  read(work: BodyWork): Promise<BodyOutcome | null>
}
