/**
 * The local replica of one environment: its view and the end of its log on this machine. A node that follows
 * a ledger elsewhere uses it for reads, lists and restarts. All data of the replica can be loaded again, so
 * the replica can be deleted at any time.
 *
 *     meta   'format', 'epoch'   of the replicated ledger
 *            'id'                commit id at the view's sequence
 *            'logged'            sequence up to which the log continues from the rows, while there are no
 *                                secondary indexes; present if all rows exist
 *            'complete'          present if it has rows and secondary indexes
 *
 * Invariant: position, rows, secondary indexes and log of a complete replica change in one write. Therefore
 * they are consistent, whenever the process ends. An incomplete replica has no secondary indexes, and its
 * table of keys contains only some of the keys. Its rows stay as they were loaded, so that keys and secondary
 * indexes can be built from these rows. New commits are only appended to its log, which is not trimmed. The
 * index of the engine can already be built from such a replica, because that index follows the log. If the
 * process ends in this phase, the next process builds the secondary indexes from the start. A replica without
 * all rows is not used.
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
import type { LogEntry } from '#store/ledger.ts'
import { type SnapshotPlace, snapshotPlaceIn } from '#store/snapshot-place.ts'
import type { Table, Tables } from '#store/tables.ts'
import type { ListRule } from '#store/view.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import type { LogPosition } from '#store/redis/ledger/redis-log.ts'

/**
 * Format of a replica. It must be incremented if the stored form of any data in the tables changes, or if the
 * list rule returns other lists for the same rows.
 */
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

/**
 * Number of commits whose blocking time is kept. It exceeds the number of commits that can be in progress at
 * one time.
 */
const KEPT_MS_COUNT = 1_024

export interface LocalCopyOptions {
  readonly tables: Tables
  readonly listRule: ListRule
  readonly logEntriesMax: number
  /** Makes writes that would block this thread for too long. If absent, this thread makes all writes. */
  readonly largeWrites?: LargeWrites | null
  /**
   * Whether loads of an index never look up rows of this kind by key (the first byte of a key determines the
   * kind). The keys of such rows are added to the table of keys later, together with the secondary indexes.
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
  /**
   * Sequence of the newest commit in the log. If the log is empty, the sequence at which the rows were
   * loaded.
   */
  #sequence: number
  /**
   * Id of the commit at `#sequence`. It is also kept in memory, because the tables return it only after it is
   * on disk.
   */
  #id: Uint8Array | null
  #isComplete: boolean
  readonly #keptMs = new Float64Array(KEPT_MS_COUNT)
  /** Mark of the durable commits of the replica. It is closed with the replica. */
  readonly mark: DurableMark
  readonly #logEntriesMax: number
  readonly #largeWrites: LargeWrites | null
  readonly #handed: HandedCommits
  /**
   * Resolves when this thread can write again, after a write of another thread. Null if it can write
   * immediately.
   */
  #turn: Promise<void> | null = null
  /** The last write of this thread. */
  #lastHere: Promise<void> = Promise.resolve()

  /** Opens the replica in these tables. Closes the tables if the replica cannot be opened. */
  static in(tables: Tables, options: Omit<LocalCopyOptions, 'tables'>): LocalCopy {
    try {
      return new LocalCopy({ ...options, tables })
    } catch (error) {
      // The caller can remove the files then. Removed files use disk space while they are open.
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
   * Whether the tables contain a usable replica: all rows, in a format that this release reads. If `epoch` is
   * given, the replica must also be of this epoch.
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

  /** Whether the replica has its secondary indexes. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /**
   * Whether the table of keys contains all keys with this prefix. Some keys are added later, together with
   * the secondary indexes.
   */
  hasKeysOf(prefix: Uint8Array): boolean {
    return this.#isComplete || (prefix.length > 0 && !this.#isKeyedLater(prefix))
  }

  /** Returns the position of the newest commit in the replica. */
  position(): LogPosition {
    const id = this.#id?.length ? { id: this.#id } : {}
    return { epoch: this.epoch, sequence: this.#sequence, ...id }
  }

  get epoch(): string {
    return decoder.decode(this.#meta.get(KEYS.epoch)!)
  }

  /** Begins a replica in empty tables. */
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
   * Records the position of the loaded rows. Resolves when that is durable; the replica can then be followed
   * from there.
   */
  async loaded({ sequence, id = new Uint8Array() }: LogPosition): Promise<void> {
    // Writes directly to the stored tables, because another thread, which builds the secondary indexes, reads
    // the position there.
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

  /**
   * Applies the commits that were logged while the secondary indexes were built. The replica is then
   * complete.
   */
  async complete(): Promise<void> {
    // If another thread has built them, this makes its writes visible.
    this.#tables.refresh()
    while (!this.#isComplete) {
      await this.#tables.write(() => {
        const after = this.view.sequence()
        const logged = after < this.#sequence ? this.#log.read(after + 1, this.#sequence) : []
        assert(
          after === this.#sequence || logged[0]?.sequence === after + 1,
          'the log contains the changes that the rows miss',
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

  /** Builds keys and secondary indexes from the rows, in this thread. */
  buildLists(signal: AbortSignal): Promise<void> {
    return this.#tables.elsewhere(direct => {
      return buildKeysAndLists(direct, new TableView(direct, this.#listRule), this.#listRule, signal)
    })
  }

  /**
   * Applies a commit. Callers must call it in the order of the log, but need not wait for the previous call.
   * Resolves when the commit is durable.
   */
  apply(entry: LogEntry): Promise<void> {
    const [largeWrites, { directory }] = [this.#largeWrites, this.#tables]
    if (largeWrites === null || directory === null || !this.#isComplete || !largeWrites.isLarge(entry)) {
      return this.#applyHere(entry)
    }
    // Earlier writes of this thread that wait for `#turn` start before this callback runs. `#lastHere` is
    // then the last of these writes.
    const before = (this.#turn ?? Promise.resolve()).then(() => this.#lastHere)
    return this.#inTurn(before.then(() => this.#applyElsewhere(largeWrites, directory, entry)))
  }

  /** Applies a commit in this thread, in the order of the calls and after a write of another thread. */
  #applyHere(entry: LogEntry): Promise<void> {
    if (this.#turn === null) return (this.#lastHere = this.#write(entry))
    // The next write must start only after this one has started.
    return this.#turn.then(() => (this.#lastHere = this.#write(entry)))
  }

  /** Makes later writes wait for this write. If it fails, the later writes are not made either. */
  #inTurn(writing: Promise<void>): Promise<void> {
    this.#turn = writing
    // `#turn` is cleared one event-loop iteration later, when the waiting writes have started.
    const end = (): void => {
      setImmediate(() => {
        if (this.#turn === writing) this.#turn = null
      })
    }
    writing.then(end, end)
    return writing
  }

  async #applyElsewhere(largeWrites: LargeWrites, directory: string, entry: LogEntry): Promise<void> {
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

  async #write(entry: LogEntry): Promise<void> {
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

  /** Returns how long a recently applied commit blocked this thread, in milliseconds. */
  keptThreadMs(sequence: number): number {
    return this.#keptMs[sequence % KEPT_MS_COUNT]!
  }

  /**
   * Resolves when the replica contains the commit with this sequence. If the replica is closed before, throws
   * the reason.
   */
  async reached(sequence: number): Promise<void> {
    while (this.mark.sequence < sequence) {
      if (this.mark.isClosed) throw this.mark.endReason ?? storeClosed()
      await new Promise<void>(resolve => this.mark.notify(resolve))
    }
  }

  feed(after: Revision): AsyncIterable<LogEntry> {
    const [log, durable, epoch, handed] = [this.#log, this.mark, this.epoch, this.#handed]
    const source = { log, durable, epoch, handed, head: () => this.#sequence }
    return new LogFeed({ read: logReader(source, after.epoch), durable, after })
  }

  /** Like `feed`, from the log of the replica; see `Ledger.replay`. */
  replay(after: Revision): AsyncIterable<LogEntry> {
    const [log, durable, epoch] = [this.#log, this.mark, this.epoch]
    const source = { log, durable, epoch, head: () => this.#sequence, isReplay: true }
    return new LogFeed({ read: logReader(source, after.epoch), durable, after })
  }

  /** Ends the feeds of the replica, with the reason if there is one, and completes writes in progress. */
  async close(reason: AuthzError | null = null): Promise<void> {
    this.mark.close(reason)
    await this.#turn?.catch(() => undefined)
    await this.#tables.close()
  }
}
