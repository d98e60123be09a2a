/** Operations on tenants (native.md B.6). */
import { presented, recordFrom, searchedTexts, updated } from '#entities/entity.ts'
import {
  newIdentity,
  presentIdentity,
  presentInstant,
  type ReadContext,
  type Scoped,
  type WriteContext,
} from '#management/drafts/context.ts'
import { requireTenant } from '#management/drafts/lookups.ts'
import { arrayOrEnvelope, type Page, pageOfLists } from '#management/paging/paging.ts'
import { dependantsOf, removeDependants } from '#management/drafts/removal.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { attributeFilter, pageOfSelection, searchFilter } from '#management/paging/selection.ts'
import { AuthzError } from '#model/errors.ts'
import type { TenantRecord } from '#entities/records.ts'
import type { Paging } from '#model/wire/paging.ts'
import {
  type Tenant,
  TENANT,
  type TenantCreate,
  type TenantsQuery,
  type TenantUpdate,
} from '#entities/tenant.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'

interface TenantParams {
  readonly tenant_id: string
}

export function createTenant(context: WriteContext, input: { readonly body: TenantCreate }): Tenant {
  return presentTenant(context, addTenant(context, input.body))
}

/** Adds a tenant. Throws `DUPLICATE_ENTITY` if the key is in use. */
export function addTenant(context: WriteContext, body: TenantCreate): TenantRecord {
  if (context.records.get('tenant', rowKeys.tenant(body.key))) {
    throw new AuthzError('DUPLICATE_ENTITY', `there is a tenant ${JSON.stringify(body.key)} already`)
  }
  const tenant: TenantRecord = {
    kind: 'tenant',
    ...newIdentity(context, body.key),
    ...recordFrom(TENANT, body),
  }
  putTenant(context, tenant)
  return tenant
}

/** Writes a tenant and notifies the engine. */
function putTenant(context: WriteContext, tenant: TenantRecord): void {
  context.records.put(tenant, { kind: 'tenant-put', tenant: tenant.key, attributes: tenant.attributes })
}

export function getTenant(context: ReadContext, input: { readonly params: TenantParams }): Tenant {
  return presentTenant(context, requireTenant(context.records, input.params.tenant_id))
}

export function* listTenants(
  context: ReadContext,
  input: { readonly query: TenantsQuery },
): Resumable<Page<Tenant> | Tenant[]> {
  const { search, attributes, include_total_count: hasTotal = false } = input.query
  const page = yield* pageOfSelection(context.records, {
    kind: 'tenant',
    all: lists.all('tenant'),
    filters: [
      searchFilter(search, (tenant: TenantRecord) => searchedTexts(TENANT, tenant)),
      attributeFilter(attributes),
    ],
    paging: input.query,
    hasTotal,
    present: tenant => presentTenant(context, tenant),
  })
  return arrayOrEnvelope(page, hasTotal)
}

/** This environment's part of a list over several environments (native.md B.14). */
export function listTenantsEverywhere(
  context: ReadContext,
  input: { readonly query: Paging },
): Resumable<Page<Tenant>> {
  return pageOfLists(context.records, {
    kind: 'tenant',
    lists: [lists.all('tenant')],
    paging: input.query,
    matches: null,
    present: tenant => presentTenant(context, tenant),
  })
}

/** Updates a tenant. Each field in the body replaces the whole old value, and null clears it. */
export function updateTenant(
  context: WriteContext,
  input: { readonly params: TenantParams; readonly body: TenantUpdate },
): Tenant {
  const tenant = requireTenant(context.records, input.params.tenant_id)
  const changed = { ...tenant, ...updated(TENANT, tenant, input.body), updatedAt: context.now }
  putTenant(context, changed)
  return presentTenant(context, changed)
}

export function deleteTenant(context: WriteContext, input: { readonly params: TenantParams }): void {
  removeTenant(context, requireTenant(context.records, input.params.tenant_id))
}

/**
 * Removes a tenant with all its content: instances, including groups, tuples and assignments (native.md C.7).
 */
export function removeTenant(context: WriteContext, tenant: TenantRecord): void {
  context.records.delete(tenant, { kind: 'tenant-removed', tenant: tenant.key })
  removeDependants(context, [dependantsOf(tenant)])
}

export function presentTenant({ scope }: Scoped, tenant: TenantRecord): Tenant {
  return {
    ...presentIdentity(scope, tenant),
    ...presented(TENANT, tenant),
    last_action_at: presentInstant(tenant.createdAt),
  }
}

export const reads = { getTenant, listTenants, listTenantsEverywhere }

export const writes = { createTenant, deleteTenant, updateTenant }
