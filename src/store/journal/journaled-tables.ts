/**
 * Tables whose newest writes are in memory and in a journal, and get into the stored tables behind that, many at once.
 *
 *     write ──► memtable (what reads see) ──► journal (what makes it durable) ··· checkpoint ──► stored tables
 *
 * A write changes some dozens of entries all over the trees of the stored tables. Written there at once, each would cost a page, and
 * the thread a transaction. The journal is written in order, a write of some kilobytes. Hundreds of writes reach the trees as one
 * transaction, made by another thread.
 *
 * Invariant: what is in neither the stored tables nor the journal was never answered. The memtables hold what the journal holds;
 * their entries say what is there, and not what changed, so it does no harm if the stored tables have some of it already.
 */
import { assert } from '#model/assert.ts'
import { type LargeWrites, type SegmentEnd, ThreadLostError } from '#store/large-writes.ts'
import { cannotWrite } from '#store/lmdb/disk-errors.ts'
import type { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { storeClosed } from '#store/store-closed-error.ts'
import {
  TABLE_KEY_BYTES_MAX,
  tableOfSnapshot,
  type RangeOptions,
  type Table,
  type TableEntry,
  type Tables,
  type TablesSnapshot,
} from '#store/tables.ts'
import { Journal } from './journal.ts'
import { type Layer, LayeredTable } from './layered-table.ts'
import type { Change, Memtable } from './memtable.ts'
import { applySegment, beginLineage, removeSegments, replayJournal, segmentPaths } from './replay.ts'
import { SegmentFile } from './segment-file.ts'

/** A checkpoint begins when the journal has so many bytes, or when its oldest record is so old. */
const CHECKPOINT_BYTES = 1024 * 1024
const CHECKPOINT_MS = 500
/** How long a checkpoint waits that the disk has refused. */
const RETRY_MS = 1_000
/** What a record, and a change in it, take beside keys and values, with the names of all tables. */
const RECORD_BYTES_MAX = 1_024
const CHANGE_BYTES_MAX = 16
/** Writes made without a turn of the event loop in between. */
const WRITES_AT_ONCE_MS = 4

/** What waits for its turn. */
type Waiting = WaitingWrite | WaitingElsewhere

interface WaitingWrite {
  readonly kind: 'write'
  readonly run: () => void
  /** Called when readers see the changes, with what makes them durable. */
  readonly applied: (durable: Promise<void>) => void
  readonly refuse: (error: unknown) => void
}

interface WaitingElsewhere {
  readonly kind: 'elsewhere'
  /** Never rejects. */
  readonly make: () => Promise<void>
}

export interface JournalOptions {
  /** Whether a write is on the disk when it resolves; absent: it is. Else it outlives the process, but not the machine. */
  readonly isFlushed?: boolean
  /** For tests, as what follows. */
  readonly checkpointBytes?: number
  readonly segmentFile?: (path: string) => SegmentFile
}

export class JournaledTables implements Tables {
  readonly directory: string
  readonly #stored: LmdbTables
  readonly #largeWrites: Pick<LargeWrites, 'checkpoint'> | null
  readonly #checkpointBytes: number
  readonly #tables = new Map<string, JournaledTable>()
  /** The tables' names, by their numbers. */
  readonly #names: string[] = []
  readonly #journal: Journal
  /** Whether the stored tables know of this journal. */
  #isBegun = false
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | null = null
  /** Whether a write is running. */
  #isWriting = false
  /** Memtables over the stored tables, the newest first: one more than the present one during a checkpoint. */
  #layers: readonly Layer[]
  /** What is to be written into the stored tables; null: nothing is. */
  #frozen: Memtable | null = null
  #checkpointing: Promise<void> | null = null
  /** Why the last attempt at a checkpoint failed; null: it did not. */
  #refusal: unknown = null
  #timer: NodeJS.Timeout | null = null
  #state: 'open' | 'closing' | 'closed' = 'open'
  #closed: Promise<void> | null = null

  /**
   * Opens the tables over stored ones, with what the journal of an earlier process has that they lack. `largeWrites` writes the
   * journal into the tables; null: this thread does. Closes the stored tables if it throws.
   */
  static async open(
    stored: LmdbTables,
    largeWrites: Pick<LargeWrites, 'checkpoint'> | null,
    options: JournalOptions = {},
  ): Promise<JournaledTables> {
    try {
      await replayJournal(stored, stored.directory)
      await removeSegments(stored.directory)
      return new JournaledTables(stored, largeWrites, options)
    } catch (error) {
      await stored.close()
      throw error
    }
  }

  private constructor(
    stored: LmdbTables,
    largeWrites: Pick<LargeWrites, 'checkpoint'> | null,
    { isFlushed = true, checkpointBytes = CHECKPOINT_BYTES, segmentFile }: JournalOptions,
  ) {
    this.#stored = stored
    this.directory = stored.directory
    this.#largeWrites = largeWrites
    this.#checkpointBytes = checkpointBytes
    const fileAt = segmentFile ?? (path => new SegmentFile(path, { isFlushed }))
    const [first, second] = segmentPaths(stored.directory)
    this.#journal = new Journal([fileAt(first), fileAt(second)], this.#names)
    this.#layers = [present(this.#journal.memtable)]
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
        assert(this.#isWriting, 'tables change inside a write only')
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

  /** What is in the memtables is written into the stored tables before. */
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
        const change = () => assert(false, 'a snapshot is read only')
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
    // What is acknowledged by now is in the stored tables then. What comes meanwhile need not wait for the copy.
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

  /** Lets each that waits have its turn, in their order. */
  async #runAll(): Promise<void> {
    // Never in the turn of the call.
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
        const recorded = this.#record(next.run)
        const start = recorded instanceof Promise ? await recorded : recorded
        next.applied(start === null ? this.#journal.flushed() : this.#append(start))
      } catch (error) {
        next.refuse(error)
      }
      if (performance.now() - since < WRITES_AT_ONCE_MS) continue
      await new Promise(setImmediate)
      since = performance.now()
    }
  }

  /**
   * Runs an action that writes a record into the memtable, for which there is room in the journal. Returns where the record begins,
   * or null when nothing was changed. Leaves nothing behind if it throws.
   */
  #record(run: () => void): number | null | Promise<number> {
    const { memtable } = this.#journal
    const { count } = memtable
    const start = this.#writeRecord(run)
    if (start === null || this.#journal.hasRoom(memtable.endBytes)) return start
    // Readers must not see what may be refused yet. Nothing else is written meanwhile.
    return this.#recordLater(start, memtable.takeBack(start, count))
  }

  async #recordLater(start: number, changes: readonly Change[]): Promise<number> {
    const bytes = changes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
    const sizeMax = bytes + changes.length * CHANGE_BYTES_MAX + RECORD_BYTES_MAX
    if (!this.#journal.mayTake(start, start + sizeMax)) await this.#beginSegment()
    // A checkpoint may begin meanwhile, and then the record goes into the other segment.
    const roomNeeded = (): number => this.#journal.memtable.endBytes + sizeMax
    while (!this.#journal.hasRoom(roomNeeded())) await this.#makeRoom(roomNeeded())
    const begun = this.#writeRecord(() => {
      for (const { table, key, value } of changes) this.#journal.memtable.put(table, key, value)
    })
    assert(begun !== null, 'what was changed is changed again')
    return begun
  }

  #writeRecord(run: () => void): number | null {
    const { memtable } = this.#journal
    memtable.beginRecord()
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

  /** Throws when the segment before the present one cannot be written into the stored tables. */
  async #beginSegment(): Promise<void> {
    await this.#settled()
    this.#startCheckpoint()
  }

  /** Waits for the checkpoint under way. Throws what has kept the last one from being made. */
  async #settled(): Promise<void> {
    while (this.#checkpointing !== null) await this.#checkpointing
    if (this.#frozen !== null) throw this.#refusal
  }

  /** Throws when there is none on the disk. */
  async #makeRoom(bytes: number): Promise<void> {
    if (!this.#isBegun) await beginLineage(this.#stored, this.#journal.lineage)
    this.#isBegun = true
    try {
      await this.#journal.makeRoom(bytes)
    } catch (cause) {
      throw cannotWrite(this.directory, cause)
    }
  }

  /** Brings the stored tables level. Throws what keeps them from it. */
  async #drain(): Promise<void> {
    while (this.#checkpointing !== null) await this.#checkpointing
    while (this.#frozen !== null || !this.#journal.memtable.isEmpty) {
      this.#startCheckpoint()
      await this.#settled()
    }
  }

  /** Lets a checkpoint begin when it is due, unless there is one: that plans the next when it is done. */
  #planCheckpoint(): void {
    if (this.#frozen !== null || this.#journal.memtable.isEmpty) return
    if (this.#journal.memtable.endBytes >= this.#checkpointBytes) this.#startCheckpoint()
    else this.#timer ??= setTimeout(() => this.#startCheckpoint(), CHECKPOINT_MS).unref()
  }

  /** Writes into the stored tables what was written so far, or what an earlier attempt could not. */
  #startCheckpoint(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#checkpointing !== null) return
    if (this.#frozen === null) {
      if (this.#journal.memtable.isEmpty) return
      this.#frozen = this.#journal.memtable
      this.#journal.rotate()
      this.#layers = [present(this.#journal.memtable), present(this.#frozen)]
    }
    this.#checkpointing = this.#checkpoint(this.#frozen).finally(() => {
      this.#checkpointing = null
      this.#planCheckpoint()
    })
  }

  /** Never rejects: `#refusal` says why it failed. */
  async #checkpoint(segment: Memtable): Promise<void> {
    try {
      await this.#journal.flushed()
      if (this.#refusal !== null) await this.#journal.mend(segment)
      await this.#writeStored(segment)
      this.#stored.refresh()
      this.#frozen = null
      this.#refusal = null
      this.#layers = [present(this.#journal.memtable)]
    } catch (error) {
      this.#refusal = error
      if (this.#state === 'open') this.#timer ??= setTimeout(() => this.#startCheckpoint(), RETRY_MS).unref()
    }
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
      // The journal stays, and the next opening goes on from it.
      await this.#journal.close()
    }
    if (this.#timer) clearTimeout(this.#timer)
    this.#state = 'closed'
    await this.#stored.close()
  }
}

interface TableHooks {
  /** What lies over the stored table. Throws when the tables are closed. */
  readonly layers: () => readonly Layer[]
  /** Writes a change. Throws outside of a write. */
  readonly change: (key: Uint8Array, value: Uint8Array | null) => void
}

class JournaledTable implements Table {
  readonly #layered: LayeredTable
  readonly #hooks: TableHooks

  constructor(layered: LayeredTable, hooks: TableHooks) {
    this.#layered = layered
    this.#hooks = hooks
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#layered.get(this.#hooks.layers(), key)
  }

  *range(options: RangeOptions): Iterable<TableEntry> {
    for (const entry of this.#layered.range(this.#hooks.layers(), options)) {
      yield entry
      this.#hooks.layers()
    }
  }

  put(key: Uint8Array, value: Uint8Array): void {
    assert(key.length >= 1 && key.length <= TABLE_KEY_BYTES_MAX, () => `a key of ${key.length} bytes`)
    this.#hooks.change(key, value)
  }

  remove(key: Uint8Array): void {
    assert(key.length >= 1 && key.length <= TABLE_KEY_BYTES_MAX, () => `a key of ${key.length} bytes`)
    this.#hooks.change(key, null)
  }
}

/** All that is in a memtable, and what comes. */
function present(memtable: Memtable): Layer {
  return { memtable, upTo: Number.POSITIVE_INFINITY }
}
