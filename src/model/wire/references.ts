/** Keys of entities, and references to them by key or id (native.md B.1, D-25). */
import { type Static, Type } from 'typebox'
import { BULK_ELEMENTS_MAX, LONG_KEY_BYTES_MAX, SHORT_KEY_LENGTH_MAX } from '#model/limits.ts'

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

/** A tenant role by its key, or a role of a resource as `resource#role`. */
export const RoleName = Type.String({
  pattern: `^(${SHORT_KEY}#)?${SHORT_KEY}$`,
  description: 'A role: the key of a tenant role, or `resource#role`.',
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

/** Path parameters of every management route of an environment. */
export const environmentPath = { proj_id: Reference, env_id: Reference }

/** Entities to delete in one bulk call, by key or id. */
export const BulkIdents = Type.Object({ idents: Type.Array(Reference, { maxItems: BULK_ELEMENTS_MAX }) })
export type BulkIdents = Static<typeof BulkIdents>
