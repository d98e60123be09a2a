/** Reads an environment's records from its view: by key, by id, by list. Every call answers for the present moment. */
import type { RecordKind, RecordOf } from '#model/records.ts'
import { lists } from '#store/keyspace.ts'
import { decodeAs, KIND_BYTES } from '#store/record-codec.ts'
import type { ListName, ScanOptions, View } from '#store/view.ts'

export interface PlacedRecord<Kind extends RecordKind> {
  readonly record: RecordOf<Kind>
  readonly created: number
}

export class RecordReader {
  protected readonly view: View

  constructor(view: View) {
    this.view = view
  }

  /** The record under that row key, or null. O(log n). */
  get<Kind extends RecordKind>(kind: Kind, key: Uint8Array): RecordOf<Kind> | null {
    const row = this.view.get(key)
    return row ? decodeAs(kind, row) : null
  }

  /** The record of that kind with that id, or null; callers may send the id of anything. O(log n). */
  byId<Kind extends RecordKind>(kind: Kind, id: string): RecordOf<Kind> | null {
    for (const row of this.view.scan(lists.byId(id))) return isOfKind(kind, row) ? decodeAs(kind, row) : null
    return null
  }

  /** The records of a list in creation order. */
  *list<Kind extends RecordKind>(
    kind: Kind,
    list: ListName,
    options?: ScanOptions,
  ): Iterable<RecordOf<Kind>> {
    for (const { record } of this.placed(kind, list, options)) yield record
  }

  /** The records of several lists that share none, in creation order over all. O(lists) more a record. */
  *mergedLists<Kind extends RecordKind>(
    kind: Kind,
    listNames: readonly ListName[],
  ): Iterable<RecordOf<Kind>> {
    const sources = listNames.map(list => this.placed(kind, list)[Symbol.iterator]())
    const heads = sources.map(source => source.next())
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
      yield head.value.record
      heads[oldest] = sources[oldest]!.next()
    }
  }

  /**
   * Whether rows of something deleted are still being purged: lists may then hold records whose other side is gone,
   * so readers leave those out and count what is left one by one.
   */
  get hasPurges(): boolean {
    return this.view.count(lists.all('purge')) > 0
  }

  /** How many records a list has. O(1). */
  count(list: ListName): number {
    return this.view.count(list)
  }

  /** The records of a list with their place in creation order. */
  protected *placed<Kind extends RecordKind>(
    kind: Kind,
    list: ListName,
    options?: ScanOptions,
  ): Iterable<PlacedRecord<Kind>> {
    for (const row of this.view.scan(list, options)) {
      yield { record: decodeAs(kind, row), created: row.created }
    }
  }
}

/** Whether a row holds a record of that kind, which its key says. */
export function isOfKind(kind: RecordKind, row: { readonly key: Uint8Array }): boolean {
  return row.key[0] === KIND_BYTES[kind]
}
