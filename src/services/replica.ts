/**
 * Keeps the engines of one environment level with its ledger: loads them from the view, then feeds them every commit.
 * Loading takes the view while it goes on changing, and the feed starts where the view stood before: changes state
 * facts, so hearing some of them twice does no harm.
 */
import { AuthzError } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import type { EnvironmentStore } from '#store/store.ts'
import type { IndexHost } from './index-host.ts'
import { loadChanges } from './load-changes.ts'

interface Waiter {
  readonly sequence: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Replica {
  readonly #environmentId: string
  readonly #store: EnvironmentStore
  readonly #host: IndexHost
  #visibleSequence = -1
  #waiters: Waiter[] = []
  /** Why following has ended; null while it goes on. */
  #endReason: unknown = null

  constructor(environmentId: string, store: EnvironmentStore, host: IndexHost) {
    this.#environmentId = environmentId
    this.#store = store
    this.#host = host
  }

  /**
   * Loads the engines; resolves when they decide. Following goes on until the ledger closes; `onFault` hears of the
   * error that ended it before.
   */
  async start(onFault: (error: unknown) => void): Promise<void> {
    const head = await this.#store.ledger.head()
    const from: Revision = { epoch: head.epoch, sequence: this.#store.view.sequence() }
    await this.#host.load(this.#environmentId, loadChanges(this.#store.view), from)
    this.#advance(from.sequence)
    void this.#follow(from).then(
      () => this.#end(new AuthzError('STORE_CLOSED', 'the store is closed')),
      (error: unknown) => {
        this.#end(error)
        onFault(error)
      },
    )
  }

  /** Resolves when every decision sees the revision. Rejects when following has ended before. */
  whenVisible(revision: Revision): Promise<void> {
    if (revision.sequence <= this.#visibleSequence) return Promise.resolve()
    if (this.#endReason !== null) return Promise.reject(this.#endReason as Error)
    return new Promise((resolve, reject) => {
      this.#waiters.push({ sequence: revision.sequence, resolve, reject })
    })
  }

  async #follow(after: Revision): Promise<void> {
    for await (const entry of this.#store.ledger.feed(after)) {
      await this.#host.apply(this.#environmentId, entry.changes, entry.revision)
      this.#advance(entry.revision.sequence)
    }
  }

  #end(reason: unknown): void {
    this.#endReason = reason
    for (const waiter of this.#waiters.splice(0)) waiter.reject(reason)
  }

  #advance(sequence: number): void {
    this.#visibleSequence = sequence
    const isDue = (waiter: Waiter) => waiter.sequence <= sequence
    const due = this.#waiters.filter(isDue)
    this.#waiters = this.#waiters.filter(waiter => !isDue(waiter))
    for (const waiter of due) waiter.resolve()
  }
}
