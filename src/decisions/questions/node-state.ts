/**
 * State of this node. The main thread determines it, and the health routes report it. `/ready` also depends
 * on the time until which decisions are permitted.
 */
export interface NodeState {
  /** True after startup and before shutdown begins. */
  readonly isServing: boolean
  /** Whether changes of other nodes arrive. Always true if there are no other nodes. */
  readonly isFresh: boolean
  /**
   * Reason why the store rejected the last write, such as a full disk or a full Redis. Null if the store
   * accepted it.
   */
  readonly writeRefusal: string | null
}

/** State until startup is complete. */
export const STARTING: NodeState = { isServing: false, isFresh: true, writeRefusal: null }
