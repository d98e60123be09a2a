/**
 * Commits that take long to write. lmdb's transaction is open for as long, and the thread that is in it can do nothing else, so
 * that what everybody waits for must not be there: another thread writes them, into the same tables and just as whole.
 */
import type { Commit, Entry } from './ledger.ts'

export interface LargeWrites {
  /** Whether a commit is large. O(rows). */
  isLarge(commit: Pick<Commit, 'put' | 'delete'>): boolean
  /**
   * What `EmbeddedLedger.commit` does on the tables in that directory, by a thread of its own. Resolves with the sequence when it
   * is durable. Rejects as that does; with `ThreadLostError` when it is not known what became of it.
   */
  commit(directory: string, commit: Commit, logEntriesMax: number): Promise<number>
  /** What `LocalCopy.apply` does there. Resolves when it is durable; rejects as `commit` does. */
  apply(directory: string, entry: Entry, logEntriesMax: number): Promise<void>
}

/** No thread could write, or the one that wrote has ended; whether it had written by then, the tables say. */
export class ThreadLostError extends Error {
  override readonly name = 'ThreadLostError'
}
