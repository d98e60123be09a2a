/**
 * Maximum body size of each route, derived from its schema. Parsing a body blocks its thread for about 15 ms
 * per mebibyte. Therefore only routes that accept lists of thousands of elements allow bodies up to
 * `MAX_BODY_BYTES`. `edge/body-receiver.ts` enforces the limits.
 */
import type { TSchema } from 'typebox'
import { AuthzError } from '#model/errors.ts'
import {
  CONDITION_BYTES_MAX,
  PARTS_BODY_BYTES_MAX,
  PLAIN_BODY_BYTES_MAX,
  RESOURCE_ATTRIBUTES_FACTOR,
} from '#model/limits.ts'
import type { Route } from './route.ts'

/** Names of fields that contain the elements of a bulk or batch. */
const ELEMENTS = ['operations', 'idents', 'evaluations']
/** Names of fields that contain a list of parts, which are written together with the entity in the body. */
const PARTS = ['actions', 'roles', 'permissions', 'role_assignments', 'granted_to', 'mapping_rules']
/** Names of fields that contain a condition. */
const CONDITIONS = ['conditions']
/**
 * Factor between the size of stored content and the maximum size of its body. It allows for escapes and
 * whitespace in the JSON.
 */
const ROOM_FACTOR = 4
/**
 * If a body is too long, but not longer than this multiple of the limit, it is received completely. The
 * client then gets the 413 response.
 */
const DISCARD_FACTOR = 4

/**
 * Returns the routes with the maximum size of their bodies. `attributesBytesMax`: value of the setting that
 * limits stored attributes. Every body must be able to contain attributes of this size.
 */
export function withBodyLimits(routes: readonly Route[], attributesBytesMax: number): Route[] {
  const plain = Math.max(PLAIN_BODY_BYTES_MAX, ROOM_FACTOR * attributesBytesMax)
  const parts = Math.max(PARTS_BODY_BYTES_MAX, ROOM_FACTOR * RESOURCE_ATTRIBUTES_FACTOR * attributesBytesMax)
  const conditions = Math.max(plain, ROOM_FACTOR * CONDITION_BYTES_MAX)
  const ceilingOf = (schema: TSchema): number => {
    if (hasField(schema, PARTS)) return parts
    return hasField(schema, CONDITIONS) ? conditions : plain
  }
  return routes.map(route => {
    const schema = route.body?.shape.schema
    if (schema === undefined || isOfMany(schema)) return route
    return { ...route, bodyBytesMax: ceilingOf(schema) }
  })
}

/**
 * Number of bytes above the limit that are received and discarded before the connection is closed. If a
 * client is still sending when the connection is closed, it does not get the response with the reason.
 * `bodyBytesMax`: limit for the bodies of all routes.
 */
export function discardedBytesMax(bodyBytesMax: number): number {
  return DISCARD_FACTOR * bodyBytesMax
}

export function bodyTooLarge(bytesMax: number): AuthzError {
  return new AuthzError('BODY_TOO_LARGE', `a body can have at most ${bytesMax} bytes`, { limit: 'body' })
}

function isOfMany(schema: TSchema): boolean {
  return 'items' in schema || hasField(schema, ELEMENTS)
}

function hasField(schema: TSchema, names: readonly string[]): boolean {
  const { properties } = schema as { readonly properties?: object }
  return properties !== undefined && names.some(name => Object.hasOwn(properties, name))
}
