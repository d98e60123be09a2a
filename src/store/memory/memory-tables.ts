/**
 * Tables in memory: one ordered map per table, and an undo list for writes that throw. Nothing is written to
 * disk.
 *
 * Values are copied when they are returned, so that callers hold no reference to stored values.
 */
import { assert } from '#model/assert.ts'
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
import { entryRange } from './entry-range.ts'
import { bytesOf, textOf } from '#model/text/byte-text.ts'
import { type EntryReader, OrderedEntries } from './ordered-entries.ts'

export class MemoryTables implements Tables {
  readonly directory = null
  readonly #tables = new Map<string, MemoryTable>()
  /** Steps that undo the running write, oldest first; `null` if none is running. */
  #undo: (() => void)[] | null = null
  #lastWrite: Promise<unknown> = Promise.resolve()
  #state: 'open' | 'closing' | 'closed' = 'open'

  table(name: string): Table {
    const existing = this.#tables.get(name)
    if (existing) return existing
    const table = new MemoryTable({
      beforeRead: () => {
        if (this.#state === 'closed') throw storeClosed()
      },
      onWrite: undo => {
        assert(this.#undo, 'tables change only inside a write')
        this.#undo.push(undo)
      },
    })
    this.#tables.set(name, table)
    return table
  }

  async write<T>(action: () => T, onApplied?: () => void): Promise<T> {
    if (this.#state !== 'open') throw storeClosed()
    // As in lmdb, a write never runs before `write` returns, even if no other write is running. Callers must
    // not depend on an immediate write.
    const result = this.#lastWrite.then(() => this.#run(action))
    this.#lastWrite = result.catch(() => undefined)
    await result
    onApplied?.()
    return result
  }

  elsewhere<T>(action: (tables: Tables) => Promise<T>): Promise<T> {
    return action(this)
  }

  /** Does nothing, because no other thread uses these tables. */
  refresh(): void {}

  snapshot(): TablesSnapshot {
    let isReleased = false
    const beforeRead = () => {
      if (isReleased || this.#state === 'closed') throw storeClosed()
    }
    const copies = new Map([...this.#tables].map(([name, table]) => [name, table.snapshot(beforeRead)]))
    return {
      table: name => tableOfSnapshot(copies, name),
      release: () => {
        isReleased = true
        copies.clear()
      },
    }
  }

  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing'
    await this.#lastWrite
    this.#state = 'closed'
  }

  #run<T>(action: () => T): T {
    const undo: (() => void)[] = []
    this.#undo = undo
    try {
      return action()
    } catch (error) {
      for (const step of undo.toReversed()) step()
      throw error
    } finally {
      this.#undo = null
    }
  }
}

interface MemoryTableHooks {
  readonly beforeRead: () => void
  /** Called before each change with the step that undoes it. Throws outside a write. */
  readonly onWrite: (undo: () => void) => void
}

class MemoryReader {
  readonly #entries: EntryReader<Uint8Array>
  readonly #beforeRead: () => void

  constructor(entries: EntryReader<Uint8Array>, beforeRead: () => void) {
    this.#entries = entries
    this.#beforeRead = beforeRead
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#beforeRead()
    const value = this.#entries.get(textOf(key))
    return value && Buffer.from(value)
  }

  *range({ start, end, offset = 0 }: RangeOptions): Iterable<TableEntry> {
    this.#beforeRead()
    const upTo = end ? textOf(end) : null
    let skipped = 0
    // Skipping ignores the end, as in lmdb: entries beyond it are counted.
    for (const [key, value] of entryRange(this.#entries, textOf(start), offset > 0 ? null : upTo)) {
      if (skipped++ < offset) continue
      if (upTo !== null && key >= upTo) return
      yield { key: bytesOf(key), value: Buffer.from(value) }
      this.#beforeRead()
    }
  }
}

class MemoryTable extends MemoryReader implements Table {
  readonly #hooks: MemoryTableHooks
  readonly #entries: OrderedEntries<Uint8Array>

  constructor(hooks: MemoryTableHooks) {
    const entries = new OrderedEntries<Uint8Array>()
    super(entries, hooks.beforeRead)
    this.#hooks = hooks
    this.#entries = entries
  }

  /** Returns the current entries, unaffected by later writes. */
  snapshot(beforeRead: () => void): Table {
    const refused = () => assert(false, 'a snapshot is read-only')
    const reader = new MemoryReader(this.#entries.snapshot(), beforeRead)
    return Object.assign(reader, { put: refused, remove: refused })
  }

  put(key: Uint8Array, value: Uint8Array): void {
    assert(key.length >= 1 && key.length <= TABLE_KEY_BYTES_MAX, () => `a key of ${key.length} bytes`)
    this.#change(textOf(key), value)
  }

  remove(key: Uint8Array): void {
    this.#change(textOf(key), undefined)
  }

  #change(key: string, value: Uint8Array | undefined): void {
    const before = this.#entries.get(key)
    this.#hooks.onWrite(() => this.#set(key, before))
    this.#set(key, value)
  }

  #set(key: string, value: Uint8Array | undefined): void {
    if (value === undefined) this.#entries.delete(key)
    else this.#entries.set(key, value)
  }
}
