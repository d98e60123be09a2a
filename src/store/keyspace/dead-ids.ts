/**
 * Ids of removed entities whose dependent rows have not been purged yet. Every such row contains an id that a
 * purge names, so readers treat the row as absent. As a result, a removal is one small commit, regardless of
 * the number of dependents.
 */
import type { RecordKind, StoredRecord } from '#entities/records.ts'
import { lists } from './keyspace.ts'
import { decodeAs } from './record-codec.ts'
import type { Row } from '#store/ledger.ts'
import type { View } from '#store/view.ts'
import { idFieldsOf } from './dependences.ts'

/** Ids of removed entities. */
export type DeadIds = Pick<ReadonlySet<string>, 'has' | 'size'>

/** The dead ids of each view. All readers of an environment share one object. */
const pendingOf = new WeakMap<View, PendingDeadIds>()

/**
 * Returns the ids that pending purges name now; the next call updates the returned object. O(ids of purges
 * that were added or finished since the last call for the view). If there are none, as usual, the call costs
 * one comparison of a counter.
 */
export function pendingDeadIds(view: View): DeadIds {
  const { present } = view
  let pending = pendingOf.get(present)
  if (!pending) {
    pending = new PendingDeadIds(present)
    pendingOf.set(present, pending)
  }
  pending.follow()
  return pending
}

interface PendingPurge {
  readonly created: number
  readonly deadIds: readonly string[]
}

/**
 * The ids that the purges of a view name. A purge names the same ids as long as it exists. New purges are
 * added at the end of the list, and usually the oldest finishes first. Therefore only the two ends of the
 * list are read. If the number of known purges then differs from the count of the list, the whole list is
 * read.
 */
class PendingDeadIds implements DeadIds {
  readonly #view: View
  /** The pending purges in creation order. */
  #purges: PendingPurge[] = []
  /** Number of purges that name each id. */
  readonly #named = new Map<string, number>()
  #sequence = -1

  constructor(view: View) {
    this.#view = view
  }

  get size(): number {
    return this.#named.size
  }

  has(id: string): boolean {
    return this.#named.has(id)
  }

  follow(): void {
    const sequence = this.#view.sequence()
    if (sequence === this.#sequence) return
    this.#sequence = sequence
    const count = this.#view.count(lists.all('purge'))
    if (count > 0 || this.#purges.length > 0) this.#followEnds(count)
    if (this.#purges.length !== count) this.#readAll()
  }

  #followEnds(count: number): void {
    const [oldest = Infinity] = takeFirst(this.#view.places(lists.all('purge')))
    const gone = this.#purges.findIndex(({ created }) => created >= oldest)
    for (const purge of this.#purges.splice(0, gone < 0 ? this.#purges.length : gone)) this.#forget(purge)
    if (this.#purges.length === count) return
    this.#read(this.#purges.at(-1)?.created ?? -1)
  }

  #readAll(): void {
    this.#purges = []
    this.#named.clear()
    this.#read(-1)
  }

  #read(after: number): void {
    for (const row of this.#view.scan(lists.all('purge'), { after })) {
      const { deadIds } = decodeAs('purge', row)
      this.#purges.push({ created: row.created, deadIds })
      for (const id of deadIds) this.#named.set(id, (this.#named.get(id) ?? 0) + 1)
    }
  }

  #forget({ deadIds }: PendingPurge): void {
    for (const id of deadIds) {
      const left = this.#named.get(id)! - 1
      if (left === 0) this.#named.delete(id)
      else this.#named.set(id, left)
    }
  }
}

function takeFirst<Item>(items: Iterable<Item>): Item[] {
  for (const item of items) return [item]
  return []
}

/** The union of two sets. The second may grow. */
export class JoinedDeadIds implements DeadIds {
  readonly #pending: DeadIds
  readonly #own: DeadIds

  constructor(pending: DeadIds, own: DeadIds) {
    this.#pending = pending
    this.#own = own
  }

  /** Size of the union. An id in both sets counts twice. */
  get size(): number {
    return this.#pending.size + this.#own.size
  }

  has(id: string): boolean {
    return this.#pending.has(id) || this.#own.has(id)
  }
}

/** Returns the ids that these rows of purges name. */
export function deadIdsIn(purges: Iterable<Row>): Set<string> {
  const dead = new Set<string>()
  for (const row of purges) for (const id of decodeAs('purge', row).deadIds) dead.add(id)
  return dead
}

/** Whether records of this kind are purged after the removal of the entity to which they belong. */
export function mayBeDead(kind: RecordKind): boolean {
  return idFieldsOf(kind).length > 0
}

/**
 * Whether a record is dead or belongs to a dead entity. Rows of types, users and tenants are deleted
 * immediately and are never dead.
 */
export function isDead(record: StoredRecord, dead: DeadIds): boolean {
  if (dead.size === 0) return false
  const fields = idFieldsOf(record.kind)
  if (fields.length === 0) return false
  const ids = record as unknown as Readonly<Record<string, string | null>>
  for (const field of fields) {
    const id = ids[field]!
    if (id !== null && dead.has(id)) return true
  }
  return dead.has(record.id)
}
