/** Converts AuthZEN entities to native queries (authzen.md 8). */
import type { QueryContext, Query } from '#model/decision.ts'

interface Entity {
  readonly type: string
  readonly properties?: Readonly<Record<string, unknown>> | null
}

/**
 * Returns the tenant that a resource names in its properties. Null means that the tenant of the instance or
 * the default tenant applies. If the `tenant` property is not a string, it is an ordinary attribute and names
 * no tenant.
 */
export function tenantOf(resource: Entity): string | null {
  const properties = resource.properties
  if (!properties || !Object.hasOwn(properties, 'tenant')) return null
  return typeof properties['tenant'] === 'string' ? properties['tenant'] : null
}

/** `queryContext` supplies the additional values that conditions can read. */
export function queryOf(
  request: {
    readonly subject: { readonly id: string }
    readonly action: { readonly name: string }
    readonly resource: Entity & { readonly id?: string | null }
  },
  queryContext: QueryContext,
): Query {
  return {
    user: request.subject.id,
    action: request.action.name,
    type: request.resource.type,
    key: request.resource.id ?? null,
    tenant: tenantOf(request.resource),
    queryContext,
  }
}
