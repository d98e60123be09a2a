/**
 * Copies the audit log of an environment into its replacement, so that replacing an environment does not end
 * its audit log. It makes small commits while the old environment still accepts changes. The next call copies
 * later entries.
 */
import { lists, rowKeyOf } from '#store/keyspace/keyspace.ts'
import { decodeAs, encodeRecord } from '#store/keyspace/record-codec.ts'
import type { RowPut } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { AUDIT_ROWS_PER_COMMIT } from './audit-retention.ts'

export class AuditTransfer {
  readonly #from: EnvironmentStore
  readonly #to: EnvironmentStore
  readonly #newCommitId: () => Uint8Array
  /** `created` of the last copied entry. */
  #copied = 0

  constructor(from: EnvironmentStore, to: EnvironmentStore, newCommitId: () => Uint8Array) {
    this.#from = from
    this.#to = to
    this.#newCommitId = newCommitId
  }

  /**
   * Copies the entries that have not been copied yet, in their order. O(entries). Throws the errors of the
   * stores.
   */
  async run(): Promise<void> {
    await this.#from.whenListed()
    while (await this.#copySome()) await new Promise(resolve => setImmediate(resolve))
  }

  /** Returns false if there is nothing left to copy. */
  async #copySome(): Promise<boolean> {
    const put: RowPut[] = []
    let place = this.#copied
    for (const row of this.#from.view.scan(lists.all('audit'), { after: place })) {
      if (put.length === AUDIT_ROWS_PER_COMMIT) break
      const entry = decodeAs('audit', row)
      // If an entry has no sequence, the version of its row is the sequence of its commit in the old history.
      // It must be stored, because the copied row belongs to another history.
      const kept = { ...entry, sequence: entry.sequence ?? row.version }
      put.push({ key: rowKeyOf(kept), value: encodeRecord(kept) })
      place = row.created
    }
    if (put.length === 0) return false
    await this.#to.ledger.commit({ id: this.#newCommitId(), require: [], delete: [], put, changes: [] })
    this.#copied = place
    return put.length === AUDIT_ROWS_PER_COMMIT
  }
}
