/** What the ledger contract asks of an adapter's test: how to open one, open it again, and be rid of it. */
import type { Ledger } from '#store/ledger.ts'
import type { View } from '#store/view.ts'

export interface OpenOptions {
  /** Entries the log keeps; absent: the adapter's default. */
  readonly logEntriesMax?: number
}

/** A ledger with its view, whose lists are those of `toyRule`. */
export interface LedgerUnderTest {
  readonly ledger: Ledger
  /** The view, once it has caught up with the ledger's head. */
  view(): Promise<View>
  /** Closes the ledger and opens it again on the same data. */
  reopen(): Promise<LedgerUnderTest>
  /** Closes and removes what the test left behind. Harmless when done twice. */
  dispose(): Promise<void>
}

export type OpenLedger = (options?: OpenOptions) => Promise<LedgerUnderTest>

export interface Exceptions {
  /** Why what is committed does not outlast the ledger. */
  readonly durability?: string
  /** Why a commit is not told of between being applied and being durable. */
  readonly onApplied?: string
}
