/**
 * Interface of another thread that makes writes which take long. A thread that is inside an lmdb transaction
 * cannot do anything else, so the main thread must not run a long one. The other thread writes to the same
 * tables with the same atomicity.
 */
import type { Commit, LogEntry } from './ledger.ts'

/** A complete segment of a journal: its generation and its length. */
export interface SegmentEnd {
  readonly generation: number
  readonly endBytes: number
}

export interface LargeWrites {
  /** Whether a commit is large. O(rows). */
  isLarge(commit: Pick<Commit, 'put' | 'delete'>): boolean
  /**
   * Does the same as `EmbeddedLedger.commit`, on the tables in this directory, in another thread. Resolves
   * with the sequence when the commit is durable. Rejects like `EmbeddedLedger.commit`, and with
   * `ThreadLostError` if the outcome is unknown.
   */
  commit(directory: string, commit: Commit, logEntriesMax: number): Promise<number>
  /**
   * Does the same as `LocalCopy.apply`, in another thread. Resolves when the entry is durable; rejects like
   * `commit`.
   */
  apply(directory: string, entry: LogEntry, logEntriesMax: number): Promise<void>
  /**
   * Does the same as `applySegment`, on the tables in this directory, in another thread. Rejects like
   * `applySegment`, and with `ThreadLostError`.
   */
  checkpoint(directory: string, segment: SegmentEnd): Promise<void>
}

/**
 * Thrown if no thread could write, or if the writing thread ended. The tables show whether it had completed
 * the write.
 */
export class ThreadLostError extends Error {
  override readonly name = 'ThreadLostError'
}
