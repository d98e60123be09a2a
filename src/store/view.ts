/**
 * The view: an environment's rows in order, with the lists that management reads page through and their counts.
 * Derived state: `TableView.apply` feeds it commits, and feeding it the same ones again gives the same view.
 */
import type { Row } from './ledger.ts'

/** Names a list of rows: fixed-length bytes per kind of list, so that no name is the beginning of another. */
export type ListName = Uint8Array

/** A row's membership in one list. A pure function of the row's key and value computes them. */
export interface ListEntry {
  readonly list: ListName
  /** Whether `count` can tell the length of this list. */
  readonly counted: boolean
  /**
   * A counted list in which the oldest row of `list` stands for all rows of `list`. So what many rows have in common is
   * listed once. Rows of the same `list` name the same `representedIn`.
   */
  readonly representedIn?: ListName
  /**
   * A counted superset of `list`. If it is empty, so is `list`. If it has only the row that is entering, `list` has no
   * other row either. In both cases `list` need not be read. The entry of the superset comes before this one, so that it
   * counts the entering row.
   */
  readonly within?: ListName
  /**
   * While the counted list `list` has rows, the row in `owner` is left out of the counted list `from`. That row's own entry
   * for `from` says so with `unless`. So things that have none of something can be listed.
   */
  readonly displaces?: { readonly owner: ListName; readonly from: ListName }
  /** The row is left out of `list` while this counted list has rows. Those rows name it in `displaces`. */
  readonly unless?: ListName
}

/** Computes the lists a row is in, from its key and value alone. Names no list twice. */
export type ListRule = (row: { readonly key: Uint8Array; readonly value: Uint8Array }) => readonly ListEntry[]

export interface ScanOptions {
  /** Rows to skip. Costs about 25 ns each; past the end of a counted list, nothing. */
  readonly offset?: number
  /** Continue after the row created there, exclusive. */
  readonly after?: number
}

/**
 * What readers see. A view that was loaded only just now may have its rows before its lists: `get`, `scan` and `count` throw
 * `NOT_READY` until it has both. Every call answers for one moment between commits; a `scan` does when it is consumed in one go,
 * across an await it may meet later commits. A commit may show up here a moment before the feed has it.
 */
export interface View {
  /** The view that is read at present: this one, or the one that took its place when all rows were replaced. */
  readonly present: View
  /** Sequence of the newest commit in the view. */
  sequence(): number
  get(key: Uint8Array): Row | undefined
  /** The places (`created`) of a list's rows, in order: a tenth of what reading the rows costs. */
  places(list: ListName, options?: ScanOptions): Iterable<number>
  /** The rows of a list, in creation order. */
  scan(list: ListName, options?: ScanOptions): Iterable<Row>
  /** Number of rows in a counted list; 0 for one that is not counted. O(1). */
  count(list: ListName): number

  // For loads, which must work without lists.

  /**
   * All rows that are there at the beginning, in creation order and in pieces. A row that is overwritten meanwhile comes as
   * it is then. Rows added later do not come: a load that chases the newest rows may never end while commits go on.
   */
  batches(): Iterable<readonly Row[]>
  /**
   * The rows whose keys begin with these bytes, in key order. O(log n), and what is read of them. For kinds of rows whose keys come with
   * the lists it throws `NOT_READY` until then; loads ask for none of these.
   */
  beginningWith(prefix: Uint8Array): Iterable<Row>

  /** The view at this moment, for reads that take longer than the view stays unchanged. */
  snapshot(): ViewSnapshot
}

/** Release it soon: the pages that it shows cannot be used again before. */
export interface ViewSnapshot {
  readonly view: View
  /** Afterwards reading throws. Safe to repeat. */
  release(): void
}
