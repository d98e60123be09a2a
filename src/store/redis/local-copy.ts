/**
 * One environment's view on this machine, and the end of its log: what a node that follows a ledger elsewhere reads, lists
 * and restarts from. Everything in it can be had again, so it may be thrown away at any time.
 *
 *     meta   'format', 'epoch'   what it is a copy of
 *            'id'                commit id at the view's sequence
 *            'logged'            sequence up to which the log goes on from the rows, while there are no lists; present when
 *                                all rows are there
 *            'complete'          present when it has rows and lists
 *
 * Invariant: once it is complete, position, rows, lists and log belong together, whenever the process ends; they change
 * in one write. Before, it has no lists, and only some of its keys: rows stay as they were loaded, so that both can be
 * built from them, and what comes meanwhile is only logged, and all of that is kept. That is enough to build an index
 * from, which follows the log. A process that ends then is followed by one that begins with the lists again; what has
 * not all rows is of no use.
 */
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import { buildKeysAndLists } from '#store/bulk-load/list-build.ts'
import type { StoredRow } from '#store/bulk-load/row-runs.ts'
import { CommitLog } from '#store/embedded/commit-log.ts'
import { decodeEntry } from '#store/embedded/entry-codec.ts'
import { DurableMark, HandedCommits, LogFeed, logReader } from '#store/embedded/log-feed.ts'
import { writeInOrder } from '#store/embedded/ordered-write.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { decodeUint48, encodeCreated, encodeUint48, keyOf } from '#store/keyspace/row-codec.ts'
import { type LargeWrites, ThreadLostError } from '#store/large-writes.ts'
import type { Entry } from '#store/ledger.ts'
import { type SnapshotPlace, snapshotPlaceIn } from '#store/snapshot-place.ts'
import type { Table, Tables } from '#store/tables.ts'
import type { ListRule } from '#store/view.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import type { Position } from './redis-log.ts'

/** Raised when the stored form of anything in the tables changes, or the result of the list rule for the same rows. */
const FORMAT = '2'
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const KEYS = {
  format: encoder.encode('format'),
  epoch: encoder.encode('epoch'),
  id: encoder.encode('id'),
  logged: encoder.encode('logged'),
  complete: encoder.encode('complete'),
}

/** Commits whose time is remembered: more than are on their way into the copy at once. */
const KEPT_MS_COUNT = 1_024

export interface LocalCopyOptions {
  readonly tables: Tables
  readonly listRule: ListRule
  readonly logEntriesMax: number
  /** Makes writes that would keep this thread for too long. Absent: this thread makes all writes. */
  readonly largeWrites?: LargeWrites | null
  /**
   * Whether loads of an index never look up rows with that key, which its first byte says. The table of keys is built with the lists
   * then.
   */
  readonly isKeyedLater: (key: Uint8Array) => boolean
}

export class LocalCopy {
  readonly view: TableView
  readonly snapshotPlace: SnapshotPlace | null
  readonly #tables: Tables
  readonly #meta: Table
  readonly #listRule: ListRule
  readonly #log: CommitLog
  readonly #isKeyedLater: (key: Uint8Array) => boolean
  /** The sequence of the newest commit in the log, or of the rows as they were loaded. */
  #sequence: number
  /** The id of that commit. Kept here as well, since the tables show it only when it is on disk. */
  #id: Uint8Array | null
  #isComplete: boolean
  readonly #keptMs = new Float64Array(KEPT_MS_COUNT)
  /** How far the copy is on disk. Closed with the copy. */
  readonly mark: DurableMark
  readonly #logEntriesMax: number
  readonly #largeWrites: LargeWrites | null
  readonly #handed: HandedCommits
  /** Resolves when this thread may write again, after a write of another thread. Null: it may write at once. */
  #turn: Promise<void> | null = null
  /** The last write of this thread. */
  #lastHere: Promise<void> = Promise.resolve()

  /** The copy in these tables. Closes the tables if the copy cannot be opened. */
  static in(tables: Tables, options: Omit<LocalCopyOptions, 'tables'>): LocalCopy {
    try {
      return new LocalCopy({ ...options, tables })
    } catch (error) {
      // Removed files keep their room on the disk while they are open.
      void tables.close().catch(() => undefined)
      throw error
    }
  }

  constructor({ tables, listRule, logEntriesMax, largeWrites = null, isKeyedLater }: LocalCopyOptions) {
    this.#tables = tables
    this.#logEntriesMax = logEntriesMax
    this.#largeWrites = largeWrites
    this.#isKeyedLater = isKeyedLater
    this.#meta = tables.table('meta')
    this.#listRule = listRule
    this.view = new TableView(tables, listRule)
    this.snapshotPlace = snapshotPlaceIn(tables)
    this.#log = new CommitLog(tables, logEntriesMax)
    this.#id = this.#meta.get(KEYS.id) ?? null
    this.#isComplete = this.#meta.get(KEYS.complete) !== undefined
    const logged = this.#isComplete ? undefined : this.#meta.get(KEYS.logged)
    this.#sequence = logged ? decodeUint48(logged) : this.view.sequence()
    this.mark = new DurableMark(this.#sequence)
    this.#handed = new HandedCommits(this.mark, logEntriesMax)
  }

  /**
   * Whether the tables hold a copy, of that history if one is named, of which the last run left all rows in a form that
   * this release reads.
   */
  isUsable(epoch: string | null): boolean {
    const format = this.#meta.get(KEYS.format)
    const hasRows = this.#isComplete || this.#meta.get(KEYS.logged) !== undefined
    return (
      hasRows &&
      format !== undefined &&
      decoder.decode(format) === FORMAT &&
      (epoch ?? this.epoch) === this.epoch
    )
  }

  /** Whether the copy has its lists. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Whether all keys that begin so are there: some come with the lists. */
  hasKeysOf(prefix: Uint8Array): boolean {
    return this.#isComplete || (prefix.length > 0 && !this.#isKeyedLater(prefix))
  }

  /** The position up to which the copy has followed. */
  position(): Position {
    const id = this.#id?.length ? { id: this.#id } : {}
    return { epoch: this.epoch, sequence: this.#sequence, ...id }
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

  /** Writes all rows, in the order of their creation. */
  async write(rows: Iterable<StoredRow>): Promise<void> {
    await this.#tables.elsewhere(async direct => {
      const [table, keys] = [direct.table('rows'), direct.table('keys')]
      await writeInOrder(direct, rows, ({ created, bytes }) => {
        const place = encodeCreated(created)
        table.put(place, bytes)
        const key = keyOf(bytes)
        if (!this.#isKeyedLater(key)) keys.put(key, place)
      })
    })
  }

  /**
   * Notes that the rows are as they were at that position. Resolves when that is durable; then the copy can be followed
   * from there.
   */
  async loaded({ sequence, id = new Uint8Array() }: Position): Promise<void> {
    // Another thread, which builds the lists, reads how far the rows go.
    await this.#tables.elsewhere(direct => {
      const meta = direct.table('meta')
      const view = new TableView(direct, this.#listRule)
      return direct.write(() => {
        view.setSequence(sequence)
        meta.put(KEYS.id, id)
        meta.put(KEYS.logged, encodeUint48(sequence))
      })
    })
    this.#id = id
    this.#sequence = sequence
    this.mark.advance(sequence)
  }

  /** Applies what was logged while the lists were being built. After that the copy is complete. */
  async complete(): Promise<void> {
    // Another thread may have built them.
    this.#tables.refresh()
    while (!this.#isComplete) {
      await this.#tables.write(() => {
        const after = this.view.sequence()
        const logged = after < this.#sequence ? this.#log.read(after + 1, this.#sequence) : []
        assert(
          after === this.#sequence || logged[0]?.sequence === after + 1,
          'the log has what the rows miss',
        )
        for (const { sequence, bytes } of logged) {
          this.view.apply(decodeEntry({ epoch: this.epoch, sequence }, bytes))
        }
        if (logged.length > 0) return
        this.#meta.put(KEYS.complete, encoder.encode('yes'))
        this.#isComplete = true
      })
    }
  }

  /** Builds keys and lists for the rows, in this thread. */
  buildLists(signal: AbortSignal): Promise<void> {
    return this.#tables.elsewhere(direct => {
      return buildKeysAndLists(direct, new TableView(direct, this.#listRule), this.#listRule, signal)
    })
  }

  /**
   * Applies a commit. Calls come in the order of the history, without waiting for the call before. Resolves when the commit
   * is durable.
   */
  apply(entry: Entry): Promise<void> {
    const [largeWrites, { directory }] = [this.#largeWrites, this.#tables]
    if (largeWrites === null || directory === null || !this.#isComplete || !largeWrites.isLarge(entry)) {
      return this.#applyHere(entry)
    }
    // Writes that wait for the same turn have begun before this one goes on.
    const before = (this.#turn ?? Promise.resolve()).then(() => this.#lastHere)
    return this.#inTurn(before.then(() => this.#applyElsewhere(largeWrites, directory, entry)))
  }

  /** Writes in the order of the calls, after a write of another thread. */
  #applyHere(entry: Entry): Promise<void> {
    if (this.#turn === null) return (this.#lastHere = this.#write(entry))
    // The next write may begin only after this one has begun.
    return this.#turn.then(() => (this.#lastHere = this.#write(entry)))
  }

  /** Makes later writes wait for this one. After a failed write they are not made either. */
  #inTurn(writing: Promise<void>): Promise<void> {
    this.#turn = writing
    // The waiting writes have begun by then, a turn of the event loop later.
    const end = (): void => {
      setImmediate(() => {
        if (this.#turn === writing) this.#turn = null
      })
    }
    writing.then(end, end)
    return writing
  }

  async #applyElsewhere(largeWrites: LargeWrites, directory: string, entry: Entry): Promise<void> {
    const { sequence } = entry.revision
    const from = performance.now()
    try {
      await this.#tables.elsewhere(() => largeWrites.apply(directory, entry, this.#logEntriesMax))
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error
      this.#tables.refresh()
      if (this.view.sequence() < sequence) return this.#write(entry)
    }
    this.#tables.refresh()
    this.#id = entry.id
    this.#sequence = sequence
    this.#keptMs[sequence % KEPT_MS_COUNT] = performance.now() - from
    this.#handed.add(sequence, entry)
    this.mark.advance(sequence)
  }

  async #write(entry: Entry): Promise<void> {
    const { sequence } = entry.revision
    await this.#tables.write(() => {
      const from = performance.now()
      this.#log.append(entry, { keepsAll: !this.#isComplete })
      if (this.#isComplete) this.view.apply(entry)
      else this.#meta.put(KEYS.logged, encodeUint48(sequence))
      this.#meta.put(KEYS.id, entry.id)
      this.#handed.add(sequence, entry)
      this.#id = entry.id
      this.#sequence = sequence
      this.#keptMs[sequence % KEPT_MS_COUNT] = performance.now() - from
    })
    this.mark.advance(sequence)
  }

  /** For how long a commit that was applied just now kept the thread, in milliseconds. */
  keptThreadMs(sequence: number): number {
    return this.#keptMs[sequence % KEPT_MS_COUNT]!
  }

  /** Resolves when the copy has that sequence. Throws the reason when the copy is closed before. */
  async reached(sequence: number): Promise<void> {
    while (this.mark.sequence < sequence) {
      if (this.mark.isClosed) throw this.mark.endReason ?? storeClosed()
      await new Promise<void>(resolve => this.mark.notify(resolve))
    }
  }

  feed(after: Revision): AsyncIterable<Entry> {
    const [log, durable, epoch, handed] = [this.#log, this.mark, this.epoch, this.#handed]
    const source = { log, durable, epoch, handed, head: () => this.#sequence }
    return new LogFeed({ read: logReader(source, after.epoch), durable, after })
  }

  /** As `feed`, of the log that the copy has; see `Ledger.replay`. */
  replay(after: Revision): AsyncIterable<Entry> {
    const [log, durable, epoch] = [this.#log, this.mark, this.epoch]
    const source = { log, durable, epoch, head: () => this.#sequence, isReplay: true }
    return new LogFeed({ read: logReader(source, after.epoch), durable, after })
  }

  /** Ends the feeds of the copy, with the reason if there is one, and finishes writes under way. */
  async close(reason: AuthzError | null = null): Promise<void> {
    this.mark.close(reason)
    await this.#turn?.catch(() => undefined)
    await this.#tables.close()
  }
}
