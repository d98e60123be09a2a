/**
 * Maximum body size of each route, derived from its schema. Parsing a body blocks its thread for about 15 ms
 * per mebibyte. Therefore only routes that accept thousands of list elements allow bodies up to
 * `MAX_BODY_BYTES`.
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

/** Fields that contain the elements of a bulk or batch. */
const ELEMENTS = ['operations', 'idents', 'evaluations']
/** Fields that contain entities which are written together with the subject of the body. */
const PARTS = ['actions', 'roles', 'permissions', 'role_assignments', 'granted_to', 'mapping_rules']
/** Fields that contain a condition. */
const CONDITIONS = ['conditions']
/** Ratio of the size of a body to the size of its stored content. Allows for escapes and whitespace. */
const ROOM_FACTOR = 4
/**
 * Bodies of up to this multiple of the limit are received completely, so that their clients get the 413
 * response.
 */
const DISCARD_FACTOR = 4

/**
 * Returns the routes with their limits. `attributesBytesMax`: value of the setting. A body must be able to
 * contain attributes of this size.
 */
export function withBodyCeilings(routes: readonly Route[], attributesBytesMax: number): Route[] {
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
 * Number of bytes above the limit that are received and discarded before the connection ends. A client that
 * is still sending when the connection ends does not get the response with the reason. `bodyBytesMax`: limit
 * for all routes.
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
