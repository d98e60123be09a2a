/** Where the engines that decide live, as the services see it: told of every change, in order. */
import type { Change } from '#model/change.ts'
import type { Revision } from '#model/revision.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'

export interface IndexHost {
  /**
   * Fills a fresh engine for the environment. Nobody decides on it until `publish`; `apply` takes it further. With a
   * place, it may be kept there for a later start.
   */
  load(
    environmentId: string,
    changes: Iterable<Change>,
    revision: Revision,
    place: SnapshotPlace | null,
  ): Promise<void>
  /** Puts what was loaded last in place of the old engine, if any. Resolves when every decision is made on it. */
  publish(environmentId: string): Promise<void>
  /**
   * Applies one commit to what was loaded last. Resolves when every decision that is made on that sees it. Calls for
   * one environment come one at a time.
   */
  apply(environmentId: string, changes: readonly Change[], revision: Revision): Promise<void>
}

/** A host that can do without an environment. */
export interface ClosableIndexHost extends IndexHost {
  /**
   * Nobody decides on the environment until something is published again; who asks is told the reason. Begins at once, and
   * resolves when every thread knows the reason. Never throws. Safe to repeat, also for one that was never loaded.
   */
  close(environmentId: string, reason: string): Promise<void>
  /** Lets go of an environment's index, for which no more changes come. Safe to repeat. */
  remove(environmentId: string): Promise<void>
}

/** Asked before a commit is made, so that what is durable can be applied. */
export interface IndexRoom {
  /**
   * Holds room for the changes of a commit; returns what gives it back, to be called when it has been applied or has
   * failed. Throws `LIMIT_EXCEEDED` when the engine of the environment has no room for them.
   */
  holdRoom(environmentId: string, changes: readonly Change[]): () => void
}

/** Engines that outlive the process, so that a start need not load them. */
export interface IndexKeeper {
  /**
   * Brings back the engine that was kept there, if it is of this history, by this very release, and whole. Nobody
   * decides on it until `publish`, as if it had been loaded. Returns where it stands, null when there is none to be
   * had.
   */
  restore(environmentId: string, place: SnapshotPlace, epoch: string): Promise<Revision | null>
  /** Keeps the present engine there, when it is large enough to be worth it. Nothing must be applied meanwhile. Never throws. */
  keep(environmentId: string, place: SnapshotPlace): Promise<void>
}
