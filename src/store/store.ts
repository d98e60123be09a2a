/** A store: the environments it keeps, each a ledger and the view that follows it. `open-store.ts` makes one from a URL. */
import type { AuthzError } from '#model/errors.ts'
import type { Ledger } from './ledger.ts'
import type { NodeBoard } from './node-board.ts'
import type { SnapshotPlace } from './snapshot-place.ts'
import type { View } from './view.ts'

export interface EnvironmentStore {
  readonly ledger: Ledger
  readonly view: View
  /**
   * Resolves when the view shows all that was committed before the call, by whomever. Throws what a commit throws where the store
   * cannot be asked, and `STORE_REFUSED` when the view does not come to show it.
   */
  caughtUp(): Promise<void>
  /** Resolves when the view has its lists. Only a view that was loaded just now may be without. */
  whenListed(): Promise<void>
  /**
   * Where to keep what is derived from the view as it is; null: nowhere. It is the same object as long as the view's tables
   * are the same, so another object means that the tables were replaced.
   */
  snapshotPlace(): SnapshotPlace | null
  /**
   * Called when decisions rest on the tables of that `snapshotPlace`. While they rest on tables that others have replaced,
   * the environment grows stale.
   */
  takeOver(place: SnapshotPlace | null): void
  /** Throws `STORE_DAMAGED` while part of the stored environment is known to be lost: nobody may decide on it then. */
  requireWhole(): void
  /** Nobody decides on the environment until `takeOver` is called again. Until then its staleness does not count. */
  setAside(): void
}

export interface BeginOptions {
  /**
   * Whether an environment of which there is nothing is begun. `before-others`: it is begun unless others are known to
   * exist, since those begin only after it. Absent: always.
   */
  readonly begin?: 'always' | 'never' | 'before-others'
  /**
   * Told when this environment has not been reached for a while but others have. Opening goes on, however long, and the
   * others are not to wait for it.
   */
  readonly onUnreachable?: (error: AuthzError) => void
}

export interface Store {
  /** Whether other processes may write to the store, too. Otherwise any earlier process that had it is gone. */
  readonly isShared: boolean
  /** Where the nodes on the store say that they live; null where there is one at most. */
  readonly nodeBoard: NodeBoard | null
  /**
   * Opens the environment of that id. Returns the same object for the same id. An environment of which there is nothing is
   * created empty; where `begin` forbids that, throws `STORE_DAMAGED`, since there was something of it.
   */
  environment(id: string, options?: BeginOptions): Promise<EnvironmentStore>
  /**
   * Closes the environment of that id, if it is open, and removes all that is stored of it. Readers and writers that still
   * use it get `STORE_CLOSED`. Safe to repeat, also after a crash half-way and for an environment that is not there.
   */
  drop(id: string): Promise<void>
  /**
   * Removes the local copies of environments that are not among `except`: they were removed from the shared store while
   * this process was not told.
   */
  discardCopies(options: { readonly except: ReadonlySet<string> }): void
  /**
   * Where the tables of an environment are that is not open, so that another thread can fill them; null where they can be
   * filled only through the ledger.
   */
  directoryOf(id: string): string | null
  /**
   * For how long the view of that environment may have missed what others committed; without an id, that of the environment
   * furthest behind. 0 for an environment that is not open, and for a store that nobody else writes to. Milliseconds.
   */
  stalenessMs(environmentId?: string): number
  /**
   * Whether the store was opened on local copies while the shared ledgers were out of reach, and has not reached them yet.
   */
  readonly isAlone: boolean
  /**
   * Whether the shared store has lost its contents and nothing has taken their place: the views show what nobody holds as
   * the truth any more.
   */
  isEmptied(): boolean
  /** How many histories were replaced by others under the views since it was opened. */
  replacedHistories(): number
  /** Waits no longer for shared ledgers. Commits whose outcome is unknown are answered so. For the end of the process. */
  giveUp(): void
  /**
   * Makes an empty directory beside the tables, for a backup; what a crash leaves of it goes at the next start. Throws
   * `INVALID_INPUT` where the store is not on a disk of its own.
   */
  backupDirectory(): string
  /**
   * Writes the tables of that environment, as of one moment, into `<directory>/<id>`. Throws `STORE_DAMAGED` where there are no
   * such tables, and as `backupDirectory`.
   */
  backUp(id: string, directory: string): Promise<void>
  /** Ends all feeds, finishes writes under way and releases the files. */
  close(): Promise<void>
}
