/**
 * Reports which users gained or lost a permission in each commit. A reader that is caught up receives
 * user-resource pairs. A reader that catches up receives only the scopes to list again, because the
 * intermediate states no longer exist.
 */
import type { AccessChange } from '#model/access-change.ts'
import type { Permission } from '#model/change.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { AccessIndex } from '#replica/access-index.ts'
import type { LogEntry } from '#store/ledger.ts'
import { originOfEntry } from './change-events.ts'
import type { ChangeFilter } from './change-filter.ts'
import type { ChangeEventSource, SourceEvents } from './change-event-source.ts'
import type { StreamPosition } from './stream-position.ts'

/** Loading a large index takes seconds, and clients usually reconnect soon. */
const LINGER_MS = 30_000

export class AccessEventSource implements ChangeEventSource {
  readonly lingerMs = LINGER_MS
  readonly seesAll = true
  readonly isRepeatable = false
  readonly #index: AccessIndex

  constructor(index: AccessIndex) {
    this.#index = index
  }

  async begin(nextIteration: () => Promise<unknown>): Promise<StreamPosition> {
    return { ...(await this.#index.load(nextIteration)), mark: null }
  }

  live(entry: LogEntry, filters: readonly ChangeFilter[]): SourceEvents {
    return eventsOfWork(entry, this.#index.apply(entry, permissionsOf(filters)))
  }

  replayed(entry: LogEntry, filter: ChangeFilter): SourceEvents {
    return eventsOfWork(entry, this.#index.scopesOf(entry, permissionsOf([filter])))
  }

  end(): void {
    this.#index.drop()
  }
}

/** The permissions of all filters, without duplicates. */
function permissionsOf(filters: readonly ChangeFilter[]): Permission[] {
  const all = filters.flatMap(({ effective }) => effective ?? [])
  return [...new Map(all.map(each => [JSON.stringify([each.type, each.action]), each])).values()]
}

function* eventsOfWork(entry: LogEntry, work: Resumable<AccessChange[]>): SourceEvents {
  for (;;) {
    const step = work.next()
    if (step.done) return yield* eventsOf(entry, step.value)
    yield null
  }
}

function* eventsOf(entry: LogEntry, changes: readonly AccessChange[]): SourceEvents {
  if (changes.length === 0) return
  const origin = yield* originOfEntry(entry)
  for (const { permission, gained, lost, many } of changes) {
    const item = { ...permission, gained, lost, ...(many.length > 0 && { many }) }
    const json = (): string => JSON.stringify({ kind: 'access.changed', ...origin, item })
    yield { noun: 'access', verb: 'changed', types: [permission.type], tenant: null, permission, json }
  }
}
