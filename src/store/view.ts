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
  /** Whether `count` shall know this list. */
  readonly counted: boolean
  /**
   * A counted list in which the oldest row of `list` stands for all of them: so that what many rows have in common is
   * listed once. `list` decides: rows in it name the same `representedIn`.
   */
  readonly representedIn?: ListName
  /**
   * A counted list that has all rows of `list`: where it is empty, so is `list`, and where it has none but a row that is
   * entering, so has `list`. Nobody need look then. Its own entry comes before this one, so that it counts that row.
   */
  readonly within?: ListName
  /**
   * While `list`, a counted one, has rows, the row in `owner` is missing from the counted list `from`, which its own entry
   * says with `unless`: so that what has none of something can be listed.
   */
  readonly displaces?: { readonly owner: ListName; readonly from: ListName }
  /** The row is not in `list` while this one, a counted one, has rows; those name it in `displaces`. */
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
  /** What is being read just now: the view itself, or one that another takes the place of when all rows are replaced. */
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

  // For loads, which must do without lists.

  /**
   * All rows that are there at the beginning, in creation order and in pieces; a row written meanwhile is as it is then. Not
   * beyond: a load that chases the newest rows may never end while commits go on.
   */
  batches(): Iterable<readonly Row[]>
  /** The rows whose keys begin with that byte, in key order. */
  beginningWith(byte: number): Iterable<Row>

  /** The view as it is now, for reads that take longer than the present lasts. */
  snapshot(): ViewSnapshot
}

/** To be released, best soon: what it shows cannot be written over meanwhile. */
export interface ViewSnapshot {
  readonly view: View
  /** Afterwards reading throws. Safe to repeat. */
  release(): void
}
