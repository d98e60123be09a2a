/** Reports what each commit changed, in the terms of the management API. */
import type { EnvironmentScope } from '#management/commands/context.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { decodeAs } from '#store/keyspace/record-codec.ts'
import type { Entry } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { changeEvents, type TellingScope } from './change-events.ts'
import type { ChangeTeller, Telling } from './change-teller.ts'
import type { StreamPosition } from './stream-position.ts'

export class CommitTeller implements ChangeTeller {
  readonly lingerMs = 0
  readonly seesAll = false
  readonly isRepeatable = true
  readonly #store: EnvironmentStore
  readonly #telling: TellingScope

  constructor(store: EnvironmentStore, scope: EnvironmentScope) {
    this.#store = store
    this.#telling = { scope, typeKeyOf: id => this.#typeKeyOf(id) }
  }

  /** Begins at the newest commit. */
  async begin(): Promise<StreamPosition> {
    return { ...(await this.#store.ledger.head()), mark: null }
  }

  live(entry: Entry): Telling {
    return changeEvents(entry, this.#telling)
  }

  replayed(entry: Entry): Telling {
    return changeEvents(entry, this.#telling)
  }

  end(): void {}

  #typeKeyOf(id: string): string | null {
    for (const row of this.#store.view.scan(lists.byId(id))) return decodeAs('type', row).key
    return null
  }
}
