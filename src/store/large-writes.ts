/**
 * The interface of another thread that makes writes which take long. The thread that is in lmdb's transaction can
 * do nothing else meanwhile, so the main thread must not be in a long one. The other thread writes into the same tables,
 * just as atomically.
 */
import type { Commit, Entry } from './ledger.ts'

/** A segment of a journal that is complete: which one, and how long it is. */
export interface SegmentEnd {
  readonly generation: number
  readonly endBytes: number
}

export interface LargeWrites {
  /** Whether a commit is large. O(rows). */
  isLarge(commit: Pick<Commit, 'put' | 'delete'>): boolean
  /**
   * Does what `EmbeddedLedger.commit` does, on the tables in that directory, in another thread. Resolves with the sequence
   * when the commit is durable. Rejects as `EmbeddedLedger.commit` does, and with `ThreadLostError` when its outcome is
   * unknown.
   */
  commit(directory: string, commit: Commit, logEntriesMax: number): Promise<number>
  /** Does what `LocalCopy.apply` does, in another thread. Resolves when the entry is durable; rejects as `commit` does. */
  apply(directory: string, entry: Entry, logEntriesMax: number): Promise<void>
  /**
   * Does what `applySegment` does, on the tables in that directory, in another thread. Rejects as it does, and with
   * `ThreadLostError`.
   */
  checkpoint(directory: string, segment: SegmentEnd): Promise<void>
}

/** No thread could write, or the thread that wrote has ended. The tables show whether it had written by then. */
export class ThreadLostError extends Error {
  override readonly name = 'ThreadLostError'
}
