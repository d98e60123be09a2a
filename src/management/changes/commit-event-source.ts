/** Reports what each commit changed, in the terms of the management API. */
import type { EnvironmentScope } from '#management/drafts/context.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { decodeAs } from '#store/keyspace/record-codec.ts'
import type { LogEntry } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { changeEvents, type EventScope } from './change-events.ts'
import type { ChangeEventSource, SourceEvents } from './change-event-source.ts'
import type { StreamPosition } from './stream-position.ts'

export class CommitEventSource implements ChangeEventSource {
  readonly lingerMs = 0
  readonly seesAll = false
  readonly isRepeatable = true
  readonly #store: EnvironmentStore
  readonly #eventScope: EventScope

  constructor(store: EnvironmentStore, scope: EnvironmentScope) {
    this.#store = store
    this.#eventScope = { scope, typeKeyOf: id => this.#typeKeyOf(id) }
  }

  /** Begins at the newest commit. */
  async begin(): Promise<StreamPosition> {
    return { ...(await this.#store.ledger.head()), mark: null }
  }

  live(entry: LogEntry): SourceEvents {
    return changeEvents(entry, this.#eventScope)
  }

  replayed(entry: LogEntry): SourceEvents {
    return changeEvents(entry, this.#eventScope)
  }

  end(): void {}

  #typeKeyOf(id: string): string | null {
    for (const row of this.#store.view.scan(lists.byId(id))) return decodeAs('type', row).key
    return null
  }
}
