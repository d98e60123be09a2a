/** Fills an environment through its ledger, because the API is too slow for so many rows. */
import { randomBytes } from 'node:crypto'
import type { StoredRecord } from '#entities/records.ts'
import { rowKeyOf } from '#store/keyspace/keyspace.ts'
import { encodeRecord } from '#store/keyspace/record-codec.ts'
import type { Ledger } from '#store/ledger.ts'

/** Number of rows per commit. The more pages a commit touches, the slower lmdb gets. */
const COMMIT_ROWS = 5_000

export class RowLoader {
  readonly #ledger: Ledger
  #rows: StoredRecord[] = []

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async add(...records: readonly StoredRecord[]): Promise<void> {
    for (const record of records) this.#rows.push(record)
    if (this.#rows.length >= COMMIT_ROWS) await this.flush()
  }

  /** Writes the remaining rows. It must be called last. */
  async flush(): Promise<void> {
    const put = this.#rows.map(record => ({ key: rowKeyOf(record), value: encodeRecord(record) }))
    this.#rows = []
    await this.#ledger.commit({ id: randomBytes(16), require: [], delete: [], put, changes: [] })
  }
}
