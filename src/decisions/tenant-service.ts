/**
 * Serves the lists of tenants (conditions.md 10.1 and 10.2) as JSON bytes. Small lists are returned directly,
 * and others as promises. If a limit is exceeded, the methods throw or reject with `LIMIT_EXCEEDED`.
 */
import type { Query } from '#model/decision.ts'
import type { CancelableClient } from '#model/caller.ts'
import type { DecisionService } from './decision-service.ts'
import type { ListingLimits } from '#decisions/lists/listing.ts'
import { sendable } from '#decisions/questions/sendable-query.ts'

export class TenantService {
  readonly #decisions: DecisionService
  readonly #limits: ListingLimits

  constructor(
    decisions: DecisionService,
    options: { readonly listedEntriesMax: number; readonly listedBytesMax: number },
  ) {
    this.#decisions = decisions
    this.#limits = { entriesMax: options.listedEntriesMax, bytesMax: options.listedBytesMax }
  }

  /** Lists the tenants in which the query is allowed. The tenant of the query is ignored. */
  allowed(environmentId: string, query: Query, waiting: CancelableClient): Uint8Array | Promise<Uint8Array> {
    const job = { kind: 'allowed-tenants', query: sendable(query), limits: this.#limits } as const
    return this.#decisions.read<'allowed-tenants'>(environmentId, job, waiting)
  }

  /** Lists the tenants in which the user has a role. */
  heldIn(environmentId: string, user: string, waiting: CancelableClient): Uint8Array | Promise<Uint8Array> {
    const job = { kind: 'user-tenants', user, limits: this.#limits } as const
    return this.#decisions.read<'user-tenants'>(environmentId, job, waiting)
  }
}
