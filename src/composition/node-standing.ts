/** What this node says of itself, as its threads' health routes tell it. */
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

  /** What the store made of the last commit: a refusal stands until a commit is done. */
  noteCommit(outcome: CommitOutcome, error: unknown): void {
    const isRefused = error instanceof AuthzError && error.code === 'STORE_REFUSED' && error.told !== null
    const writeRefusal = isRefused ? error.told : outcome === 'done' ? null : this.#state.writeRefusal
    if (writeRefusal !== this.#state.writeRefusal) this.become({ writeRefusal })
  }
}
