/** Interface of a source of change events: turns entries of the log into the events of a stream. */
import type { LogEntry } from '#store/ledger.ts'
import type { SourceEvent } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import type { StreamPosition } from './stream-position.ts'

/** Yields events, and null where the consumer can pause. */
export type SourceEvents = Generator<SourceEvent | null, void, void>

export interface ChangeEventSource {
  /** How long the source keeps running after its last reader leaves. Restarting can be expensive. */
  readonly lingerMs: number
  /** Whether the source must process all entries, including entries that no reader needs. */
  readonly seesAll: boolean
  /**
   * Whether `replayed` yields the same events of an entry at the same steps every time and for every filter.
   * Otherwise, a reader that catches up receives all events of an entry as one part.
   */
  readonly isRepeatable: boolean
  /**
   * Starts or restarts the source and awaits `nextIteration` between slices. Resolves with the commit after
   * which `live` continues.
   */
  begin(nextIteration: () => Promise<unknown>): Promise<StreamPosition>
  /** Events of the entry after the last one, for any of these filters. Throws `OlderReleaseError`. */
  live(entry: LogEntry, filters: readonly ChangeFilter[]): SourceEvents
  /** Events of an earlier entry, for a reader that catches up. Throws `OlderReleaseError`. */
  replayed(entry: LogEntry, filter: ChangeFilter): SourceEvents
  /** Called when the source is no longer needed. */
  end(): void
}
