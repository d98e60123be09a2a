/** Tenants (contract B.6). */
import { AuthzError } from '#model/errors.ts'
import type { TenantRecord } from '#model/records.ts'
import type { Tenant, TenantCreate } from '#model/wire/tenant.ts'
import { rowKeys } from '#store/keyspace.ts'
import {
  presentInstant,
  presentScope,
  presentTimes,
  type OperationContext,
  type WriteContext,
} from './context.ts'

export function createTenant(context: WriteContext, input: { readonly body: TenantCreate }): Tenant {
  const { body } = input
  if (context.records.get('tenant', rowKeys.tenant(body.key))) {
    throw new AuthzError('DUPLICATE_ENTITY', `there is a tenant ${JSON.stringify(body.key)} already`)
  }
  const tenant: TenantRecord = {
    kind: 'tenant',
    id: context.newId(),
    key: body.key,
    name: body.name,
    description: body.description ?? null,
    attributes: body.attributes ?? null,
    createdAt: context.now,
    updatedAt: context.now,
  }
  context.records.put(tenant, { kind: 'tenant-put', tenant: tenant.key, attributes: tenant.attributes })
  return presentTenant(context, tenant)
}

export function presentTenant(context: OperationContext, tenant: TenantRecord): Tenant {
  return {
    id: tenant.id,
    key: tenant.key,
    ...presentScope(context.scope),
    ...presentTimes(tenant),
    name: tenant.name,
    description: tenant.description,
    attributes: tenant.attributes,
    last_action_at: presentInstant(tenant.createdAt),
  }
}
