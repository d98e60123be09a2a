/** What this node says of itself: the state that the health routes of its threads tell. */
import { type NodeState, STARTING } from '#decisions/node-state.ts'
import { AuthzError } from '#model/errors.ts'
import type { CommitOutcome } from '#management/commands/surroundings.ts'

export class NodeStanding {
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

  /** Notes the outcome of the last commit. A refusal by the store stands until a commit succeeds. */
  noteCommit(outcome: CommitOutcome, error: unknown): void {
    const isRefused = error instanceof AuthzError && error.code === 'STORE_REFUSED' && error.told !== null
    const writeRefusal = isRefused ? error.told : outcome === 'done' ? null : this.#state.writeRefusal
    if (writeRefusal !== this.#state.writeRefusal) this.become({ writeRefusal })
  }
}
