/**
 * A draft is a change in preparation. It reads like the view, sees its own writes, and records what it read.
 * The commit succeeds only if the requirements below hold. One draft serves one run of one command.
 *
 * Each record that is read becomes a requirement of the commit. A record that is only referenced must still
 * be the same one (same generation, or still absent). A record that is overwritten or removed, or whose
 * content is decisive (`requireUnchanged`), must not have been written since. Lists are read without a
 * requirement: code that decides by a list states in a comment why that is safe. Use `resting` for reads that
 * must not change at all, including lists.
 *
 * A dead record (`dead-ids.ts`) is absent for a draft; a record put under its key starts a new generation. A
 * command that requires an instance must also require the tenant and the type of the instance, because these
 * can be removed without a change of the row of the instance.
 */
import { assert } from '#model/assert.ts'
import { type Change, isOfSchema, type TakenAlong } from '#model/change.ts'
import type { RecordKind, RecordOf, StoredRecord } from '#entities/records.ts'
import { runAtOnce, isResumable, type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { isListed, lists, recordsBegin, rowKeyOf } from '#store/keyspace/keyspace.ts'
import { textOf } from '#model/text/byte-text.ts'
import { decodeAs, decodeRecord, encodeRecord, KIND_BYTES } from '#store/keyspace/record-codec.ts'
import type { Commit, Requirement, Row, RowPut } from '#store/ledger.ts'
import type { ListName, ScanOptions, View } from '#store/view.ts'
import { checkAttributes } from './attribute-ceilings.ts'
import { isDead } from '#store/keyspace/dead-ids.ts'
import { type ListedRecord, isOfKind, RecordReader } from './record-reader.ts'

/** The key of a requirement that is not about a row. */
const NO_ROW = new Uint8Array(0)

interface PendingRow {
  readonly key: Uint8Array
  /** The row as the view had it when the draft first read it. */
  readonly row: Row | null
  /** The record in that row, decoded on first use; it may be dead. */
  stored: StoredRecord | null
  /** The record as the draft leaves it; null if absent. */
  record: StoredRecord | null
  written: boolean
  /** Whether the commit requires an unwritten row, and not only the same generation. */
  contentMatters: boolean
  /** Whether the commit deletes the stored row first, so that a new generation starts. */
  restarted: boolean
  /** The record when the draft first read it; null if absent. */
  readonly met: StoredRecord | null
}

type Watcher = (before: StoredRecord | null, after: StoredRecord | null) => void

export class Draft extends RecordReader {
  readonly #pending = new Map<string, PendingRow>()
  /**
   * Pending rows by kind. A command that builds a schema reads many short lists and must not scan all rows
   * for each of them.
   */
  readonly #pendingOfKind = new Map<number, Map<string, PendingRow>>()
  readonly #pendingById = new Map<string, PendingRow>()
  readonly #watchers = new Map<RecordKind, Watcher>()
  readonly #changes: Change[] = []
  /** Index of the change that removes an entity, by the id of the entity. */
  readonly #removals = new Map<string, number>()
  readonly #attributesBytesMax: number
  /** Whether the commit must require everything that is read at present (`resting`). */
  #isResting = false
  /** Whether `resting` read a list. */
  #restsOnLists = false
  /** The sequence of the state whose lists the commit requires; null if it requires none. */
  #listsOf: number | null = null

  /** `attributesBytesMax` limits the attributes of records that are written for callers. */
  constructor(view: View, attributesBytesMax = Number.POSITIVE_INFINITY) {
    super(view)
    this.#attributesBytesMax = attributesBytesMax
  }

  override get<Kind extends RecordKind>(kind: Kind, key: Uint8Array): RecordOf<Kind> | null {
    return this.shown(this.#read(kind, key))
  }

  #read<Kind extends RecordKind>(kind: Kind, key: Uint8Array): RecordOf<Kind> | null {
    const met = this.#meet(kind, key)
    if (this.#isResting) met.contentMatters = true
    return met.record as RecordOf<Kind> | null
  }

  /**
   * Runs `read`. The commit succeeds only if `read` would return the same result again: no record that it
   * read was written since, and if it read a list, nothing else was committed at all.
   */
  *resting<Answer>(read: () => Answer | Resumable<Answer>): Resumable<Answer> {
    assert(!this.#isResting, 'a draft uses one read snapshot at a time')
    // A list that is read after a pause can be of a later state. The commit requires the state before `read`,
    // so it fails in that case.
    const { sequence } = this
    this.#isResting = true
    try {
      const given = read()
      return isResumable(given) ? yield* given : given
    } finally {
      this.#isResting = false
      if (this.#restsOnLists) this.#listsOf ??= sequence
    }
  }

  /**
   * Requires that `record` is not written by another command before the commit. For commands that decide by
   * the content of the record.
   */
  requireUnchanged(record: StoredRecord): void {
    this.#meet(record.kind, rowKeyOf(record)).contentMatters = true
  }

  override byId<Kind extends RecordKind>(kind: Kind, id: string): RecordOf<Kind> | null {
    return this.shown(this.#readById(kind, id))
  }

  #readById<Kind extends RecordKind>(kind: Kind, id: string): RecordOf<Kind> | null {
    const pending = this.#pendingById.get(id)
    if (pending) {
      const { record } = pending
      if (this.#isResting) pending.contentMatters = true
      return record?.id === id && record.kind === kind ? (record as RecordOf<Kind>) : null
    }
    for (const row of this.view.scan(lists.byId(id))) {
      return isOfKind(kind, row) ? this.#read(kind, row.key) : null
    }
    return null
  }

  protected override *found<Kind extends RecordKind>(
    kind: Kind,
    list: ListName,
    options?: ScanOptions,
  ): Iterable<ListedRecord<Kind>> {
    assert(!options?.offset && !options?.after, 'a draft reads its lists from the start')
    this.#noteList()
    for (const row of this.view.scan(list)) {
      const pending = this.#pending.get(textOf(row.key))
      if (!pending?.written) {
        const record = decodeAs(kind, row)
        yield { record, created: row.created, isDead: isDead(record, this.deadIds()) }
      } else if (!pending.restarted && isPendingIn(pending, list)) {
        yield { record: pending.record as RecordOf<Kind>, created: row.created, isDead: false }
      }
    }
    // Records that the draft adds come last in the list, because they are the newest.
    for (const pending of this.#ofKind(kind)) {
      const isNew = pending.written && (pending.row === null || pending.restarted)
      if (isNew && isPendingIn(pending, list)) {
        const record = pending.record as RecordOf<Kind>
        yield { record, created: Number.MAX_SAFE_INTEGER, isDead: isDead(record, this.deadIds()) }
      }
    }
  }

  /** Must be called by every method that reads a list. */
  #noteList(): void {
    if (this.#isResting) this.#restsOnLists = true
  }

  override count(list: ListName): number {
    this.#noteList()
    let count = this.view.count(list)
    for (const pending of this.#pending.values()) {
      if (!pending.written) continue
      const stored = storedIn(pending)
      if (stored !== null && isListed(stored, list)) count -= 1
      if (isPendingIn(pending, list)) count += 1
    }
    return count
  }

  /**
   * Visits the records of a list, with a pause after each record. `each` receives the record in its current
   * state and may write. Records that other commands add concurrently are not visited: a command that adds a
   * reference to an entity writes that entity (`touch`).
   */
  *visit<Kind extends RecordKind>(
    kind: Kind,
    list: ListName,
    each: (record: RecordOf<Kind>) => void,
  ): Resumable<void> {
    const keys: Uint8Array[] = []
    for (const { key } of this.view.scan(list)) {
      keys.push(key)
      if (keys.length % YIELD_ROWS === 0) yield
    }
    const stored = new Set<string>()
    for (const key of keys) {
      const name = textOf(key)
      stored.add(name)
      const pending = this.#pending.get(name)
      const record = pending ? pending.record : this.#storedRecord(kind, key)
      if (record !== null && isListed(record, list)) each(record as RecordOf<Kind>)
      yield
    }
    for (const pending of this.#ofKind(kind)) {
      if (!pending.written || stored.has(textOf(pending.key)) || !isPendingIn(pending, list)) continue
      each(pending.record as RecordOf<Kind>)
      yield
    }
  }

  /** The record under a key if it is alive. Adds no requirement to the commit. */
  #storedRecord<Kind extends RecordKind>(kind: Kind, key: Uint8Array): RecordOf<Kind> | null {
    const row = this.view.get(key)
    const record = row ? decodeAs(kind, row) : null
    return record && !isDead(record, this.deadIds()) ? record : null
  }

  /**
   * Writes `record` again without a change. This causes a conflict for every concurrent command that
   * requires the content of the record to be unchanged, or that removes the record. Commands that add a
   * reference to the record use this, because a concurrent removal of the record could not have seen the
   * reference.
   */
  touch(record: StoredRecord): void {
    const pending = this.#meet(record.kind, rowKeyOf(record))
    assert(pending.record !== null, `a draft changes existing rows, and this ${record.kind} does not exist`)
    pending.written = true
    pending.contentMatters = true
  }

  /** The stored rows of a list, without the rows that this draft has written. */
  override *storedRows(list: ListName, options?: ScanOptions): Iterable<Row> {
    this.#noteList()
    for (const row of this.view.scan(list, options))
      if (!this.#pending.get(textOf(row.key))?.written) yield row
  }

  /**
   * Registers a watcher that is called before each put or delete of a record of that kind. It receives the
   * record before and after the write; null if absent. With a watcher, a result that is computed from a draft
   * can be cached until the draft changes it. A kind has at most one watcher.
   */
  watch<Kind extends RecordKind>(
    kind: Kind,
    watcher: (before: RecordOf<Kind> | null, after: RecordOf<Kind> | null) => void,
  ): void {
    assert(!this.#watchers.has(kind), `a draft has one watcher per kind, and ${kind} has one`)
    this.#watchers.set(kind, watcher as Watcher)
  }

  /**
   * Removes a stored row without reading its record. Purges use this, because the list that contains the row
   * already determines that it must be removed.
   */
  discard(row: Row): void {
    const { key } = row
    const name = textOf(key)
    // As long as the row is of the same generation, it stays in the list, so its content is not decisive.
    const contentMatters = this.#pending.get(name)?.contentMatters ?? false
    this.#keep(name, {
      key,
      row,
      stored: null,
      record: null,
      written: true,
      contentMatters,
      restarted: true,
      met: null,
    })
  }

  /** Whether the draft replaces the stored record under this key by a record of a new generation. */
  replacesStored(key: Uint8Array): boolean {
    const pending = this.#pending.get(textOf(key))
    return pending !== undefined && pending.restarted
  }

  /**
   * Creates the record, or overwrites the one under its key. Throws `LIMIT_EXCEEDED` for attributes that are
   * too large.
   */
  put(record: StoredRecord, ...changes: readonly Change[]): void {
    const pending = this.#meet(record.kind, rowKeyOf(record))
    checkAttributes(record, pending.record, this.#attributesBytesMax)
    this.#watchers.get(record.kind)?.(pending.record, record)
    pending.record = record
    this.#pendingById.set(record.id, pending)
    pending.written = true
    pending.contentMatters = true
    for (const change of changes) {
      // A change that precedes the put is the removal of another entity with the same key, so it does not get
      // this id.
      this.#changes.push(change.kind.endsWith('-put') ? { ...change, id: record.id } : change)
    }
  }

  /** Removes an existing record. */
  delete(record: StoredRecord, ...changes: readonly Change[]): void {
    const pending = this.#meet(record.kind, rowKeyOf(record))
    assert(pending.record !== null, `a draft deletes existing rows, and this ${record.kind} does not exist`)
    this.#watchers.get(record.kind)?.(record, null)
    pending.record = null
    pending.written = true
    pending.contentMatters = true
    pending.restarted = pending.row !== null
    for (const change of changes) {
      this.#removals.set(record.id, this.#changes.length)
      this.#changes.push({ ...change, id: record.id })
    }
  }

  /**
   * Adds the number of deleted dependents to a change of the draft: to the removal change of the first of
   * these entities that has one.
   */
  noteTaken(removedIds: readonly string[], took: TakenAlong): void {
    if (Object.keys(took).length === 0) return
    for (const id of removedIds) {
      const at = this.#removals.get(id)
      if (at === undefined) continue
      this.#changes[at] = { ...this.#changes[at]!, took }
      return
    }
  }

  /** Whether this draft removes a stored record of that kind. O(records of the kind that it has read). */
  removes(kind: RecordKind): boolean {
    for (const { row, record, written } of this.#ofKind(kind)) {
      if (written && row !== null && record === null) return true
    }
    return false
  }

  /**
   * The records of that kind that this draft writes or removes: the stored record and the new one, each null
   * if absent.
   */
  *written<Kind extends RecordKind>(
    kind: Kind,
  ): Iterable<readonly [before: RecordOf<Kind> | null, after: RecordOf<Kind> | null]> {
    for (const pending of this.#ofKind(kind)) {
      if (!pending.written) continue
      yield [storedIn(pending) as RecordOf<Kind> | null, pending.record as RecordOf<Kind> | null]
    }
  }

  /** The kinds of the records that this draft writes or removes. */
  *writtenKinds(): Iterable<RecordKind> {
    for (const kind of Object.keys(KIND_BYTES) as RecordKind[]) {
      for (const { written } of this.#ofKind(kind)) {
        if (!written) continue
        yield kind
        break
      }
    }
  }

  /**
   * The records of that kind that this draft has read, written or removed, in their current state. Removed
   * records are yielded in their earlier state.
   */
  *met<Kind extends RecordKind>(kind: Kind): Iterable<RecordOf<Kind>> {
    for (const { met, record } of this.#ofKind(kind)) {
      if (record !== null) yield record as RecordOf<Kind>
      if (met !== null && met.id !== record?.id) yield met as RecordOf<Kind>
    }
  }

  /** Number of stored rows of a list, without the changes of this draft. O(1). */
  storedCount(list: ListName): number {
    return this.view.count(list)
  }

  /** The changes that the commit will send to the engine, so far. */
  get changes(): readonly Change[] {
    return this.#changes
  }

  /** Whether there is nothing to commit. */
  get isEmpty(): boolean {
    for (const pending of this.#pending.values()) if (pending.written) return false
    return true
  }

  /** The commit of this draft, under a new commit id. */
  toCommit(id: Uint8Array): Commit {
    return runAtOnce(this.commitInSlices(id))
  }

  /** Like `toCommit`, but pauses every few rows. Nothing may be written into the draft afterwards. */
  *commitInSlices(id: Uint8Array): Resumable<Commit> {
    let rows = 0
    const require: Requirement[] = this.#listsOf === null ? [] : [{ key: NO_ROW, head: this.#listsOf }]
    const put: RowPut[] = []
    const remove: Uint8Array[] = []
    const rowOf = new Map<string, number>()
    for (const { key, row, record, written, contentMatters, restarted } of this.#pending.values()) {
      if (row === null) require.push({ key, absent: true })
      else if (contentMatters) require.push({ key, version: row.version })
      else require.push({ key, created: row.created })
      if (++rows % YIELD_ROWS === 0) yield
      if (!written) continue
      if (restarted) remove.push(key)
      if (record === null) continue
      rowOf.set(record.id, put.length)
      put.push({ key, value: encodeRecord(record) })
    }
    // An engine compiles the schema before it applies facts (`docs/engine-schema.md`). No command adds a fact
    // about an entity that it removes and re-creates, so facts mean the same after all changes of the schema.
    const withRows = this.#changes.map(change => withRow(change, rowOf))
    const changes = [...withRows.filter(isOfSchema), ...withRows.filter(each => !isOfSchema(each))]
    return { id, require, put, delete: remove, changes }
  }

  #keep(name: string, pending: PendingRow): void {
    this.#pending.set(name, pending)
    const kind = pending.key[0]!
    const known = this.#pendingOfKind.get(kind)
    if (known) known.set(name, pending)
    else this.#pendingOfKind.set(kind, new Map([[name, pending]]))
  }

  #ofKind(kind: RecordKind): Iterable<PendingRow> {
    return this.#pendingOfKind.get(recordsBegin(kind))?.values() ?? []
  }

  #meet(kind: RecordKind, key: Uint8Array): PendingRow {
    const name = textOf(key)
    const known = this.#pending.get(name)
    if (known) return known
    const row = this.view.get(key) ?? null
    const stored = row === null ? null : decodeAs(kind, row)
    const record = stored && this.#isWhole(stored) ? stored : null
    const restarted = row !== null && record === null
    const met: PendingRow = {
      key,
      row,
      stored,
      record,
      written: false,
      contentMatters: false,
      restarted,
      met: record,
    }
    this.#keep(name, met)
    if (record !== null) this.#pendingById.set(record.id, met)
    return met
  }

  /**
   * Whether a record is alive. Looks up the tenant and the type of an instance, which thereby become
   * requirements.
   */
  #isWhole(record: StoredRecord): boolean {
    if (isDead(record, this.deadIds())) return false
    if (record.kind !== 'instance') return true
    // These reads are not limited. Otherwise, an instance that the draft hides would count as dead.
    return (
      this.#readById('tenant', record.tenantId) !== null && this.#readById('type', record.typeId) !== null
    )
  }
}

/**
 * Replaces the id in a put change by the index of the row of the record. The row contains the id and more.
 */
function withRow(change: Change, rowOf: ReadonlyMap<string, number>): Change {
  const row = change.id === undefined || !change.kind.endsWith('-put') ? undefined : rowOf.get(change.id)
  if (row === undefined) return change
  const { id: _, ...rest } = change
  return { ...rest, row }
}

/** The record that was stored when the draft first read it, decoded once. */
function storedIn(pending: PendingRow): StoredRecord | null {
  if (pending.row !== null) pending.stored ??= decodeRecord(pending.row)
  return pending.stored
}

function isPendingIn(pending: PendingRow, list: ListName): boolean {
  return pending.record !== null && isListed(pending.record, list)
}
