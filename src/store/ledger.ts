/**
 * The ledger: the authority over one environment's rows. It takes conditional commits, gives them their order and
 * keeps the log of them. It knows keys and bytes and no domain word. Every adapter passes `test/store/contract.ts`.
 */
import type { Change } from '#model/change.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'

/** One primary row as it stands. */
export interface Row {
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** Sequence of the commit that wrote it last. */
  readonly version: number
  /**
   * The row's generation and its place in creation order: unique in the environment, ascending with the commits
   * and, within one, with the position in `put`. Overwriting a row keeps it; deleting and putting again does not.
   */
  readonly created: number
}

/** Generations of one commit: so many rows may it put, and one more. */
const CREATED_PER_COMMIT = COMMIT_ROWS_MAX + 1

/** Whether the row's generation began with the commit of that sequence. */
export function isNewIn({ created }: Row, sequence: number): boolean {
  return Math.floor(created / CREATED_PER_COMMIT) === sequence
}

/**
 * What must hold for a commit to happen: the row is absent, unwritten since `version`, or still the row created then; or nothing
 * at all was committed since `head`, whatever rows: for what rests on lists. The key of that one is empty.
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
  /** The history that the commit was made for, where it is known. In another history the commit is refused. */
  readonly epoch?: string
  /** Names the commit; one id is applied once, however often it is sent. 16 bytes, random. */
  readonly id: Uint8Array
  readonly require: readonly Requirement[]
  /** Deleted first; deleting an absent row is no error. */
  readonly delete: readonly Uint8Array[]
  /** Put after the deletes; a key deleted and put starts a new row. No key twice. */
  readonly put: readonly RowPut[]
  /** What the rows mean to the engine. Carried, not read. */
  readonly changes: readonly Change[]
}

/** A commit as the log keeps it. */
export interface Entry {
  readonly revision: Revision
  readonly id: Uint8Array
  readonly delete: readonly Uint8Array[]
  /** The rows that were put, each with its generation. */
  readonly put: readonly Row[]
  readonly changes: readonly Change[]
}

export interface Ledger {
  /** The revision of the newest durable commit. */
  head(): Promise<Revision>

  /**
   * All or nothing; durable when it resolves. A repeated id changes nothing and resolves with the revision the
   * first one got, for as long as that commit is in the log.
   *
   * Throws `ConflictError` naming the row of the first requirement that does not hold (nothing is written then), `STORE_RESET`
   * when the history is not the one it was made for, `STORE_UNAVAILABLE` when it is not known whether it was done,
   * `LIMIT_EXCEEDED` beyond `COMMIT_ROWS_MAX` rows put and deleted, `STORE_CLOSED` after `close`.
   *
   * `onApplied` is for work that goes on as soon as the view shows the commit, durable or not: it hears, at most once and
   * not after a throw, for how many milliseconds writing the commit kept this thread from everything else.
   */
  commit(commit: Commit, onApplied?: (blockedMs: number) => void): Promise<Revision>

  /**
   * Every row, in any order, in batches, for a first load; one may come twice. Rows written meanwhile may or may not be
   * among them; they do not keep it from ending. Throws `STORE_CLOSED` when the ledger closes on the way: what came so
   * far is not all.
   */
  rows(): AsyncIterable<readonly Row[]>

  /**
   * The commits after `after`, exclusive and in order: first those in the log, then each as it happens.
   *
   * Ends normally when the consumer stops or the ledger closes. Throws `REVISION_TOO_OLD` when the log no longer
   * reaches back to `after`, or to where a slow consumer stands. Throws `STORE_RESET` when `after` is of another epoch
   * or ahead of the newest commit: the history was replaced. In both cases load again from `rows`.
   */
  feed(after: Revision): AsyncIterable<Entry>

  /**
   * As `feed`, for readers that need the rows of each entry. It reads a few entries at a time, and takes nothing that was handed
   * on to those who follow. Where the log at hand does not reach back to `after`, the store's own is read.
   */
  replay(after: Revision): AsyncIterable<Entry>
}
