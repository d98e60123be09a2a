/** Building blocks of the API schemas: keys, nullable fields, scopes and paging (native.md B.1, D-25). */
import { type Static, Type, type TSchema } from 'typebox'
import {
  ASSIGNMENT_PAGE_SIZE_MAX,
  BULK_ELEMENTS_MAX,
  LONG_KEY_BYTES_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  SHORT_KEY_LENGTH_MAX,
  TEXT_LENGTH_MAX,
} from '#model/limits.ts'

const SHORT_KEY = `[A-Za-z0-9\\-_]{1,${SHORT_KEY_LENGTH_MAX}}`

const SHORT_KEY_ONLY = new RegExp(`^${SHORT_KEY}$`)

/** Keys of resource types, roles, actions, relations, attributes, tenants and groups. */
export const ShortKey = Type.String({
  pattern: `^${SHORT_KEY}$`,
  description: `A key: 1 to ${SHORT_KEY_LENGTH_MAX} letters, digits, hyphens and underscores.`,
})

/** Returns whether a text is a valid `ShortKey`. */
export function isShortKey(text: string): boolean {
  return SHORT_KEY_ONLY.test(text)
}

/** A `ShortKey`, which can be preceded by `type:`. */
export const QualifiedShortKey = Type.String({
  pattern: `^(${SHORT_KEY}:)?${SHORT_KEY}$`,
  description: 'A key, or `type:key`.',
})

/**
 * Extension for texts that code validates. It contains the pattern that is closest to this validation, for
 * the API description. If the schema itself had the pattern, it would cause a second validation error. The
 * pattern uses only classes and escapes that all dialects of regular expressions have.
 */
const DESCRIBED_PATTERN = 'x-described-pattern'

/** Returns the schema for the API description, in which that pattern is an ordinary `pattern`. */
export function withDescribedPattern(
  schema: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { [DESCRIBED_PATTERN]: pattern, ...rest } = schema
  return pattern === undefined ? schema : { ...rest, pattern }
}

const LONG_KEY = `[^\\x00-\\x1f\\x7f-\\x9f]{1,${LONG_KEY_BYTES_MAX}}`
const LONG_KEY_WITHOUT_COLON = LONG_KEY.replace('[^', '[^:')

const encoder = new TextEncoder()

/**
 * Returns whether a text is a valid key of a user or an instance: 1 to 512 bytes of UTF-8 without control
 * characters.
 */
export function isLongKey(text: string): boolean {
  if (text.length > LONG_KEY_BYTES_MAX || !text.isWellFormed()) return false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false
  }
  return encoder.encode(text).length <= LONG_KEY_BYTES_MAX
}

/** Keys of users and instances. */
export const LongKey = Type.Refine(
  Type.String({
    minLength: 1,
    [DESCRIBED_PATTERN]: `^${LONG_KEY}$`,
    description: `A key that you choose: 1 to ${LONG_KEY_BYTES_MAX} bytes of UTF-8 without control characters.`,
  }),
  isLongKey,
  () => `must be 1 to ${LONG_KEY_BYTES_MAX} bytes of UTF-8 without control characters`,
)

/** A reference to an entity, by key or id. Whether the entity exists is checked later. */
export const Reference = Type.String({
  minLength: 1,
  maxLength: 2 * LONG_KEY_BYTES_MAX,
  description:
    'A key or an id, with or without its hyphens; instances and groups as `type:key` or by id. Looked up by key first.',
})

/**
 * Returns whether a text can name an instance: `type:key` with a valid instance key, or a text that can be an
 * id.
 */
function isInstanceReference(text: string): boolean {
  const colon = text.indexOf(':')
  if (colon < 0) return isLongKey(text)
  return isShortKey(text.slice(0, colon)) && colon < text.length - 1 && isLongKey(text.slice(colon + 1))
}

/** A reference to an instance. Whether the instance exists is checked later. */
export const InstanceReference = Type.Refine(
  Type.String({
    minLength: 1,
    maxLength: SHORT_KEY_LENGTH_MAX + 1 + LONG_KEY_BYTES_MAX,
    [DESCRIBED_PATTERN]: `^(${SHORT_KEY}:${LONG_KEY}|${LONG_KEY_WITHOUT_COLON})$`,
    description: 'An instance, as `type:key` or by its id.',
  }),
  isInstanceReference,
  () =>
    `must be type:key, with a key of 1 to ${LONG_KEY_BYTES_MAX} bytes without control characters, or an id`,
)

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

/** Parameter of lists of grants. */
export const expiryFilter = {
  expires_before: Type.Optional(
    moment('Only grants that expire before this time. Examines every expiring grant.'),
  ),
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

/** Path parameters of every management route of an environment. */
export const environmentPath = { proj_id: Reference, env_id: Reference }

export function pageSize(maximum: number) {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum,
      default: PAGE_SIZE_DEFAULT,
      description: 'Number of items per page.',
    }),
  )
}

/** Parameters of several lists. */
export const TotalCountFlag = Type.Boolean({
  description: 'Return an envelope with the total instead of an array.',
})
export const DetailFlag = Type.Boolean({ description: 'Include the related entities of each item.' })
export const SearchText = Type.String({
  description: 'Part of a text, ignoring case. `*` matches any characters.',
})

/**
 * OpenAPI extension for a property that is documented under another spelling and accepted for older clients.
 */
export const UNDESCRIBED = 'x-undescribed'

/** OpenAPI extension for a schema that stands for all query parameters whose names have this prefix. */
export const NAME_PREFIX = 'x-name-prefix'

/**
 * Filters of lists by attributes. For example, `attr_plan=gold` selects the items whose attribute `plan` has
 * that value. The names in this object do not include the prefix.
 */
export const AttributeFilters = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  [NAME_PREFIX]: 'attr_',
  description:
    'Only items with these attributes: each parameter is `attr_` followed by the name of an attribute, and its value is the value of the ' +
    'attribute: a string, a number, `true` or `false`. Examines each item of the list.',
})

export const pagingQuery = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER / ASSIGNMENT_PAGE_SIZE_MAX,
      default: 1,
      description: 'Number of the page, from 1.',
    }),
  ),
  per_page: pageSize(PAGE_SIZE_MAX),
}

/** Entities to delete in one bulk call, by key or id. */
export const BulkIdents = Type.Object({ idents: Type.Array(Reference, { maxItems: BULK_ELEMENTS_MAX }) })
export type BulkIdents = Static<typeof BulkIdents>

/** Response of most bulk calls. */
export const Empty = Type.Object({})
export type Empty = Static<typeof Empty>

export interface Paging {
  readonly page?: number
  readonly per_page?: number
  /**
   * Number of rows to skip. Used instead of a page number if one page contains entities of several
   * environments. Not part of the API.
   */
  readonly offset?: number
}

export function envelope<Schema extends TSchema>(item: Schema) {
  return Type.Object({
    data: Type.Array(item),
    total_count: Type.Integer({ minimum: 0 }),
    page_count: Type.Integer({ minimum: 0 }),
  })
}
