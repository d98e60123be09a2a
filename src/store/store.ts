/** A store: the environments it keeps, each a ledger and the view that follows it. `open-store.ts` makes one from a URL. */
import type { AuthzError } from '#model/errors.ts'
import type { Ledger } from './ledger.ts'
import type { SnapshotPlace } from './snapshot-place.ts'
import type { View } from './view.ts'

export interface EnvironmentStore {
  readonly ledger: Ledger
  readonly view: View
  /** Resolves when the view has its lists, which only one that was loaded just now may be without. */
  whenListed(): Promise<void>
  /**
   * Where to keep what is derived from the view as it is; null: nowhere. The same object as long as the view's tables are the
   * same, so another one says that they were replaced.
   */
  snapshotPlace(): SnapshotPlace | null
  /**
   * To be told when decisions rest on the tables of that `snapshotPlace`: as long as they rest on tables that others
   * have replaced, the environment grows stale.
   */
  takeOver(place: SnapshotPlace | null): void
  /** Throws `STORE_DAMAGED` while it is known that part of what is kept of it is lost: nobody may decide on it then. */
  requireWhole(): void
  /** Nobody decides on it until it is taken over again: how stale it is concerns nobody until then. */
  setAside(): void
}

export interface BeginOptions {
  /**
   * Whether an environment of which there is nothing is begun. `before-others`: unless it is known that something is kept of others,
   * which are only begun behind it. Absent: always.
   */
  readonly begin?: 'always' | 'never' | 'before-others'
  /** Told when this one has not been reached for a while, and others are: opening goes on, however long, and those are not to wait. */
  readonly onUnreachable?: (error: AuthzError) => void
}

export interface Store {
  /** Whether other processes may write to it, too; otherwise whoever had it before is gone. */
  readonly isShared: boolean
  /**
   * Opens the environment of that id. The same object for one id. One of which there is nothing is created empty, or throws
   * `STORE_DAMAGED` where it is not to be begun, since there was something of it.
   */
  environment(id: string, options?: BeginOptions): Promise<EnvironmentStore>
  /**
   * Closes the environment of that id, if it is open, and removes all that is kept of it. Whoever still reads or writes
   * it meets `STORE_CLOSED`. Safe to repeat, also after a crash half-way; removing what is not there is no error.
   */
  drop(id: string): Promise<void>
  /**
   * Removes what this process keeps of environments that are kept elsewhere, and are not among these: they were removed while
   * nobody told it.
   */
  discardCopies(options: { readonly except: ReadonlySet<string> }): void
  /**
   * Where the tables of an environment are that is not open, so that another thread can fill them; null where only this one
   * can, through the ledger.
   */
  directoryOf(id: string): string | null
  /**
   * For how long the views may have missed what others committed, that of one environment or the most behind of all: 0 for
   * one that is not open, and for a store that nobody else writes to. Milliseconds.
   */
  stalenessMs(environmentId?: string): number
  /** Whether it was opened while the ledgers were out of reach, which are elsewhere, and has not reached them yet. */
  readonly isAlone: boolean
  /** Whether what it kept is gone, and nothing has taken its place: what the views show is no longer anybody's truth. */
  isEmptied(): boolean
  /** How many histories were replaced by others under the views since it was opened. */
  replacedHistories(): number
  /** Waits no longer for a ledger that is elsewhere: whose commit is not known to be made is told so. For the end. */
  giveUp(): void
  /** Ends all feeds, finishes what is being written and lets go of the files. */
  close(): Promise<void>
}
