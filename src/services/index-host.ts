/** Where the engines that decide live, as the services see it: told of every change, in order. */
import type { Change } from '#model/change.ts'
import type { Revision } from '#model/revision.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'

export interface IndexHost {
  /**
   * Fills a fresh engine for the environment and puts it in place of the old one, if any. Resolves when every
   * decision is made on it. With a place, it may be kept there for a later start.
   */
  load(
    environmentId: string,
    changes: Iterable<Change>,
    revision: Revision,
    place: SnapshotPlace | null,
  ): Promise<void>
  /** Applies one commit. Resolves when every decision sees it. Calls for one environment come one at a time. */
  apply(environmentId: string, changes: readonly Change[], revision: Revision): Promise<void>
}

/** Engines that outlive the process, so that a start need not load them. */
export interface IndexKeeper {
  /**
   * Brings back the engine that was kept there, if it is of this history, by this very release, and whole. Nobody decides on it until
   * `publish`; `apply` takes it further. Returns where it stands, null when there is none to be had.
   */
  restore(environmentId: string, place: SnapshotPlace, epoch: string): Promise<Revision | null>
  /** Resolves when every decision is made on what was restored. */
  publish(environmentId: string): Promise<void>
  /** Keeps the present engine there, when it is large enough to be worth it. Nothing must be applied meanwhile. Never throws. */
  keep(environmentId: string, place: SnapshotPlace): Promise<void>
}
