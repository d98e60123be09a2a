/**
 * How large the body of each route may be, by what its schema lets it hold. A body that has to be parsed stops all that its thread
 * does for some 15 ms a mebibyte, so only what lists things by the thousand may be as large as `MAX_BODY_BYTES`.
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

/** Fields that list the elements of a bulk or batch. */
const ELEMENTS = ['operations', 'idents', 'evaluations']
/** Fields that hold things which are written together with the subject of the body. */
const PARTS = ['actions', 'roles', 'permissions', 'role_assignments', 'granted_to', 'mapping_rules']
/** A field that holds a condition. */
const CONDITIONS = ['conditions']
/** Bytes of a body for each byte that is kept of it: room for escapes and blanks. */
const ROOM_FACTOR = 4
/** Bodies up to so many times the ceiling are read to their end, so that their senders get the 413. */
const DISCARD_FACTOR = 4

/**
 * The same routes with their ceilings. `attributesBytesMax` is that of the settings, since a body must be able to hold as
 * much.
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
 * How many bytes beyond the ceiling are let pass, unkept, before the connection ends: a caller who is still sending then
 * loses the answer that says why. `bodyBytesMax` is the ceiling of all routes.
 */
export function discardedBytesMax(bodyBytesMax: number): number {
  return DISCARD_FACTOR * bodyBytesMax
}

export function bodyTooLarge(bytesMax: number): AuthzError {
  return new AuthzError('BODY_TOO_LARGE', `a body may have at most ${bytesMax} bytes`, { limit: 'body' })
}

function isOfMany(schema: TSchema): boolean {
  return 'items' in schema || hasField(schema, ELEMENTS)
}

function hasField(schema: TSchema, names: readonly string[]): boolean {
  const { properties } = schema as { readonly properties?: object }
  return properties !== undefined && names.some(name => Object.hasOwn(properties, name))
}
