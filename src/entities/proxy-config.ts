/** API schemas of proxy configs and their mapping rules (conditions.md 10.3 and 10.4). */
import { type Static, type TSchema, Type } from 'typebox'
import { isObject } from '#model/json-object.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import {
  MAPPING_RULE_BYTES_MAX,
  MAPPING_RULES_PER_CONFIG_MAX,
  MAPPING_URL_LENGTH_MAX,
  PROXY_SECRET_BYTES_MAX,
} from '#model/limits.ts'
import { FITS_NO_REQUEST, MAPPING_METHODS, readMappingUrl } from '#model/mapping-urls.ts'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { identityFields, Name, nullable, optional } from '#model/wire/common-fields.ts'
import { pagingQuery } from '#model/wire/paging.ts'

const MappingRuleUrl = mappingRuleUrl(readMappingUrl)

/** URL of a stored rule. In contrast to a new rule, it can be a URL that never matches. */
const StoredMappingRuleUrl = mappingRuleUrl(url => {
  const read = readMappingUrl(url)
  return read === FITS_NO_REQUEST ? null : read
})

/** Returns the schema of a rule's URL. `read` returns an error message if the URL is rejected. */
function mappingRuleUrl(read: (url: string) => unknown) {
  return Type.Refine(
    Type.String({
      minLength: 1,
      maxLength: MAPPING_URL_LENGTH_MAX,
      description:
        'Complete URL of the matched requests, including scheme and host. `{name}` matches a segment, or the value of a ' +
        'query member; the matched text becomes the attribute `name` of the resource.',
    }),
    url => typeof read(url) !== 'string',
    url => String(read(url)),
  )
}

const NoRegularExpression = Type.Refine(
  Type.String({ description: 'Omit this field, because regular expressions are not supported.' }),
  () => false,
  () => 'must be omitted: regular expressions are not supported because one of them can block a thread',
)

export const MappingMethodName = Type.Enum([...MAPPING_METHODS], {
  description: 'Method of the matched requests.',
})

/** Headers that a proxy would add. They are stored and have no effect. */
const Headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Stored, but without effect.',
})

const ruleFields = {
  url: MappingRuleUrl,
  url_type: optional(NoRegularExpression),
  /** Resource type, by key or id. */
  resource: Reference,
  http_method: MappingMethodName,
  headers: optional(Headers),
  /** Action of the resource type. If absent, the method in lower case. */
  action: optional(Reference),
  priority: optional(
    Type.Integer({
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'If several rules match, the one with the highest priority applies. Absent: 0.',
    }),
  ),
  case_sensitive: optional(
    Type.Boolean({
      description:
        'Whether the server distinguishes the case of letters in this URL. Absent or `false`: a request whose URL differs from this one only in ' +
        'case is denied if a wider rule matches it.',
    }),
  ),
  encoded_slashes: optional(
    Type.Enum(['literal'], {
      description:
        '`literal`: the server interprets `%2F` and `%5C` as part of a segment. Absent: a request whose URL matches this one only after these are ' +
        'decoded is denied if another rule matches it.',
    }),
  ),
}

/**
 * A rule in a request. Its size limit only applies to the members that are stored unchanged. The other
 * members are short, and have another form in responses and exports: keys instead of ids, and null instead of
 * absent. Therefore a rule that was accepted once is also accepted in the form of responses.
 */
const MappingRuleWrite = ofRuleSize(
  Type.Object({
    ...ruleFields,
    should_delete: optional(
      Type.Boolean({
        description:
          'Whether to remove this rule. If all rules in a list are marked, they are removed and the others kept. Any other list replaces ' +
          'all rules and omits the marked ones. A new config is created without marked rules.',
      }),
    ),
  }),
)
export type MappingRuleWrite = Static<typeof MappingRuleWrite>

/** A rule in a line of an export. */
export const MappingRuleStored = ofRuleSize(Type.Object({ ...ruleFields, url: StoredMappingRuleUrl }))
export type MappingRuleStored = Static<typeof MappingRuleStored>

function ofRuleSize<Rule extends TSchema>(schema: Rule) {
  return Type.Refine(
    schema,
    rule => {
      const { url, headers } = rule as { readonly url: string; readonly headers?: unknown }
      return jsonBytes({ url, headers: headers ?? {} }, MAPPING_RULE_BYTES_MAX) <= MAPPING_RULE_BYTES_MAX
    },
    () => `must have at most ${MAPPING_RULE_BYTES_MAX} bytes for url and headers as JSON`,
  )
}

/** A rule as it is stored, with the keys of the resource type and the action. */
export const MappingRuleRead = Type.Object({
  url: Type.String(),
  http_method: MappingMethodName,
  resource: Type.String(),
  headers: Headers,
  action: nullable(Type.String()),
  priority: nullable(Type.Integer()),
  case_sensitive: Type.Optional(Type.Boolean({ description: 'Present only if it is `true`.' })),
  encoded_slashes: Type.Optional(
    Type.Enum(['literal'], { description: 'Present only if the rule declares it.' }),
  ),
})
export type MappingRuleRead = Static<typeof MappingRuleRead>

export const AuthMechanism = Type.Enum(['Bearer', 'Basic', 'Headers'], {
  description: 'Form in which the secret would be sent.',
})
export type AuthMechanism = Static<typeof AuthMechanism>

/**
 * Secret of a proxy config. The API description does not contain its type, because client generators fail for
 * a union of a text and an object with any content.
 */
export const ProxySecret = Type.Refine(
  Type.Unsafe<string | Readonly<Record<string, unknown>>>({
    description: `A text or an object, at most ${PROXY_SECRET_BYTES_MAX} bytes as JSON. It is encrypted at rest and never returned.`,
  }),
  secret => isTextOrObject(secret) && jsonBytes(secret, PROXY_SECRET_BYTES_MAX) <= PROXY_SECRET_BYTES_MAX,
  () => `must be a text or an object of at most ${PROXY_SECRET_BYTES_MAX} bytes as JSON`,
)
export type ProxySecret = Static<typeof ProxySecret>

function isTextOrObject(secret: unknown): boolean {
  if (typeof secret === 'string') return secret !== ''
  return isObject(secret)
}

const MappingRules = Type.Array(MappingRuleWrite, { maxItems: MAPPING_RULES_PER_CONFIG_MAX })

export const ProxyConfigCreate = Type.Object({
  key: ShortKey,
  name: Name,
  secret: ProxySecret,
  auth_mechanism: Type.Optional(AuthMechanism),
  mapping_rules: Type.Optional(MappingRules),
})
export type ProxyConfigCreate = Static<typeof ProxyConfigCreate>

export const ProxyConfigUpdate = Type.Object({
  name: Type.Optional(Name),
  secret: Type.Optional(ProxySecret),
  auth_mechanism: Type.Optional(AuthMechanism),
  mapping_rules: Type.Optional(MappingRules),
})
export type ProxyConfigUpdate = Static<typeof ProxyConfigUpdate>

/** A proxy config without its secret. */
export const ProxyConfig = Type.Object({
  ...identityFields(Type.String()),
  name: Type.String(),
  auth_mechanism: AuthMechanism,
  mapping_rules: Type.Array(MappingRuleRead),
})
export type ProxyConfig = Static<typeof ProxyConfig>

export const ProxyConfigsPath = Type.Object(environmentPath)
export const ProxyConfigPath = Type.Object({ ...environmentPath, proxy_config_id: Reference })

export const ProxyConfigsQuery = Type.Object(pagingQuery)
export type ProxyConfigsQuery = Static<typeof ProxyConfigsQuery>
