/**
 * A change being made. A draft reads like the view, sees its own writes, and remembers what it read, so that its commit
 * holds only if nothing it relied on has changed meanwhile. One draft serves one run of one command.
 *
 * What a read requires: a record that is only referred to must still be the same one (same generation, or still absent). A
 * record that is overwritten or removed, or whose content decided something (`requireUnchanged`), must be unwritten since.
 * Lists are read without a requirement: code that decides by a list says in a comment why that is safe. `resting` is for what
 * requires all it reads as it is, lists, too.
 *
 * A dead record (`dead-ids.ts`) is absent here, too; a record put under its key starts a new generation. A command that
 * relies on an instance relies on its tenant and its type, too: those may be removed without a change of the instance's own
 * row.
 */
import { assert } from '#model/assert.ts'
import { type Change, isOfSchema, type TakenAlong } from '#model/change.ts'
import type { RecordKind, RecordOf, StoredRecord } from '#model/records.ts'
import { runAtOnce } from '#model/resumable.ts'
import { isListed, lists, recordsBegin, rowKeyOf } from '#store/keyspace/keyspace.ts'
import { textOf } from '#model/byte-text.ts'
import { decodeAs, decodeRecord, encodeRecord } from '#store/keyspace/record-codec.ts'
import type { Commit, Requirement, Row, RowPut } from '#store/ledger.ts'
import type { ListName, ScanOptions, View } from '#store/view.ts'
import { checkAttributes } from './attribute-ceilings.ts'
import { isDead } from './dead-ids.ts'
import { type Found, isOfKind, RecordReader } from './record-reader.ts'
import { isResumable, type Resumable, YIELD_ROWS } from './resumable.ts'

/** The key of a requirement that is about no row. */
const NO_ROW = new Uint8Array(0)

interface Pending {
  readonly key: Uint8Array
  /** The row as the view had it when the draft first met it. */
  readonly row: Row | null
  /** The record in that row, decoded when it is first needed; it may be dead. */
  stored: StoredRecord | null
  /** The record as the draft leaves it; null: absent. */
  record: StoredRecord | null
  written: boolean
  /** Whether the commit needs the row unwritten, not just of the same generation. */
  contentMatters: boolean
  /** Whether the row was deleted on the way, so that a new generation starts. */
  restarted: boolean
  /** The record as the draft first met it; null: absent. */
  readonly met: StoredRecord | null
}

type Watcher = (before: StoredRecord | null, after: StoredRecord | null) => void

export class Draft extends RecordReader {
  readonly #pending = new Map<string, Pending>()
  /**
   * The same rows by kind. A command that builds a schema reads many short lists, and must not go through all rows for
   * each.
   */
  readonly #pendingOfKind = new Map<number, Map<string, Pending>>()
  readonly #pendingById = new Map<string, Pending>()
  readonly #watchers = new Map<RecordKind, Watcher>()
  readonly #changes: Change[] = []
  /** Where among the changes the removal of a thing is, by its id. */
  readonly #removals = new Map<string, number>()
  readonly #attributesBytesMax: number
  /** Whether the commit comes to require all that is read now as it is. */
  #isResting = false
  /** Whether a list was read so. */
  #restsOnLists = false
  /** The sequence of the state whose lists the commit requires; null: it requires none. */
  #listsOf: number | null = null

  /** `attributesBytesMax` is for drafts that write records of callers. */
  constructor(view: View, attributesBytesMax = Number.POSITIVE_INFINITY) {
    super(view)
    this.#attributesBytesMax = attributesBytesMax
  }

  override get<Kind extends RecordKind>(kind: Kind, key: Uint8Array): RecordOf<Kind> | null {
    const met = this.#meet(kind, key)
    if (this.#isResting) met.contentMatters = true
    return met.record as RecordOf<Kind> | null
  }

  /**
   * Runs `read`, and makes the commit hold only if it would read the same again: no record that it met was written since, and,
   * if it read a list, nothing else was committed at all.
   */
  *resting<Answer>(read: () => Answer | Resumable<Answer>): Resumable<Answer> {
    assert(!this.#isResting, 'a draft rests on one reading at a time')
    // Of the state in which it begins: lists that it reads after a stop may be of a later one, and the commit then loses.
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

  /** Makes the commit hold only if `record` is unwritten since: for a decision that rests on its content. */
  requireUnchanged(record: StoredRecord): void {
    this.#meet(record.kind, rowKeyOf(record)).contentMatters = true
  }

  override byId<Kind extends RecordKind>(kind: Kind, id: string): RecordOf<Kind> | null {
    const pending = this.#pendingById.get(id)
    if (pending) {
      const { record } = pending
      if (this.#isResting) pending.contentMatters = true
      return record?.id === id && record.kind === kind ? (record as RecordOf<Kind>) : null
    }
    for (const row of this.view.scan(lists.byId(id))) {
      return isOfKind(kind, row) ? this.get(kind, row.key) : null
    }
    return null
  }

  protected override *found<Kind extends RecordKind>(
    kind: Kind,
    list: ListName,
    options?: ScanOptions,
  ): Iterable<Found<Kind>> {
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
    // Records that the draft adds are the newest of the list.
    for (const pending of this.#ofKind(kind)) {
      const isNew = pending.written && (pending.row === null || pending.restarted)
      if (isNew && isPendingIn(pending, list)) {
        const record = pending.record as RecordOf<Kind>
        yield { record, created: Number.MAX_SAFE_INTEGER, isDead: isDead(record, this.deadIds()) }
      }
    }
  }

  /** Is called by each reading of a list. */
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
   * Goes through a list with a stop after each record. `each` gets the record as it is at that moment, and may write.
   * Records that others add meanwhile are not visited: whoever adds a mention of a thing writes that thing (`touch`).
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

  /** The record under a key if it is alive. The commit does not come to require anything of it. */
  #storedRecord<Kind extends RecordKind>(kind: Kind, key: Uint8Array): RecordOf<Kind> | null {
    const row = this.view.get(key)
    const record = row ? decodeAs(kind, row) : null
    return record && !isDead(record, this.deadIds()) ? record : null
  }

  /**
   * Writes `record` again as it is. Every command that rests on its content, or is about to remove it, runs again then. For
   * commands that add a mention of the record, which a removal under way could not have seen.
   */
  touch(record: StoredRecord): void {
    const pending = this.#meet(record.kind, rowKeyOf(record))
    assert(pending.record !== null, `a draft touches what is there, and this ${record.kind} is not`)
    pending.written = true
    pending.contentMatters = true
  }

  /** Leaves out the rows that this draft has written. */
  override *storedRows(list: ListName, options?: ScanOptions): Iterable<Row> {
    this.#noteList()
    for (const row of this.view.scan(list, options))
      if (!this.#pending.get(textOf(row.key))?.written) yield row
  }

  /**
   * Calls `watcher` for each record of that kind that the draft puts or deletes from now on, before it does: with the record as
   * it is and as it will be, null for an absent one. So what is computed from a draft can be kept until the draft changes it. A
   * kind has one watcher.
   */
  watch<Kind extends RecordKind>(
    kind: Kind,
    watcher: (before: RecordOf<Kind> | null, after: RecordOf<Kind> | null) => void,
  ): void {
    assert(!this.#watchers.has(kind), `a draft has one watcher of a kind, and ${kind} has it`)
    this.#watchers.set(kind, watcher as Watcher)
  }

  /** Removes a stored row, whatever it holds: for purges, which decide by the list it is in. */
  discard(row: Row): void {
    const { key } = row
    const name = textOf(key)
    // What the list says of the row holds as long as the row is of the same generation.
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

  /** Whether another record is stored under that key, of an earlier generation than the new one. */
  replacesStored(key: Uint8Array): boolean {
    const pending = this.#pending.get(textOf(key))
    return pending !== undefined && pending.restarted
  }

  /** Creates the record, or overwrites the one under its key. Throws `LIMIT_EXCEEDED` for attributes that are too large. */
  put(record: StoredRecord, ...changes: readonly Change[]): void {
    const pending = this.#meet(record.kind, rowKeyOf(record))
    checkAttributes(record, pending.record, this.#attributesBytesMax)
    this.#watchers.get(record.kind)?.(pending.record, record)
    pending.record = record
    this.#pendingById.set(record.id, pending)
    pending.written = true
    pending.contentMatters = true
    for (const change of changes) {
      // A removal that comes before is that of another thing of the same key.
      this.#changes.push(change.kind.endsWith('-put') ? { ...change, id: record.id } : change)
    }
  }

  /** Removes a record that is there. */
  delete(record: StoredRecord, ...changes: readonly Change[]): void {
    const pending = this.#meet(record.kind, rowKeyOf(record))
    assert(pending.record !== null, `a draft deletes what is there, and this ${record.kind} is not`)
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

  /** Tells with the removal of the first of these things that is told of how much went with them all. */
  tellTaken(removedIds: readonly string[], took: TakenAlong): void {
    if (Object.keys(took).length === 0) return
    for (const id of removedIds) {
      const at = this.#removals.get(id)
      if (at === undefined) continue
      this.#changes[at] = { ...this.#changes[at]!, took }
      return
    }
  }

  /** Whether this draft removes a record of that kind that is stored. O(those of the kind that it has met). */
  removes(kind: RecordKind): boolean {
    for (const { row, record, written } of this.#ofKind(kind)) {
      if (written && row !== null && record === null) return true
    }
    return false
  }

  /** The records of that kind that this draft writes or removes: as they are stored, and as it leaves them; null for none. */
  *written<Kind extends RecordKind>(
    kind: Kind,
  ): Iterable<readonly [before: RecordOf<Kind> | null, after: RecordOf<Kind> | null]> {
    for (const pending of this.#ofKind(kind)) {
      if (!pending.written) continue
      yield [storedIn(pending) as RecordOf<Kind> | null, pending.record as RecordOf<Kind> | null]
    }
  }

  /** The records of that kind that this draft has read, written or removed, each as it is now; a removed one as it was. */
  *met<Kind extends RecordKind>(kind: Kind): Iterable<RecordOf<Kind>> {
    for (const { met, record } of this.#ofKind(kind)) {
      if (record !== null) yield record as RecordOf<Kind>
      if (met !== null && met.id !== record?.id) yield met as RecordOf<Kind>
    }
  }

  /** How many rows of a list are stored, whatever this draft changes. O(1). */
  storedCount(list: ListName): number {
    return this.view.count(list)
  }

  /** The changes that the commit will tell the engine, so far. */
  get changes(): readonly Change[] {
    return this.#changes
  }

  /** Whether there is anything to commit. */
  get isEmpty(): boolean {
    for (const pending of this.#pending.values()) if (pending.written) return false
    return true
  }

  /** The commit this draft has become, under a fresh commit id. */
  toCommit(id: Uint8Array): Commit {
    return runAtOnce(this.commitInSlices(id))
  }

  /** The same with a stop every few rows. Nothing may be written into the draft afterwards. */
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
    // An engine compiles the schema before it takes in facts (`docs/engine-schema.md`). No command adds a fact about a thing that it
    // removes and makes again, so facts mean the same after all changes of the schema.
    const told = this.#changes.map(change => withRow(change, rowOf))
    const changes = [...told.filter(isOfSchema), ...told.filter(each => !isOfSchema(each))]
    return { id, require, put, delete: remove, changes }
  }

  #keep(name: string, pending: Pending): void {
    this.#pending.set(name, pending)
    const kind = pending.key[0]!
    const known = this.#pendingOfKind.get(kind)
    if (known) known.set(name, pending)
    else this.#pendingOfKind.set(kind, new Map([[name, pending]]))
  }

  #ofKind(kind: RecordKind): Iterable<Pending> {
    return this.#pendingOfKind.get(recordsBegin(kind))?.values() ?? []
  }

  #meet(kind: RecordKind, key: Uint8Array): Pending {
    const name = textOf(key)
    const known = this.#pending.get(name)
    if (known) return known
    const row = this.view.get(key) ?? null
    const stored = row === null ? null : decodeAs(kind, row)
    const record = stored && this.#isWhole(stored) ? stored : null
    const restarted = row !== null && record === null
    const met: Pending = {
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

  /** Whether a record is alive. What an instance lives in is looked up, and so becomes a requirement. */
  #isWhole(record: StoredRecord): boolean {
    if (isDead(record, this.deadIds())) return false
    if (record.kind !== 'instance') return true
    return this.byId('tenant', record.tenantId) !== null && this.byId('type', record.typeId) !== null
  }
}

/** A row says the id of what was put, and more. */
function withRow(change: Change, rowOf: ReadonlyMap<string, number>): Change {
  const row = change.id === undefined || !change.kind.endsWith('-put') ? undefined : rowOf.get(change.id)
  if (row === undefined) return change
  const { id: _, ...told } = change
  return { ...told, row }
}

/** What was stored when the draft first met it, decoded once. */
function storedIn(pending: Pending): StoredRecord | null {
  if (pending.row !== null) pending.stored ??= decodeRecord(pending.row)
  return pending.stored
}

function isPendingIn(pending: Pending, list: ListName): boolean {
  return pending.record !== null && isListed(pending.record, list)
}
