/**
 * The permission listings: what one user may do everywhere (contract A.4), and who may do one thing (contract A.5), as JSON in
 * bytes. Both are there at once where they are small, else promised; both throw or reject with `LIMIT_EXCEEDED` beyond a
 * ceiling.
 */
import type { UserQuestion } from '#engine/engine.ts'
import type { UserPermissionsQuery } from '#model/wire/permissions.ts'
import type { Leaver } from './decision-pool.ts'
import type { DecisionService } from './decision-service.ts'
import type { ListingLimits, PermissionFormat } from './listing.ts'

export class PermissionService {
  readonly #decisions: DecisionService
  readonly #limits: ListingLimits
  readonly #format: PermissionFormat

  constructor(
    decisions: DecisionService,
    options: {
      readonly listedEntriesMax: number
      readonly listedBytesMax: number
      readonly permissionFormat: PermissionFormat
    },
  ) {
    this.#decisions = decisions
    this.#limits = { entriesMax: options.listedEntriesMax, bytesMax: options.listedBytesMax }
    this.#format = options.permissionFormat
  }

  permissionsOf(
    environmentId: string,
    { user, tenants, resources, resource_types: types }: UserPermissionsQuery,
    waiting: Leaver,
  ): Uint8Array | Promise<Uint8Array> {
    const query = {
      user: { key: user.key },
      tenants: tenants ?? null,
      resources: resources ?? null,
      resource_types: types ?? null,
    }
    const job = { kind: 'permissions', query, limits: this.#limits, format: this.#format } as const
    return this.#decisions.read<'permissions'>(environmentId, job, waiting)
  }

  authorizedUsers(
    environmentId: string,
    question: UserQuestion,
    waiting: Leaver,
  ): Uint8Array | Promise<Uint8Array> {
    const job = { kind: 'authorized-users', question, limits: this.#limits } as const
    return this.#decisions.read<'authorized-users'>(environmentId, job, waiting)
  }
}
