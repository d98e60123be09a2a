/** Functions that an adapter provides to the ledger contract: open, reopen and delete a ledger. */
import type { Ledger } from '#store/ledger.ts'
import type { View } from '#store/view.ts'

export interface OpenOptions {
  /** Number of entries that the log keeps, by default that of the adapter. */
  readonly logEntriesMax?: number
}

/** A ledger with its view, which has the lists of `toyRule`. */
export interface LedgerUnderTest {
  readonly ledger: Ledger
  /** The view after it has caught up with the head of the ledger. */
  view(): Promise<View>
  /** Closes the ledger and opens it again on the same data. */
  reopen(): Promise<LedgerUnderTest>
  /** Closes and deletes the ledger. Can be called twice. */
  dispose(): Promise<void>
}

export type OpenLedger = (options?: OpenOptions) => Promise<LedgerUnderTest>

export interface Exceptions {
  /** Reason why commits do not outlive the ledger. */
  readonly durability?: string
  /** Reason why the adapter does not report a commit between its application and its durability. */
  readonly onApplied?: string
}
