/** Fields that many API schemas share: levels, texts, ids, times, attributes and scopes (native.md B.1). */
import { type Static, Type, type TSchema } from 'typebox'
import { TEXT_LENGTH_MAX } from '#model/limits.ts'
import { ACCESS_LEVELS } from '#model/principal.ts'

/** Level of a key (administration.md K1). */
export const AccessLevel = Type.Enum(ACCESS_LEVELS, {
  description: 'Level of a key. Each level includes all before it.',
})

export const Name = Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'Display name.' })

export const Text = Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'Free text.' })

export const Uuid = Type.String({ format: 'uuid', description: 'Id that the service generated.' })

/** Text for descriptions and messages that states the format of a time. */
export const MOMENT_FORM = 'an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z'

/** A time in the format of RFC 3339. Leap seconds are not valid, because JavaScript does not support them. */
export function moment(description: string) {
  return Type.Refine(
    Type.String({ format: 'date-time', description }),
    text => !Number.isNaN(Date.parse(text)),
    () => 'must be a time with seconds from 00 to 59',
  )
}

export const Timestamp = moment('Time in UTC.')

/** The last time whose year has only four digits. */
const MOMENT_MAX = Date.UTC(10_000, 0) - 1

/**
 * Expiration time of a grant. A time in the past is rejected when a grant is created, but not in an import.
 */
export function expiryMoment(description: string) {
  return Type.Refine(
    Type.String({ format: 'date-time', description }),
    text => {
      const end = Date.parse(text)
      return end >= 0 && end <= MOMENT_MAX
    },
    () => 'must be a time in the years 1970 to 9999 in UTC, with seconds from 00 to 59',
  )
}

/** Field for the expiration time in requests that create a grant. */
export const endField = {
  expires_at: optional(
    expiryMoment(
      'Expiration time with millisecond precision: from then on it grants no access. Must be in the future. Absent or null: it does not ' +
        'expire, even if it had an expiration time before.',
    ),
  ),
}

/**
 * Field for the expiration time in responses. If the grant does not expire, the field is absent and not null,
 * because the published models of grants are closed and their clients reject unknown members.
 */
export const shownExpiry = {
  expires_at: Type.Optional(moment('When it expires. Absent: it does not expire.')),
}

/**
 * This is not a record schema, because such a schema would validate each name, and a client can send a
 * million of them.
 */
export const AttributeMap = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'Your attributes: any JSON object.',
})

/**
 * OpenAPI extension for schemas that reject null, although clients might send it. It describes what to send
 * instead.
 */
export const NULL_HINT = 'x-null-hint'

/** Returns a schema that accepts null in addition to the given schema. */
export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}

/**
 * Returns a field that requests can omit or set to null. `description` replaces the description of the
 * schema.
 */
export function optional<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Optional(nullable(schema, description))
}

/**
 * Ids of the organization, the project and the environment of an entity. Every management response about an
 * entity contains them.
 */
export const scopeFields = {
  organization_id: Uuid,
  project_id: Uuid,
  environment_id: Uuid,
}

export const timeFields = { created_at: Timestamp, updated_at: Timestamp }

/** Members of every management response about an entity with a key. */
export function identityFields<Key extends TSchema>(key: Key) {
  return { id: Uuid, key, ...scopeFields, ...timeFields }
}

/** Response of most bulk calls. */
export const Empty = Type.Object({})
export type Empty = Static<typeof Empty>
