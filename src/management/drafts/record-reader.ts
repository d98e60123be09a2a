/**
 * Reads an environment's records from its view: by key, by id, by list. Every call returns the current state.
 * No call returns a dead record (`dead-ids.ts`); only counts of whole lists include them.
 */
import { assert } from '#model/assert.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { RecordKind, RecordOf, StoredRecord } from '#entities/records.ts'
import { isListed, lists, rowKeyOf } from '#store/keyspace/keyspace.ts'
import { decodeAs, decodeRecord, KIND_BYTES } from '#store/keyspace/record-codec.ts'
import type { Row } from '#store/ledger.ts'
import type { ListName, ScanOptions, View } from '#store/view.ts'
import { type DeadIds, isDead, JoinedDeadIds, mayBeDead, pendingDeadIds } from '#store/keyspace/dead-ids.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'

/** Maximum number of records that one reader caches. */
const KNOWN_MAX = 1_000

/** A record of a list, with its position in creation order. */
export interface ListedRecord<Kind extends RecordKind> {
  readonly record: RecordOf<Kind>
  readonly created: number
  readonly isDead: boolean
}

export class RecordReader {
  protected readonly view: View
  /** Ids that this reader's own command has removed. */
  readonly #ownDead = new Set<string>()
  /** Records found by id as of `#deadSequence`. The rows of a page mostly refer to the same few entities. */
  readonly #knownById = new Map<string, StoredRecord>()
  /** Ids of the tenants that a limited reader shows; null if the reader is not limited. */
  #tenantIds: ReadonlySet<string> | null = null
  #dead: DeadIds = this.#ownDead
  #deadSequence = -1

  constructor(view: View) {
    this.view = view
  }

  /**
   * Hides all other tenants, and everything in them, from lookups by key and by id (administration.md D3).
   * Lists are not filtered: the caller must name one of the tenants, or an entity in them.
   */
  limitTo(tenantIds: readonly string[]): void {
    this.#tenantIds = new Set(tenantIds)
  }

  /** Whether the reader serves a delegate, who is limited to tenants. */
  get isLimited(): boolean {
    return this.#tenantIds !== null
  }

  /** The record, or null if it belongs to a tenant that this reader hides. */
  protected shown<Kind extends RecordKind>(record: RecordOf<Kind> | null): RecordOf<Kind> | null {
    if (this.#tenantIds === null || record === null) return record
    const tenantId = tenantIdOf(record)
    return tenantId === null || this.#tenantIds.has(tenantId) ? record : null
  }

  /** The sequence of the state that is being read. */
  get sequence(): number {
    return this.view.sequence()
  }

  /** Sequence of the commit that last wrote a stored record. O(log n). */
  versionOf(record: StoredRecord): number {
    const row = this.view.get(rowKeyOf(record))
    assert(row, 'a requested record is stored')
    return row.version
  }

  /** The record under that row key, or null. O(log n). */
  get<Kind extends RecordKind>(kind: Kind, key: Uint8Array): RecordOf<Kind> | null {
    const row = this.view.get(key)
    const record = row ? decodeAs(kind, row) : null
    return record && !isDead(record, this.deadIds()) ? this.shown(record) : null
  }

  /** The record of that kind with that id, or null. The id may be of an entity of another kind. O(log n). */
  byId<Kind extends RecordKind>(kind: Kind, id: string): RecordOf<Kind> | null {
    const dead = this.deadIds()
    const known = this.#knownById.get(id)
    if (known) return known.kind === kind ? this.shown(known as RecordOf<Kind>) : null
    for (const row of this.view.scan(lists.byId(id))) {
      const record = isOfKind(kind, row) ? decodeAs(kind, row) : null
      if (!record || isDead(record, dead)) return null
      if (this.#knownById.size < KNOWN_MAX) this.#knownById.set(id, record)
      return this.shown(record)
    }
    return null
  }

  /** The record whose id a reference represents, or null. Ids can be written in several ways. */
  byReference<Kind extends RecordKind>(kind: Kind, reference: string): RecordOf<Kind> | null {
    const id = idFrom(reference)
    return id === null ? null : this.byId(kind, id)
  }

  /** The records of a list in creation order. */
  *list<Kind extends RecordKind>(kind: Kind, list: ListName): Iterable<RecordOf<Kind>> {
    for (const found of this.found(kind, list)) if (!found.isDead) yield found.record
  }

  /**
   * The records of several lists, in creation order over all lists. A record must not be in more than one of
   * the lists. Costs O(lists) more for each record than a single list.
   */
  *mergedLists<Kind extends RecordKind>(kind: Kind, names: readonly ListName[]): Iterable<RecordOf<Kind>> {
    for (const found of this.foundIn(kind, names)) if (!found.isDead) yield found.record
  }

  /**
   * Like `mergedLists`, but includes dead records, so that a long read can pause after any of them. A yielded
   * record is current. The next records of the other lists may have been read in an earlier event-loop
   * iteration; they are checked again before they are yielded.
   */
  *foundIn<Kind extends RecordKind>(
    kind: Kind,
    names: readonly ListName[],
    options?: ScanOptions,
  ): Iterable<ListedRecord<Kind>> {
    const sources = names.map(list => this.found(kind, list, options)[Symbol.iterator]())
    try {
      const heads = sources.map(source => source.next())
      const readAt = heads.map(() => this.view.sequence())
      for (;;) {
        let oldest = -1
        let oldestCreated = Number.POSITIVE_INFINITY
        heads.forEach((head, index) => {
          if (head.done || head.value.created >= oldestCreated) return
          oldest = index
          oldestCreated = head.value.created
        })
        const head = heads[oldest]
        if (!head || head.done) return
        const isFresh = readAt[oldest] === this.view.sequence()
        yield isFresh || this.#isStillThere(head.value.record) ? head.value : { ...head.value, isDead: true }
        heads[oldest] = sources[oldest]!.next()
        readAt[oldest] = this.view.sequence()
      }
    } finally {
      for (const source of sources) source.return?.(undefined)
    }
  }

  #isStillThere(record: StoredRecord): boolean {
    return this.get(record.kind, rowKeyOf(record))?.id === record.id
  }

  /** The rows whose keys begin with these bytes, in key order, including dead rows. O(log n + rows read). */
  storedBeginningWith(prefix: Uint8Array): Iterable<Row> {
    return this.view.beginningWith(prefix)
  }

  /**
   * The record in a row, or null if it is dead. Before the lists are built, this throws only for kinds whose
   * records can be dead.
   */
  recordIn<Kind extends RecordKind>(kind: Kind, row: Row): RecordOf<Kind> | null {
    const record = decodeAs(kind, row)
    return mayBeDead(kind) && isDead(record, this.deadIds()) ? null : record
  }

  /** Whether lists can contain dead rows, so that their counts are too high. */
  get hasDead(): boolean {
    return this.deadIds().size > 0
  }

  /** Number of rows of a list, including dead rows. O(1). */
  count(list: ListName): number {
    return this.view.count(list)
  }

  /**
   * Number of live records of a list. O(1) while no purge is running; otherwise linear in the list or in the
   * rows to be purged, whichever is smaller.
   */
  *liveCount<Kind extends RecordKind>(kind: Kind, list: ListName): Resumable<number> {
    const total = this.count(list)
    if (!this.hasDead || total === 0) return total
    const sequence = this.view.sequence()
    const waiting = yield* this.#fewerThan(total)
    if (waiting !== null) {
      const dead = yield* this.#deadAmong(waiting, list)
      // The difference is valid only if both numbers belong to one state: a purge makes both smaller while
      // the rows are counted.
      if (sequence === this.view.sequence()) return total - dead
    }
    let live = 0
    let rows = 0
    for (const { isDead: isGone } of this.found(kind, list)) {
      if (!isGone) live += 1
      if (++rows % YIELD_ROWS === 0) yield
    }
    return live
  }

  /**
   * Returns the lists that wait for their purge, or null if there are more than `total` such lists, or more
   * than `total` rows in them.
   */
  *#fewerThan(total: number): Resumable<readonly ListName[] | null> {
    const names: ListName[] = []
    let waiting = 0
    let looks = 0
    for (const { lists: left } of this.list('purge', lists.all('purge'))) {
      for (const name of left) {
        names.push(name)
        waiting += this.count(name) + 1
        if (waiting > total) return null
        if (++looks % YIELD_ROWS === 0) yield
      }
    }
    return names
  }

  /** Number of rows of `list` that are in lists that wait for their purge, without duplicates. */
  *#deadAmong(waiting: readonly ListName[], list: ListName): Resumable<number> {
    const seen = new Set<number>()
    let rows = 0
    for (const name of waiting) {
      for (const row of this.storedRows(name)) {
        if (isListed(decodeRecord(row), list)) seen.add(row.created)
        if (++rows % YIELD_ROWS === 0) yield
      }
    }
    return seen.size
  }

  /** The stored rows of a list, including dead ones. */
  storedRows(list: ListName, options?: ScanOptions): Iterable<Row> {
    return this.view.scan(list, options)
  }

  /** The `created` values of the rows of a list, including dead rows. */
  places(list: ListName, options?: ScanOptions): Iterable<number> {
    return this.view.places(list, options)
  }

  /** The records of one list, including dead ones. */
  protected *found<Kind extends RecordKind>(
    kind: Kind,
    list: ListName,
    options?: ScanOptions,
  ): Iterable<ListedRecord<Kind>> {
    for (const row of this.view.scan(list, options)) {
      const record = decodeAs(kind, row)
      yield { record, created: row.created, isDead: isDead(record, this.deadIds()) }
    }
  }

  /** Marks records with these ids, and their dependents, as dead for this reader. */
  markDead(ids: readonly string[]): void {
    for (const id of ids) this.#ownDead.add(id)
  }

  /**
   * The dead ids as of the newest commit. A read that spans several commits must not return records that one
   * of these commits removed.
   */
  protected deadIds(): DeadIds {
    const sequence = this.view.sequence()
    if (sequence !== this.#deadSequence) {
      this.#dead = new JoinedDeadIds(pendingDeadIds(this.view), this.#ownDead)
      this.#deadSequence = sequence
      this.#knownById.clear()
    }
    return this.#dead
  }
}

/** Id of the tenant to which a record belongs; null if it belongs to none. */
function tenantIdOf(record: StoredRecord): string | null {
  if (record.kind === 'tenant') return record.id
  return 'tenantId' in record ? record.tenantId : null
}

/** Whether a row has a record of that kind, according to its key. */
export function isOfKind(kind: RecordKind, row: { readonly key: Uint8Array }): boolean {
  return row.key[0] === KIND_BYTES[kind]
}
