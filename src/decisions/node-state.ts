/** What the main thread knows of this node and its health routes tell; `/ready` also goes by the deadline of decisions. */
export interface NodeState {
  /** From the end of the start to the stop. */
  readonly isServing: boolean
  /** Whether it hears what other nodes change; true where there are no others. */
  readonly isFresh: boolean
  /** Why the store refused to write the last change, as a full disk or a full Redis does; null when it did not. */
  readonly writeRefusal: string | null
}

/** Before the start has come to its end. */
export const STARTING: NodeState = { isServing: false, isFresh: true, writeRefusal: null }
