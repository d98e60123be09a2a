/**
 * The ledger: the source of truth for the rows of one environment. The ledger accepts conditional commits,
 * orders them and keeps their log. It stores keys and bytes without interpreting them. Every adapter passes
 * `test/store/contract.ts`.
 */
import type { Change } from '#model/change.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'

/** The current state of one primary row. */
export interface Row {
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** Sequence of the commit that last wrote the row. */
  readonly version: number
  /**
   * Generation of the row, which is also its position in creation order. It is unique in the environment. It
   * is greater for later commits and, within a commit, for later positions in `put`. Overwriting a row keeps
   * its generation. Deleting and putting the row again begins a new one.
   */
  readonly created: number
}

/** Number of generations per commit: the maximum number of rows that a commit can put, plus one. */
const CREATED_PER_COMMIT = COMMIT_ROWS_MAX + 1

/** Whether the generation of the row began with the commit that has this sequence. */
export function isNewIn({ created }: Row, sequence: number): boolean {
  return Math.floor(created / CREATED_PER_COMMIT) === sequence
}

/**
 * Precondition of a commit: the row is absent, unchanged since `version`, or still the row of the generation
 * `created`. The form with `head` requires that no commit was made after the commit with this sequence. It is
 * for commits that require unchanged lists, and its key is empty.
 */
export type Requirement =
  | { readonly key: Uint8Array; readonly head: number }
  | { readonly key: Uint8Array; readonly absent: true }
  | { readonly key: Uint8Array; readonly version: number }
  | { readonly key: Uint8Array; readonly created: number }

export interface RowPut {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export interface Commit {
  /**
   * Epoch for which the commit was made, if known. If the ledger has another epoch, it rejects the commit.
   */
  readonly epoch?: string
  /** Id of the commit: 16 random bytes. A commit that is sent repeatedly with the same id is applied once. */
  readonly id: Uint8Array
  readonly require: readonly Requirement[]
  /** Keys to delete. Deletes are applied before puts. Deleting an absent row is not an error. */
  readonly delete: readonly Uint8Array[]
  /** Rows to put. If a key is both deleted and put, a new row begins. A key must not occur twice. */
  readonly put: readonly RowPut[]
  /** Meaning of the rows for the engine. The ledger passes the changes on without interpreting them. */
  readonly changes: readonly Change[]
}

/** A commit in the form in which the log contains it. */
export interface LogEntry {
  readonly revision: Revision
  readonly id: Uint8Array
  readonly delete: readonly Uint8Array[]
  /** The rows that were put, each with its generation. */
  readonly put: readonly Row[]
  readonly changes: readonly Change[]
}

export interface Ledger {
  /** Returns the revision of the newest durable commit. */
  head(): Promise<Revision>

  /**
   * Makes a commit, which is atomic and is durable when the promise resolves. If the id is repeated while the
   * log contains its commit, nothing changes, and the promise resolves with the revision of the first call.
   *
   * Throws `ConflictError` with the row of the first precondition that does not hold (nothing is written
   * then), `STORE_RESET` if the commit was made for another epoch, `STORE_UNAVAILABLE` if the outcome is
   * unknown, `LIMIT_EXCEEDED` for more than `COMMIT_ROWS_MAX` rows put and deleted, and `STORE_CLOSED` after
   * `close`.
   *
   * `onApplied` is for work that can continue as soon as the view shows the commit, even before the commit is
   * durable. It is called at most once, and is not called if this method throws. It receives the milliseconds
   * for which writing the commit blocked this thread.
   */
  commit(commit: Commit, onApplied?: (blockedMs: number) => void): Promise<Revision>

  /**
   * Yields all rows for a first load, in batches and in any order. A row can occur twice. Rows that are
   * written during the iteration might or might not be included, and do not delay its end. Throws
   * `STORE_CLOSED` if the ledger closes before the end: the rows delivered so far are then incomplete.
   */
  rows(): AsyncIterable<readonly Row[]>

  /**
   * Yields the commits that follow the revision `after`, in order: first the commits in the log, then each
   * new one.
   *
   * Ends normally when the consumer stops or the ledger closes. Throws `REVISION_TOO_OLD` if the log no
   * longer contains the commit after `after`, or after the position of a slow consumer. Throws `STORE_RESET`
   * if `after` belongs to another epoch or is ahead of the newest commit: the epoch was replaced. In both
   * cases, load again from `rows`.
   */
  feed(after: Revision): AsyncIterable<LogEntry>

  /**
   * Like `feed`, for readers that need the rows of each entry. It reads a few entries at a time, and does not
   * use the commits that are kept for followers. If the local log does not contain `after`, the log of the
   * store is read.
   */
  replay(after: Revision): AsyncIterable<LogEntry>
}
