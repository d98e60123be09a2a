/** Where the engines that decide live, as the services see it: told of every change, in order. */
import type { Change } from '#model/change.ts'
import type { Revision } from '#model/revision.ts'

export interface IndexHost {
  /**
   * Fills a fresh engine for the environment and puts it in place of the old one, if any. Resolves when every
   * decision is made on it.
   */
  load(environmentId: string, changes: Iterable<Change>, revision: Revision): Promise<void>
  /** Applies one commit. Resolves when every decision sees it. Calls for one environment come one at a time. */
  apply(environmentId: string, changes: readonly Change[], revision: Revision): Promise<void>
}
