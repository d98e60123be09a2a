/** AuthZEN entities as native questions (authzen.md 8). */
import { BEFORE_RULES, type Circumstances, type Query } from '#model/decision.ts'

interface Entity {
  readonly type: string
  readonly properties?: Readonly<Record<string, unknown>> | null
}

/**
 * The tenant a resource names in its properties; null lets the instance's own, or the default one, count.
 * Anything but a string is an attribute like any other.
 */
export function tenantOf(resource: Entity): string | null {
  const properties = resource.properties
  if (!properties || !Object.hasOwn(properties, 'tenant')) return null
  return typeof properties['tenant'] === 'string' ? properties['tenant'] : null
}

/** `circumstances`: what conditions may ask for beside; null where nobody does. */
export function queryOf(
  request: {
    readonly subject: { readonly id: string }
    readonly action: { readonly name: string }
    readonly resource: Entity & { readonly id?: string | null }
  },
  circumstances: Circumstances | null,
): Query {
  return {
    user: request.subject.id,
    action: request.action.name,
    type: request.resource.type,
    key: request.resource.id ?? null,
    tenant: tenantOf(request.resource),
    ...(circumstances === null ? BEFORE_RULES : { circumstances }),
  }
}
