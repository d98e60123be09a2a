/** The interface of what holds the engines that decide, as the services see it. It is told of every change, in order. */
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
  /** Puts the engine that was loaded last in place of the old one, if any. Resolves when every decision is made on it. */
  publish(environmentId: string): Promise<void>
  /**
   * Applies one commit to the engine that was loaded last. Resolves when every decision made on that engine sees the
   * commit. Calls for one environment come one at a time.
   */
  apply(environmentId: string, changes: readonly Change[], revision: Revision): Promise<void>
}

/** A host that can close an environment and go on with the others. */
export interface ClosableIndexHost extends IndexHost {
  /**
   * Ends decisions on the environment until something is published again. Callers are told the reason. Begins at once, and
   * resolves when every thread knows the reason. Never throws. Safe to repeat, also for an environment that was never
   * loaded.
   */
  close(environmentId: string, reason: string): Promise<void>
  /** Drops the index of an environment for which no more changes come. Safe to repeat. */
  remove(environmentId: string): Promise<void>
}

/**
 * Hears of facts that have ended: their removals, and the newest commit that the index had then. Nobody is allowed anything by them any
 * more; they are still in the store. A fact may come twice, and another may have got a later end since.
 */
export type OnEnded = (removals: readonly Change[], sequence: number) => void

/** A host that ends facts by itself when their time has come. */
export interface EndedFacts {
  /** `onEnded` is told from now on what has ended in the index of that environment. */
  whenEnded(environmentId: string, onEnded: OnEnded): void
}

/** Asked before a commit is made, so that every commit that becomes durable can be applied. */
export interface IndexRoom {
  /**
   * Reserves room for the changes of a commit. Returns a function that gives the room back, to be called when the commit
   * has been applied or has failed. Throws `LIMIT_EXCEEDED` when the engine of the environment has no room.
   */
  holdRoom(environmentId: string, changes: readonly Change[]): () => void
}

/** Saves engines beyond the end of the process, so that a start need not load them. */
export interface IndexKeeper {
  /**
   * Restores the engine saved at `place`, if it is of this history, by this very release, and whole. Nobody decides on it
   * until `publish`, as after a load. Returns the revision that it has; null when there is no such engine.
   */
  restore(environmentId: string, place: SnapshotPlace, epoch: string): Promise<Revision | null>
  /**
   * Saves the present engine at `place`, when it is large enough to be worth it. Nothing must be applied meanwhile. Never
   * throws.
   */
  keep(environmentId: string, place: SnapshotPlace): Promise<void>
}
