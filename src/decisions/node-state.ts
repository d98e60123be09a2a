/**
 * State of this node, as known to the main thread and reported by the health routes. `/ready` also depends on
 * the deadline of decisions.
 */
export interface NodeState {
  /** True from the end of startup until shutdown begins. */
  readonly isServing: boolean
  /** Whether changes of other nodes arrive; true if there are no other nodes. */
  readonly isFresh: boolean
  /**
   * Reason why the store rejected the last write, such as a full disk or a full Redis; null if it accepted
   * the write.
   */
  readonly writeRefusal: string | null
}

/** State before startup is complete. */
export const STARTING: NodeState = { isServing: false, isFresh: true, writeRefusal: null }
