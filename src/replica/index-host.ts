/**
 * Interface of the component that holds the decision engines, as services see it. It receives every change,
 * in order.
 */
import type { Change } from '#model/change.ts'
import type { Revision } from '#model/revision.ts'
import type { LogEntry } from '#store/ledger.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'

export interface IndexHost {
  /**
   * Fills a fresh engine for the environment. The engine makes no decisions until `publish`; `apply` updates
   * it until then. If a place is given, the engine can be saved there for a later start.
   */
  load(
    environmentId: string,
    changes: Iterable<Change>,
    revision: Revision,
    place: SnapshotPlace | null,
  ): Promise<void>
  /**
   * Replaces the current engine, if any, by the engine that was loaded last. Resolves when all decisions use
   * it.
   */
  publish(environmentId: string): Promise<void>
  /**
   * Applies one commit to the engine that was loaded last. Resolves when every decision of that engine
   * reflects the commit. Calls for one environment must not overlap. The rows of the commit are read from the
   * log when they are accessed, which must be before the promise resolves.
   */
  apply(
    environmentId: string,
    changes: readonly Change[],
    revision: Revision,
    rows: Pick<LogEntry, 'put' | 'delete'>,
  ): Promise<void>
}

/** A host that can close an environment and keep the other environments available. */
export interface ClosableIndexHost extends IndexHost {
  /**
   * Ends decisions on the environment until an engine is published again. Callers receive the reason. Takes
   * effect immediately, and resolves when every thread knows the reason. Never throws. Idempotent, and
   * allowed for an environment that was never loaded.
   */
  close(environmentId: string, reason: string): Promise<void>
  /** Drops the index of an environment that receives no more changes. Idempotent. */
  remove(environmentId: string): Promise<void>
}

/**
 * Receives expired facts: their removals, and the newest commit that the index had then. The facts no longer
 * grant access, but they are still in the store. A fact can be delivered more than once, and its expiration
 * time might have been extended since.
 */
export type OnExpired = (removals: readonly Change[], sequence: number) => void

/** A host that removes facts by itself when they expire. */
export interface ExpiryHost {
  /** From now on, `onExpired` receives the facts that expire in the index of that environment. */
  whenExpired(environmentId: string, onExpired: OnExpired): void
}

/** Checked before a commit is written, so that every durable commit can be applied. */
export interface CapacityReservation {
  /**
   * Reserves capacity for the changes of a commit. Returns a function that releases the reservation; call it
   * when the commit has been applied or has failed. Throws `LIMIT_EXCEEDED` if the engine of the environment
   * lacks the capacity.
   */
  reserveCapacity(environmentId: string, changes: readonly Change[]): () => void
}

/** Saves engines across restarts of the process, so that a start does not need to load them. */
export interface IndexKeeper {
  /**
   * Restores the engine saved at `place` if it is of this epoch, was written by this release, and is intact.
   * As after a load, it makes no decisions until `publish`. Returns its revision, or null if there is no such
   * engine.
   */
  restore(environmentId: string, place: SnapshotPlace, epoch: string): Promise<Revision | null>
  /**
   * Saves the current engine at `place` if it is large enough to be worthwhile. No change must be applied in
   * the meantime. Never throws.
   */
  keep(environmentId: string, place: SnapshotPlace): Promise<void>
}
