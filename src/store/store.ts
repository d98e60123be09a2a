/**
 * A store keeps environments. Each environment consists of a ledger and of the view that follows the ledger.
 * `open-store.ts` opens a store from a URL.
 */
import type { AuthzError } from '#model/errors.ts'
import type { Ledger } from './ledger.ts'
import type { NodeHeartbeats } from './node-heartbeats.ts'
import type { SnapshotPlace } from './snapshot-place.ts'
import type { View } from './view.ts'

export interface EnvironmentStore {
  readonly ledger: Ledger
  readonly view: View
  /**
   * Resolves when the view shows everything that any node committed before the call. If the store cannot be
   * reached, throws the same errors as a commit. Throws `STORE_REFUSED` if the view does not show these
   * commits in time.
   */
  caughtUp(): Promise<void>
  /**
   * Resolves when the view has its lists (secondary indexes). Only a view that was just loaded might not have
   * its lists.
   */
  whenListed(): Promise<void>
  /**
   * Returns the location for data derived from the current view, or null if there is none. Returns the same
   * object until the tables of the view are replaced.
   */
  snapshotPlace(): SnapshotPlace | null
  /**
   * Reports that decisions use the tables to which `place` belongs. While decisions use tables that have been
   * replaced, the environment becomes stale.
   */
  takeOver(place: SnapshotPlace | null): void
  /**
   * Throws `STORE_DAMAGED` while a part of the stored environment is known to be lost. The environment must
   * then make no decisions.
   */
  requireWhole(): void
  /**
   * Reports that the environment makes no decisions until `takeOver` is called again. During this time, its
   * staleness does not count.
   */
  setAside(): void
}

export interface BeginOptions {
  /**
   * Whether an environment without any data is created. Default: `always`. `before-others`: for the
   * environment that is created before all others. It is not created if other environments are known to
   * exist, because it must then have existed and its data is lost.
   */
  readonly begin?: 'always' | 'never' | 'before-others'
  /**
   * Called if this environment could not be reached for a while although other environments could. Opening
   * this environment continues without a time limit, and the others must not wait for it.
   */
  readonly onUnreachable?: (error: AuthzError) => void
}

export interface Store {
  /**
   * Whether other processes can also write to the store. If false, every earlier process that had the store
   * open has ended.
   */
  readonly isShared: boolean
  /** Heartbeats of the nodes on the store; null if there is at most one node. */
  readonly nodeHeartbeats: NodeHeartbeats | null
  /**
   * Opens the environment with this id. Returns the same object for the same id. An environment without any
   * data is created empty. If `begin` forbids this, throws `STORE_DAMAGED`, because the environment must have
   * had data.
   */
  environment(id: string, options?: BeginOptions): Promise<EnvironmentStore>
  /**
   * Closes the environment with this id, if it is open, and removes all its stored data. Remaining readers
   * and writers receive `STORE_CLOSED`. Idempotent, including after a crash in the middle and for an
   * environment that does not exist.
   */
  drop(id: string): Promise<void>
  /**
   * Removes the local replicas of environments that are not in `except`: they were removed from the shared
   * store, and this process was not notified.
   */
  discardCopies(options: { readonly except: ReadonlySet<string> }): void
  /**
   * Returns the location of the tables of an environment that is not open, so that another thread can fill
   * them, or null if they can be filled only through the ledger.
   */
  directoryOf(id: string): string | null
  /**
   * Returns for how many milliseconds the view of the environment might have missed commits of other nodes.
   * Without an id, returns the maximum of all environments. Returns 0 for an environment that is not open,
   * and if no other node writes to the store.
   */
  stalenessMs(environmentId?: string): number
  /**
   * Whether the store was opened with local replicas while the shared ledgers were not reachable, and has not
   * reached them yet.
   */
  readonly isAlone: boolean
  /**
   * Whether the shared store has lost its contents and nothing has replaced them: the views show data that no
   * store confirms.
   */
  isEmptied(): boolean
  /**
   * Returns the number of times that an epoch was replaced while a view followed it, since the store was
   * opened.
   */
  replacedHistories(): number
  /**
   * Stops waiting for shared ledgers. Callers of commits with an unknown outcome receive an error that states
   * that. For the shutdown of the process.
   */
  giveUp(): void
  /**
   * Creates an empty directory next to the tables, for a backup; if a crash leaves this directory behind, the
   * next start removes it. Throws `INVALID_INPUT` if the store is not on a disk of this node.
   */
  backupDirectory(): string
  /**
   * Writes the tables of the environment with this id, as of one moment, to `<directory>/<id>`. Throws
   * `STORE_DAMAGED` if there are no such tables, and the errors of `backupDirectory`.
   */
  backUp(id: string, directory: string): Promise<void>
  /** Ends all feeds, completes writes in progress and releases the files. */
  close(): Promise<void>
}
