/** Health state of this node, as reported by the health routes of its HTTP threads. */
import { type NodeState, STARTING } from '#decisions/questions/node-state.ts'
import { AuthzError } from '#model/errors.ts'
import type { CommitOutcome } from '#management/drafts/runtime-services.ts'

export class NodeHealth {
  readonly #onChange: (state: NodeState) => void
  #state = STARTING

  constructor(onChange: (state: NodeState) => void) {
    this.#onChange = onChange
  }

  get state(): NodeState {
    return this.#state
  }

  become(change: Partial<NodeState>): void {
    this.#state = { ...this.#state, ...change }
    this.#onChange(this.#state)
  }

  /**
   * Records the outcome of the last commit. If the store rejected it, the node reports that until a commit
   * succeeds.
   */
  noteCommit(outcome: CommitOutcome, error: unknown): void {
    const isRefused =
      error instanceof AuthzError && error.code === 'STORE_REFUSED' && error.publicMessage !== null
    const writeRefusal = isRefused
      ? error.publicMessage
      : outcome === 'done'
        ? null
        : this.#state.writeRefusal
    if (writeRefusal !== this.#state.writeRefusal) this.become({ writeRefusal })
  }
}
