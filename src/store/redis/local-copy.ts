/**
 * One environment's view on this machine, and the end of its log: what a node that follows a ledger elsewhere reads, lists
 * and restarts from. Everything in it can be had again, so it may be thrown away at any time.
 *
 *     meta   'format', 'epoch'   what it is a copy of
 *            'id'                commit id at the view's sequence
 *            'complete'          present when it holds all there was at some moment
 *
 * Invariant: position, rows, lists and log belong together, whenever the process ends; they change in one write.
 */
import { AuthzError } from '#model/errors.ts'
import { CommitLog } from '../commit-log.ts'
import type { Entry, Row } from '../ledger.ts'
import { DurableMark, LogFeed, logReader } from '../log-feed.ts'
import { TableView } from '../table-view.ts'
import type { Table, Tables } from '../tables.ts'
import type { ListRule } from '../view.ts'
import type { Revision } from '#model/revision.ts'
import type { Position } from './redis-log.ts'

/** Raised when the stored form of anything in the tables, or what the list rule makes of rows, changes. */
const FORMAT = '1'
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const KEYS = {
  format: encoder.encode('format'),
  epoch: encoder.encode('epoch'),
  id: encoder.encode('id'),
  complete: encoder.encode('complete'),
}

export interface LocalCopyOptions {
  readonly tables: Tables
  readonly listRule: ListRule
  readonly logEntriesMax: number
}

export class LocalCopy {
  readonly view: TableView
  readonly #tables: Tables
  readonly #meta: Table
  readonly #log: CommitLog
  /** How far it is on disk; closed with it. */
  readonly mark: DurableMark

  constructor({ tables, listRule, logEntriesMax }: LocalCopyOptions) {
    this.#tables = tables
    this.#meta = tables.table('meta')
    this.view = new TableView(tables, listRule)
    this.#log = new CommitLog(tables, logEntriesMax)
    this.mark = new DurableMark(this.view.sequence())
  }

  /** Where it stands; null when it is no whole copy that this release can read. */
  position(): Position | null {
    const [format, epoch, id] = [KEYS.format, KEYS.epoch, KEYS.id].map(key => this.#meta.get(key))
    if (!format || decoder.decode(format) !== FORMAT || !epoch || !this.#meta.get(KEYS.complete)) return null
    return { epoch: decoder.decode(epoch), sequence: this.view.sequence(), ...(id?.length && { id }) }
  }

  get epoch(): string {
    return decoder.decode(this.#meta.get(KEYS.epoch)!)
  }

  /** Begins a copy in empty tables. */
  async begin(epoch: string): Promise<void> {
    await this.#tables.write(() => {
      this.#meta.put(KEYS.format, encoder.encode(FORMAT))
      this.#meta.put(KEYS.epoch, encoder.encode(epoch))
    })
  }

  /** Takes rows of a load that began at `from`. Rows may come again, and older than they were. */
  async take(rows: readonly Row[], from: Position): Promise<void> {
    const revision = { epoch: from.epoch, sequence: from.sequence }
    const entry: Entry = { revision, id: new Uint8Array(), delete: [], put: rows, changes: [] }
    await this.#tables.write(() => this.view.apply(entry))
  }

  /** Says that all is there, as of `position`. Resolves when it is durable. */
  async complete(position: Position): Promise<void> {
    await this.#tables.write(() => {
      this.#meta.put(KEYS.id, position.id ?? new Uint8Array())
      this.#meta.put(KEYS.complete, encoder.encode('yes'))
    })
    this.mark.advance(position.sequence)
  }

  /** Applies a commit; in the order of the history, without waiting for one before the next. Resolves when it is durable. */
  async apply(entry: Entry): Promise<void> {
    await this.#tables.write(() => {
      this.#log.append(entry)
      this.view.apply(entry)
      this.#meta.put(KEYS.id, entry.id)
    })
    this.mark.advance(entry.revision.sequence)
  }

  /** Resolves when it has that sequence. Throws the reason when it is closed before. */
  async reached(sequence: number): Promise<void> {
    while (this.mark.sequence < sequence) {
      if (this.mark.isClosed)
        throw this.mark.endReason ?? new AuthzError('STORE_CLOSED', 'the store is closed')
      await new Promise<void>(resolve => this.mark.notify(resolve))
    }
  }

  feed(after: Revision): AsyncIterable<Entry> {
    const [log, durable, epoch] = [this.#log, this.mark, this.epoch]
    const source = { log, durable, epoch, head: () => this.view.sequence() }
    return new LogFeed({ read: logReader(source, after.epoch), durable, after })
  }

  /** Ends its feeds, for that reason if there is one; finishes what is being written. */
  async close(reason: AuthzError | null = null): Promise<void> {
    this.mark.close(reason)
    await this.#tables.close()
  }
}
