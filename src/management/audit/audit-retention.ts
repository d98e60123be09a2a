/**
 * Deletes audit log entries that exceed the retention, in small commits that are separated by event-loop
 * iterations. Several nodes can do this concurrently: after a conflict, a node leaves the rest to the other
 * one.
 */
import { Draft } from '#management/drafts/draft.ts'
import { isRetryable } from '#management/drafts/retryable-errors.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { decodeAs } from '#store/keyspace/record-codec.ts'
import type { EnvironmentStore } from '#store/store.ts'

/** Rows per commit when an audit log is processed in batches: a few milliseconds of work. */
export const AUDIT_ROWS_PER_COMMIT = 200

export class AuditRetention {
  readonly #store: EnvironmentStore
  readonly #runtime: Pick<RuntimeServices, 'now' | 'newCommitId'>
  readonly #retentionMs: number

  /** `retentionMs` 0: entries are kept forever. */
  constructor(
    store: EnvironmentStore,
    runtime: Pick<RuntimeServices, 'now' | 'newCommitId'>,
    retentionMs: number,
  ) {
    this.#store = store
    this.#runtime = runtime
    this.#retentionMs = retentionMs
  }

  /**
   * Deletes entries that are too old now. If the store is closing or its lists are not built, the next call
   * deletes them.
   */
  async trim(): Promise<void> {
    if (this.#retentionMs === 0) return
    try {
      while (await this.#removeSome()) await new Promise(resolve => setImmediate(resolve))
    } catch (error) {
      if (!isRetryable(error)) throw error
    }
  }

  /** Returns false if there is nothing left to delete. */
  async #removeSome(): Promise<boolean> {
    const { view, ledger } = this.#store
    const keptFrom = this.#runtime.now() - this.#retentionMs
    const draft = new Draft(view)
    let count = 0
    for (const row of view.scan(lists.all('audit'))) {
      if (decodeAs('audit', row).createdAt >= keptFrom || count === AUDIT_ROWS_PER_COMMIT) break
      draft.discard(row)
      count += 1
    }
    if (count === 0) return false
    await ledger.commit(draft.toCommit(this.#runtime.newCommitId()))
    return count === AUDIT_ROWS_PER_COMMIT
  }
}
