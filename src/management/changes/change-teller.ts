/** What a stream of changes is made of: how entries of the log become events. */
import type { Entry } from '#store/ledger.ts'
import type { ToldChange } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import type { StreamPosition } from './stream-position.ts'

/** Events, and stops on the way: null. */
export type Telling = Generator<ToldChange | null, void, void>

export interface ChangeTeller {
  /** For how long it goes on when nobody reads any more: beginning anew may be dear. */
  readonly lingerMs: number
  /** Whether it must see the entries of which nobody hears, too. */
  readonly seesAll: boolean
  /**
   * Whether `replayed` has the same events of an entry at the same steps every time and for every filter. Otherwise a reader that catches
   * up gets all events of an entry as one part.
   */
  readonly isRepeatable: boolean
  /** Begins, or begins anew; `nextTurn` is awaited on the way. Resolves with the commit behind which `live` goes on. */
  begin(nextTurn: () => Promise<unknown>): Promise<StreamPosition>
  /** The events of the entry behind the last one, for any of these filters. Throws `OlderReleaseError`. */
  live(entry: Entry, filters: readonly ChangeFilter[]): Telling
  /** The events of an earlier entry, for a reader who catches up. Throws as `live`. */
  replayed(entry: Entry, filter: ChangeFilter): Telling
  /** Nobody reads any more. */
  end(): void
}
