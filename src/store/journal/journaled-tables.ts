/**
 * Tables whose newest writes are in memory and in a journal (write-ahead log), and reach the stored tables
 * later in batches.
 *
 *     write ──► memtable (visible to reads) ──► journal (durable) ··· checkpoint ──► stored tables
 *
 * A write changes dozens of entries at random positions of the trees of the stored tables. If a write went
 * there immediately, each entry would cost a page, and each write a transaction in this thread. The journal
 * is written sequentially, a few kilobytes per write. Another thread copies the entries of hundreds of writes
 * to the trees in one transaction.
 *
 * Invariant: a write that is in neither the stored tables nor the journal was never acknowledged. The
 * memtables hold the content of the journal. Their entries contain whole values and not differences, so
 * writing an entry to the stored tables a second time changes nothing.
 */
import { assert } from '#model/assert.ts'
import { bytesOf } from '#model/text/byte-text.ts'
import { AuthzError } from '#model/errors.ts'
import { LONGEST_SLICE_MS } from '#scheduling/time-budget.ts'
import { type LargeWrites, type SegmentEnd, ThreadLostError } from '#store/large-writes.ts'
import { cannotWrite } from '#store/lmdb/disk-errors.ts'
import type { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import { SILENT, type StoreLog } from '#store/store-log.ts'
import { tableOfSnapshot, type Table, type Tables, type TablesSnapshot } from '#store/tables.ts'
import { Journal } from './journal.ts'
import { JournaledTable } from './journaled-table.ts'
import { type Layer, LayeredTable } from './layered-table.ts'
import type { ReadSegment } from './journal-format.ts'
import { type TableChange, Memtable } from './memtable.ts'
import { applySegment, beginLineage, findJournal, removeSegments, segmentPaths } from './replay.ts'
import { SegmentFile } from './segment-file.ts'

/**
 * A checkpoint starts when the journal has this many bytes, or when its oldest record has reached the maximum
 * age.
 */
const CHECKPOINT_BYTES = 1024 * 1024
const CHECKPOINT_MS = 500
/** Pause in milliseconds before a checkpoint is tried again that the disk has rejected. */
const RETRY_MS = 1_000
/** Maximum overhead of a record and of one change in it, including the names of all tables. */
const RECORD_BYTES_MAX = 1_024
const CHANGE_BYTES_MAX = 16

/** Queued work. */
type QueuedWork = WaitingWrite | WaitingElsewhere

interface WaitingWrite {
  readonly kind: 'write'
  readonly run: () => void
  /** Called when readers see the changes. `durable` resolves when the changes are on disk. */
  readonly applied: (durable: Promise<void>) => void
  readonly refuse: (error: unknown) => void
}

interface WaitingElsewhere {
  readonly kind: 'elsewhere'
  /** Never rejects. */
  readonly make: () => Promise<void>
}

/** A memtable that accepts no more changes, and the segment with the same content. */
interface Frozen extends SegmentEnd {
  readonly memtable: Memtable
}

export interface JournalOptions {
  readonly log?: StoreLog
  /**
   * Whether writes are on disk when they resolve (default: true). If false, a machine crash can lose writes.
   */
  readonly isFlushed?: boolean
  /** This option and the following ones are for tests. */
  readonly checkpointBytes?: number
  readonly segmentFile?: (path: string) => SegmentFile
}

export class JournaledTables implements Tables {
  readonly directory: string
  readonly #stored: LmdbTables
  readonly #largeWrites: Pick<LargeWrites, 'checkpoint'> | null
  readonly #checkpointBytes: number
  readonly #tables = new Map<string, JournaledTable>()
  /** Names of the tables by their numbers. */
  readonly #names: string[] = []
  readonly #journal: Journal
  /** Whether the stored tables contain the lineage of this journal. */
  #isBegun = false
  readonly #log: StoreLog
  readonly #waiting: QueuedWork[] = []
  #running: Promise<void> | null = null
  /** Whether a write is running. */
  #isWriting = false
  /** Memtables over the stored tables, newest first: the current one, and the frozen ones. */
  #layers: readonly Layer[] = []
  /** Memtables that wait for a checkpoint, oldest first: at most one, or several after a failed recovery. */
  #frozen: readonly Frozen[] = []
  #checkpointing: Promise<void> | null = null
  /** Reason why the last checkpoint failed. Null if it succeeded. */
  #refusal: unknown = null
  #timer: NodeJS.Timeout | null = null
  #state: 'open' | 'closing' | 'closed' = 'open'
  #closed: Promise<void> | null = null

  /**
   * Opens the tables over stored ones, and recovers the writes of an earlier process that are only in its
   * journal. If the disk rejects them, they are read from memory, and new writes fail until the disk accepts
   * them. `largeWrites` writes the journal to the tables; if null, this thread does. Throws `STORE_DAMAGED`
   * if the journal has lost acknowledged records. With `isFlushed: false`, this loss is permitted. Closes the
   * stored tables if it throws.
   */
  static async open(
    stored: LmdbTables,
    largeWrites: Pick<LargeWrites, 'checkpoint'> | null,
    options: JournalOptions = {},
  ): Promise<JournaledTables> {
    try {
      const { segments, gap, recordsBeyond } = await findJournal(stored, stored.directory)
      const { isFlushed = true, log = SILENT } = options
      const { directory } = stored
      if (gap !== null && isFlushed) throw damagedJournal(directory, gap)
      if (gap !== null || recordsBeyond > 0)
        log.warn(
          { directory, gap, recordsBeyond },
          'the journal contains records after a damaged one; these records are ignored',
        )
      const tables = new JournaledTables(stored, largeWrites, options)
      await tables.#recover(segments)
      return tables
    } catch (error) {
      await stored.close()
      throw error
    }
  }

  private constructor(
    stored: LmdbTables,
    largeWrites: Pick<LargeWrites, 'checkpoint'> | null,
    { isFlushed = true, checkpointBytes = CHECKPOINT_BYTES, segmentFile, log = SILENT }: JournalOptions,
  ) {
    this.#log = log
    this.#stored = stored
    this.directory = stored.directory
    this.#largeWrites = largeWrites
    this.#checkpointBytes = checkpointBytes
    const fileAt = segmentFile ?? (path => new SegmentFile(path, { isFlushed }))
    const [first, second] = segmentPaths(stored.directory)
    this.#journal = new Journal([fileAt(first), fileAt(second)], this.#names)
    this.#showLayers()
  }

  table(name: string): Table {
    const existing = this.#tables.get(name)
    if (existing) return existing
    const number = this.#names.push(name) - 1
    const layered = new LayeredTable(number, this.#stored.table(name))
    const table = new JournaledTable(layered, {
      layers: () => {
        if (this.#state === 'closed') throw storeClosed()
        return this.#layers
      },
      change: (key, value) => {
        assert(this.#isWriting, 'tables change only inside a write')
        this.#journal.memtable.put(number, key, value)
      },
    })
    this.#tables.set(name, table)
    return table
  }

  write<T>(action: () => T, onApplied?: () => void): Promise<T> {
    if (this.#state !== 'open') return Promise.reject(storeClosed())
    return new Promise((resolve, reject) => {
      let value: T
      const run = () => {
        value = action()
      }
      const applied = (durable: Promise<void>): void => {
        onApplied?.()
        durable.then(() => resolve(value), reject)
      }
      this.#waiting.push({ kind: 'write', run, applied, refuse: reject })
      this.#goOn()
    })
  }

  /** Writes the content of the memtables to the stored tables before the action runs. */
  async elsewhere<T>(action: (tables: Tables) => Promise<T>): Promise<T> {
    if (this.#state !== 'open') throw storeClosed()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const make = async (): Promise<void> => {
      try {
        await this.#drain()
        resolve(await action(this.#stored))
      } catch (error) {
        reject(error)
      } finally {
        this.#stored.refresh()
      }
    }
    this.#waiting.push({ kind: 'elsewhere', make })
    this.#goOn()
    return promise
  }

  refresh(): void {
    this.#stored.refresh()
  }

  snapshot(): TablesSnapshot {
    if (this.#state === 'closed') throw storeClosed()
    const stored = this.#stored.snapshot()
    let isReleased = false
    const beforeRead = (): void => {
      assert(!isReleased, 'a snapshot is read before it is released')
      if (this.#state === 'closed') throw storeClosed()
    }
    const layers = this.#layers.map(({ memtable }) => ({ memtable, upTo: memtable.count }))
    const layersThen = (): readonly Layer[] => {
      beforeRead()
      return layers
    }
    const tables = new Map(
      this.#names.map((name, number) => {
        const change = () => assert(false, 'a snapshot is read-only')
        const layered = new LayeredTable(number, stored.table(name))
        return [name, new JournaledTable(layered, { layers: layersThen, change })]
      }),
    )
    return {
      table: name => tableOfSnapshot(tables, name),
      release: () => {
        isReleased = true
        tables.clear()
        stored.release()
      },
    }
  }

  async backUp(directory: string): Promise<void> {
    // After this, all acknowledged writes are in the stored tables. Later writes need not wait for the copy.
    await this.elsewhere(async () => undefined)
    await this.#stored.backUp(directory)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  #goOn(): void {
    if (this.#running !== null || this.#waiting.length === 0) return
    this.#running = this.#runAll().finally(() => {
      this.#running = null
      this.#goOn()
    })
  }

  /** Runs the queued work in order. */
  async #runAll(): Promise<void> {
    // An action must never run before `write` has returned.
    await Promise.resolve()
    let since = performance.now()
    while (this.#waiting.length > 0) {
      const next = this.#waiting.shift()!
      if (next.kind === 'elsewhere') {
        await next.make()
        since = performance.now()
        continue
      }
      try {
        if (this.#journal.failure) throw this.#journal.failure
        const made = this.#make(next)
        if (made !== null) await made
      } catch (error) {
        next.refuse(error)
      }
      if (performance.now() - since < LONGEST_SLICE_MS.main) continue
      await new Promise(setImmediate)
      since = performance.now()
    }
  }

  /**
   * Writes a record to the memtable, unless nothing was changed. Returns null if the write is already
   * complete. If the method throws, nothing is changed.
   */
  #make({ run, applied }: WaitingWrite): Promise<void> | null {
    const { memtable } = this.#journal
    const { count } = memtable
    const start = this.#writeRecord(run)
    if (start !== null && !this.#journal.hasCapacity(memtable.endBytes)) {
      // Readers must not see a write that can still be rejected. Other writes wait for it.
      return this.#makeLater(start, memtable.takeBack(start, count), applied)
    }
    applied(start === null ? this.#journal.flushed() : this.#append(start))
    return null
  }

  async #makeLater(
    start: number,
    changes: readonly TableChange[],
    applied: WaitingWrite['applied'],
  ): Promise<void> {
    const bytes = changes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
    const sizeMax = bytes + changes.length * CHANGE_BYTES_MAX + RECORD_BYTES_MAX
    if (!this.#journal.mayTake(start, start + sizeMax)) await this.#beginSegment()
    // If a checkpoint starts in the meantime, the record goes into the other segment.
    const bytesNeeded = (): number => this.#journal.memtable.endBytes + sizeMax
    while (!this.#journal.hasCapacity(bytesNeeded())) await this.#makeRoom(bytesNeeded())
    const begun = this.#writeRecord(() => {
      for (const { table, key, value } of changes) this.#journal.memtable.put(table, key, value)
    })
    assert(begun !== null, 'the record has the changes of the write')
    applied(this.#append(begun))
  }

  #writeRecord(run: () => void): number | null {
    const { memtable } = this.#journal
    memtable.beginRecord(this.#journal.beginsBatch)
    this.#isWriting = true
    try {
      run()
    } catch (error) {
      memtable.abortRecord()
      throw error
    } finally {
      this.#isWriting = false
    }
    return memtable.endRecord()
  }

  #append(start: number): Promise<void> {
    const durable = this.#journal.append(start)
    this.#planCheckpoint()
    return durable
  }

  /** Throws if the previous segment cannot be written to the stored tables. */
  async #beginSegment(): Promise<void> {
    await this.#settled()
    this.#startCheckpoint()
  }

  /** Waits for the checkpoint in progress. Throws the error that made the last one fail. */
  async #settled(): Promise<void> {
    while (this.#checkpointing !== null) await this.#checkpointing
    if (this.#frozen.length > 0) throw this.#refusal
  }

  /** Throws if the disk has no space. */
  async #makeRoom(bytes: number): Promise<void> {
    if (!this.#isBegun) {
      // Until recovery has completed, the files and the mark belong to the journal of the earlier process.
      await this.#settled()
      await beginLineage(this.#stored, this.#journal.lineage)
    }
    this.#isBegun = true
    try {
      await this.#journal.makeRoom(bytes)
    } catch (cause) {
      throw cannotWrite(this.directory, cause)
    }
  }

  /** Writes everything to the stored tables. Throws the error that prevents it. */
  async #drain(): Promise<void> {
    while (this.#checkpointing !== null) await this.#checkpointing
    while (this.#frozen.length > 0 || !this.#journal.memtable.isEmpty) {
      this.#startCheckpoint()
      await this.#settled()
    }
  }

  /** Starts a checkpoint if it is due. A checkpoint in progress schedules the next one itself. */
  #planCheckpoint(): void {
    if (this.#frozen.length > 0 || this.#journal.memtable.isEmpty) return
    if (this.#journal.memtable.endBytes >= this.#checkpointBytes) this.#startCheckpoint()
    else this.#timer ??= setTimeout(() => this.#startCheckpoint(), CHECKPOINT_MS).unref()
  }

  /** Starts a checkpoint of the memtables that an earlier one left, or otherwise of the current memtable. */
  #startCheckpoint(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#checkpointing !== null) return
    if (this.#frozen.length === 0) {
      const { memtable } = this.#journal
      if (memtable.isEmpty) return
      this.#frozen = [{ memtable, generation: memtable.generation, endBytes: memtable.endBytes }]
      this.#journal.rotate()
      this.#showLayers()
    }
    this.#checkpointing = this.#checkpoint(segment => this.#writeStored(segment)).finally(() => {
      this.#checkpointing = null
      this.#planCheckpoint()
    })
  }

  /** Never rejects: `#refusal` contains the reason of a failure. */
  async #checkpoint(writeStored: (segment: SegmentEnd) => Promise<void>): Promise<void> {
    // During recovery, the frozen memtables contain the segments of an earlier process.
    const isRecovery = !this.#isBegun
    try {
      await this.#journal.flushed()
      for (const segment of this.#frozen) {
        if (this.#refusal !== null && !isRecovery) await this.#journal.mend(segment.memtable)
        await writeStored(segment)
      }
      if (isRecovery) await removeSegments(this.directory)
      if (isRecovery && this.#refusal !== null)
        this.#log.info(
          { directory: this.directory },
          'the journal was written to the tables: changes are accepted again',
        )
      this.#stored.refresh()
      this.#frozen = []
      this.#refusal = null
      this.#showLayers()
    } catch (error) {
      this.#refusal = error
      if (this.#state === 'open') this.#timer ??= setTimeout(() => this.#startCheckpoint(), RETRY_MS).unref()
    }
  }

  /**
   * Writes the segments of an earlier process to the stored tables. If the disk rejects that, their changes
   * stay in memory, and a timer tries again. Throws every other error.
   */
  async #recover(segments: readonly ReadSegment[]): Promise<void> {
    this.#frozen = segments.map(segment => this.#frozenOf(segment))
    this.#showLayers()
    await this.#checkpoint(segment => applySegment(this.#stored, this.directory, segment))
    const refusal = this.#refusal
    if (refusal === null) return
    if (!(refusal instanceof AuthzError) || refusal.code !== 'STORE_REFUSED') {
      await this.close()
      throw refusal
    }
    const message =
      'the journal could not be written to the tables: decisions continue, changes are rejected until the disk accepts it'
    this.#log.warn({ directory: this.directory, err: refusal }, message)
  }

  #frozenOf({ generation, lineage, endBytes, changes }: ReadSegment): Frozen {
    const memtable = new Memtable({ generation, lineage, previousEndBytes: 0, tableNames: this.#names })
    for (const [name, entries] of changes) {
      this.table(name)
      const number = this.#names.indexOf(name)
      for (const [key, value] of entries) memtable.put(number, bytesOf(key), value)
    }
    return { memtable, generation, endBytes }
  }

  #showLayers(): void {
    const frozen = this.#frozen.map(({ memtable }) => present(memtable))
    this.#layers = [present(this.#journal.memtable), ...frozen.toReversed()]
  }

  async #writeStored({ generation, endBytes }: SegmentEnd): Promise<void> {
    try {
      if (this.#largeWrites)
        return await this.#largeWrites.checkpoint(this.directory, { generation, endBytes })
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error
    }
    this.#stored.refresh()
    await applySegment(this.#stored, this.directory, { generation, endBytes })
  }

  async #close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing'
    while (this.#running !== null) await this.#running
    try {
      await this.#drain()
      await this.#journal.remove()
    } catch {
      // The journal stays, and the next opening recovers from it.
      await this.#journal.close()
    }
    if (this.#timer) clearTimeout(this.#timer)
    this.#state = 'closed'
    await this.#stored.close()
  }
}

/** Creates the error. Its message is for the operator. */
function damagedJournal(directory: string, gap: string): AuthzError {
  const what = `acknowledged changes in ${directory} are lost: ${gap}`
  const message = `${what}. Restore a backup of that directory, or delete journal-0 and journal-1 there to open it without their changes`
  return new AuthzError('STORE_DAMAGED', message)
}

/** A layer with all changes of a memtable, including future ones. */
function present(memtable: Memtable): Layer {
  return { memtable, upTo: Number.POSITIVE_INFINITY }
}
