/** Bulk operations on tenants (native.md B.11, D-26). */
import { forEachElement } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { requireTenant } from '#management/drafts/lookups.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { deleteEach } from '#management/operations/delete-each.ts'
import type { BulkIdents } from '#model/wire/references.ts'
import type { Empty } from '#model/wire/common-fields.ts'
import type { TenantsBulkCreate } from '#entities/tenant.ts'
import { addTenant } from './tenants.ts'

export function* createTenants(
  context: WriteContext,
  input: { readonly body: TenantsBulkCreate },
): Resumable<Empty> {
  yield* forEachElement(input.body.operations, ['body', 'operations'], body => void addTenant(context, body))
  return {}
}

/** A tenant that is named twice is removed once. */
export function deleteTenants(context: WriteContext, input: { readonly body: BulkIdents }): Resumable<Empty> {
  const { records } = context
  const remove = (ident: string) => {
    const tenant = requireTenant(records, ident)
    records.delete(tenant, { kind: 'tenant-removed', tenant: tenant.key })
    return { id: tenant.id, names: [tenant.key] }
  }
  return deleteEach(context, input, remove, 'tenant')
}

export const writes = { createTenants, deleteTenants }
