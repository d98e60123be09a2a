/**
 * Serves the permission listings as JSON bytes: all permissions of one user (native.md A.4), and all users
 * with one permission (native.md A.5). Small listings are returned directly, and others as promises. If a
 * limit is exceeded, the methods throw or reject with `LIMIT_EXCEEDED`.
 */
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'
import type { AuthorizedUsersQuery, UserPermissionsQuery } from '#model/wire/decisions/permissions.ts'
import type { CancelableClient } from '#model/caller.ts'
import type { DecisionService } from './decision-service.ts'
import type { ListingLimits, PermissionFormat, PermissionsJob } from '#decisions/lists/listing.ts'
import { type Sendable, sendable } from '#decisions/questions/sendable-query.ts'
import { NativeQueryContext } from '#decisions/questions/request-attributes.ts'

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

  /**
   * Lists the permissions of a user. Rules are evaluated if the context requests it and the body names types
   * (conditions.md 8.1). `page` selects a page; `null` returns all entries. Throws `LIMIT_EXCEEDED` if the
   * page is beyond the limit.
   */
  permissionsOf(
    environmentId: string,
    body: UserPermissionsQuery,
    page: PermissionsJob['page'],
    waiting: CancelableClient,
  ): Uint8Array | Promise<Uint8Array> {
    const { user, tenants, resources, resource_types: types, context } = body
    const { entriesMax } = this.#limits
    if (page !== null && page.number * page.size > entriesMax) {
      throw new AuthzError(
        'LIMIT_EXCEEDED',
        `page ${page.number} with ${page.size} entries per page exceeds the limit of ${entriesMax} entries (MAX_LISTED_ENTRIES); filter by tenants, resources or resource_types, or use a resource search with pages`,
        { limit: 'list' },
      )
    }
    const query = {
      user: { key: user.key },
      tenants: tenants ?? null,
      resources: resources ?? null,
      resource_types: types ?? null,
    }
    const areRulesAsked = query.resource_types !== null && isSet(context, 'enable_abac_user_permissions')
    const asked = { user, action: '', resource: { type: '' }, context: context ?? null }
    const requestAttributes = areRulesAsked ? this.#requestAttributes(asked) : null
    const job = {
      kind: 'permissions',
      query,
      limits: this.#limits,
      format: this.#format,
      page,
      requestAttributes,
    } as const
    return this.#decisions.read<'permissions'>(environmentId, job, waiting)
  }

  /**
   * Lists the users with a permission. Includes users that rules allow if a flag is set: in the context, in
   * the context of the resource, or in the resource (conditions.md 8.2).
   */
  authorizedUsers(
    environmentId: string,
    { action, resource, context }: AuthorizedUsersQuery,
    waiting: CancelableClient,
  ): Uint8Array | Promise<Uint8Array> {
    const { type, tenant = null } = resource
    // Some clients send an empty key if they query the type as a whole.
    const key = resource.key || null
    const flag = 'enable_abac_authorized_users'
    const isAsked = isSet(context, flag) || isSet(resource.context, flag) || isSet(resource, flag)
    const requestAttributes = isAsked
      ? this.#requestAttributes({
          user: { key: '' },
          action,
          resource,
          context: context ?? null,
        })
      : null
    const question = { action, type, key, tenant, requestAttributes }
    const job = {
      kind: 'authorized-users',
      question,
      areRulesAsked: isAsked,
      limits: this.#limits,
    } as const
    return this.#decisions.read<'authorized-users'>(environmentId, job, waiting)
  }

  /** Returns the values that conditions can read. */
  #requestAttributes(question: AllowedQuery): Sendable<Query>['requestAttributes'] {
    const queryContext = new NativeQueryContext(question, this.#decisions.now())
    return sendable({ queryContext }).requestAttributes
  }
}

function isSet(of: Readonly<Record<string, unknown>> | null | undefined, flag: string): boolean {
  return of?.[flag] === true
}
