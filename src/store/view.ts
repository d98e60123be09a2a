/**
 * The view: the rows of an environment in order, with the lists that management pages through and their
 * counts. A list is a secondary index. The view is derived state: `TableView.apply` applies commits, and
 * applying them again yields the same view.
 */
import type { Row } from './ledger.ts'

/**
 * Name of a list of rows. All names of one kind of list have the same length, so that no name is a prefix of
 * another.
 */
export type ListName = Uint8Array

/** Membership of a row in one list. A pure function of the row's key and value computes it. */
export interface ListEntry {
  readonly list: ListName
  /** Whether `count` returns the length of this list. */
  readonly counted: boolean
  /**
   * A counted list that contains only the oldest row of `list`, which represents all rows of `list` there. In
   * this way, a value that many rows share is listed once. Rows of the same `list` must have the same
   * `representedIn`.
   */
  readonly representedIn?: ListName
  /**
   * A counted superset of `list`. If it is empty, `list` is also empty. If it contains only the row that is
   * being added, `list` also has no other row. In both cases, `list` need not be read. The entry of the
   * superset must precede the entry of `list`, so that the superset already counts the added row.
   */
  readonly within?: ListName
  /**
   * While the counted list `list` has rows, the row in `owner` is excluded from the counted list `from`. The
   * entry of that row for `from` declares this with `unless`. In this way, a list can contain the entities
   * without rows of some kind, for example users without roles.
   */
  readonly displaces?: { readonly owner: ListName; readonly from: ListName }
  /**
   * Counted list. While it has rows, the row of this entry is excluded from `list`. The rows of the counted
   * list refer to the excluded row with `displaces`.
   */
  readonly unless?: ListName
}

/** Computes the lists of a row from its key and value alone. Returns no list twice. */
export type ListRule = (row: { readonly key: Uint8Array; readonly value: Uint8Array }) => readonly ListEntry[]

export interface ScanOptions {
  /**
   * Number of rows to skip. Skipping costs about 25 ns per row, but nothing if the offset is beyond the end
   * of a counted list.
   */
  readonly offset?: number
  /** Continue after the row with this `created`, exclusive. */
  readonly after?: number
}

/**
 * Interface for readers. A view that was just loaded can have its rows before its lists: `get`, `scan` and
 * `count` throw `NOT_READY` until it has both. Every call reflects the state after some commit and never a
 * part of a commit. For a `scan`, this holds only if the consumer does not await during the iteration;
 * otherwise the scan can also see later commits. A view can show a commit a moment before the feed delivers
 * the commit.
 */
export interface View {
  /**
   * The current view. It is this view, unless all rows were replaced. In that case, it is the view that
   * replaced this one.
   */
  readonly present: View
  /** Returns the sequence of the newest commit in the view. */
  sequence(): number
  get(key: Uint8Array): Row | undefined
  /**
   * Returns the `created` values of the rows of a list, in order. This costs a tenth of the time for reading
   * the rows.
   */
  places(list: ListName, options?: ScanOptions): Iterable<number>
  /** Returns the rows of a list, in creation order. */
  scan(list: ListName, options?: ScanOptions): Iterable<Row>
  /** Returns the number of rows in a counted list, or 0 for one that is not counted. O(1). */
  count(list: ListName): number

  // The following methods are for loads, which must work before the lists are built.

  /**
   * Returns all rows that exist at the beginning, in creation order and in batches. If a row is overwritten
   * during the iteration, its batch contains the state at the time of the batch. Rows that are added during
   * the iteration are not included. Otherwise a load might never end while commits continue.
   */
  batches(): Iterable<readonly Row[]>
  /**
   * Returns the rows whose keys begin with these bytes, in key order. O(log n + rows read). For some kinds of
   * rows, the keys are built together with the lists. Until then, the method throws `NOT_READY` for these
   * kinds; loads do not read them by key.
   */
  beginningWith(prefix: Uint8Array): Iterable<Row>

  /**
   * Returns the view in its current state. Use it for long reads, during which commits would change the view.
   */
  snapshot(): ViewSnapshot
}

/** A view that later commits do not change. Release it soon: the store cannot reuse its pages before that. */
export interface ViewSnapshot {
  readonly view: View
  /** Releases the snapshot. Later reads throw an error. Idempotent. */
  release(): void
}
