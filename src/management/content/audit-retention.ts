/**
 * Removes entries of an audit log that are older than the retention, in small commits with turns of the event loop between
 * them. Several nodes may do so at once: a node that loses a race leaves the rest to the other.
 */
import { Draft } from '#management/commands/draft.ts'
import { isForLater } from '#management/commands/later.ts'
import type { Surroundings } from '#management/commands/surroundings.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { decodeAs } from '#store/keyspace/record-codec.ts'
import type { EnvironmentStore } from '#store/store.ts'

/** Rows in one commit when an audit log is worked on piece by piece: some milliseconds' worth. */
export const AUDIT_ROWS_PER_COMMIT = 200

export class AuditRetention {
  readonly #store: EnvironmentStore
  readonly #surroundings: Pick<Surroundings, 'now' | 'newCommitId'>
  readonly #retentionMs: number

  /** `retentionMs` 0: entries are kept for ever. */
  constructor(
    store: EnvironmentStore,
    surroundings: Pick<Surroundings, 'now' | 'newCommitId'>,
    retentionMs: number,
  ) {
    this.#store = store
    this.#surroundings = surroundings
    this.#retentionMs = retentionMs
  }

  /** Removes entries that are too old now. Where the store is closing or has no lists yet, they go the next time. */
  async trim(): Promise<void> {
    if (this.#retentionMs === 0) return
    try {
      while (await this.#removeSome()) await new Promise(resolve => setImmediate(resolve))
    } catch (error) {
      if (!isForLater(error)) throw error
    }
  }

  /** False when nothing is left to remove. */
  async #removeSome(): Promise<boolean> {
    const { view, ledger } = this.#store
    const keptFrom = this.#surroundings.now() - this.#retentionMs
    const draft = new Draft(view)
    let count = 0
    for (const row of view.scan(lists.all('audit'))) {
      if (decodeAs('audit', row).createdAt >= keptFrom || count === AUDIT_ROWS_PER_COMMIT) break
      draft.discard(row)
      count += 1
    }
    if (count === 0) return false
    await ledger.commit(draft.toCommit(this.#surroundings.newCommitId()))
    return count === AUDIT_ROWS_PER_COMMIT
  }
}
