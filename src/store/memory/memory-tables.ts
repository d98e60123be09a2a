/**
 * Tables in memory, the reference: sorted arrays with binary search, and an undo list for writes that throw. It is
 * meant to be obviously right, not fast: a put in the middle moves everything behind it, O(n).
 *
 * Bytes are copied on the way in and out, so that nobody else holds what is stored. Nothing is ever on disk.
 */
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import {
  TABLE_KEY_BYTES_MAX,
  type RangeOptions,
  type Table,
  type TableEntry,
  type Tables,
  type TablesSnapshot,
} from '#store/tables.ts'

export class MemoryTables implements Tables {
  readonly directory = null
  readonly #tables = new Map<string, MemoryTable>()
  /** The steps that undo the running write, oldest first; `null` while none runs. */
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
        assert(this.#undo, 'tables change inside a write only')
        this.#undo.push(undo)
      },
    })
    this.#tables.set(name, table)
    return table
  }

  async write<T>(action: () => T, onApplied?: () => void): Promise<T> {
    if (this.#state !== 'open') throw storeClosed()
    // Never runs at once, even when no write runs, since lmdb does not either and callers must not rely on it.
    const result = this.#lastWrite.then(() => this.#run(action))
    this.#lastWrite = result.catch(() => undefined)
    await result
    onApplied?.()
    return result
  }

  /** No other thread has these tables. */
  refresh(): void {}

  /** O(entries): the arrays are copied, the bytes in them are not. */
  snapshot(): TablesSnapshot {
    let isReleased = false
    const hooks: TableHooks = {
      beforeRead: () => {
        if (isReleased || this.#state === 'closed') throw storeClosed()
      },
      onWrite: () => assert(false, 'a snapshot is read only'),
    }
    const copies = new Map([...this.#tables].map(([name, table]) => [name, table.copy(hooks)]))
    return {
      table: name => {
        const table = copies.get(name)
        assert(table, `the table ${name} was opened before the snapshot`)
        return table
      },
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

interface TableHooks {
  readonly beforeRead: () => void
  /** Called before each change with the step that undoes it. Throws outside a write. */
  readonly onWrite: (undo: () => void) => void
}

class MemoryTable implements Table {
  readonly #hooks: TableHooks
  /** Ascending, no two equal. A key's array stays the same object for as long as the key is there. */
  readonly #keys: Uint8Array[]
  /** The values, each at the index of its key. */
  readonly #values: Uint8Array[]

  constructor(hooks: TableHooks, keys: Uint8Array[] = [], values: Uint8Array[] = []) {
    this.#hooks = hooks
    this.#keys = keys
    this.#values = values
  }

  /** A copy with the same entries, independent from now on. */
  copy(hooks: TableHooks): MemoryTable {
    return new MemoryTable(hooks, [...this.#keys], [...this.#values])
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#hooks.beforeRead()
    const at = this.#place(key)
    return this.#has(at, key) ? this.#values[at]!.slice() : undefined
  }

  *range(options: RangeOptions): Iterable<TableEntry> {
    const { start, end, offset = 0 } = options
    this.#hooks.beforeRead()
    let at = this.#place(start) + offset
    while (at < this.#keys.length) {
      const key = this.#keys[at]!
      if (end && Buffer.compare(key, end) >= 0) return
      yield { key: key.slice(), value: this.#values[at]!.slice() }
      this.#hooks.beforeRead()
      // A write in between may have moved or removed the key: then go on with the first key after it.
      if (this.#keys[at] !== key) at = this.#place(key)
      if (this.#has(at, key)) at++
    }
  }

  put(key: Uint8Array, value: Uint8Array): void {
    assert(key.length >= 1 && key.length <= TABLE_KEY_BYTES_MAX, `a key of ${key.length} bytes`)
    const at = this.#place(key)
    const before = this.#has(at, key) ? this.#values[at] : undefined
    this.#hooks.onWrite(() => (before ? this.#set(key, before) : this.#unset(key)))
    this.#set(key.slice(), value.slice())
  }

  remove(key: Uint8Array): void {
    const at = this.#place(key)
    if (!this.#has(at, key)) return
    const [stored, value] = [this.#keys[at]!, this.#values[at]!]
    this.#hooks.onWrite(() => this.#set(stored, value))
    this.#unset(key)
  }

  #set(key: Uint8Array, value: Uint8Array): void {
    const at = this.#place(key)
    if (this.#has(at, key)) {
      this.#values[at] = value
    } else {
      this.#keys.splice(at, 0, key)
      this.#values.splice(at, 0, value)
    }
  }

  #unset(key: Uint8Array): void {
    const at = this.#place(key)
    this.#keys.splice(at, 1)
    this.#values.splice(at, 1)
  }

  #has(at: number, key: Uint8Array): boolean {
    const found = this.#keys[at]
    return found !== undefined && Buffer.compare(found, key) === 0
  }

  /** Index of the first key that is not below `key`. O(log n). */
  #place(key: Uint8Array): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (Buffer.compare(this.#keys[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function storeClosed(): AuthzError {
  return new AuthzError('STORE_CLOSED', 'the store is closed')
}
