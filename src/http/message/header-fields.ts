/**
 * Headers of requests and responses. Each header is described once, and a route lists the headers that it
 * uses. Handlers validate the values. `dispatch.ts` only checks whether required headers are present, if
 * `STRICT_HEADERS` is set.
 */
import { type TSchema, Type } from 'typebox'
import { ACTOR_HEADERS_BYTES_MAX, ACTORS_FOR_MAX } from '#model/limits.ts'

/** A response header. */
export interface HeaderField {
  /** Name as it appears in documents. Header names are compared without regard to case. */
  readonly name: string
  readonly description: string
  readonly schema: TSchema
  /** True if only some of the responses that are documented with this header contain it. */
  readonly isOccasional?: boolean
}

export interface RequestHeaderField extends HeaderField {
  /**
   * Whether a request without this header is rejected: always, or only with `STRICT_HEADERS` (native.md 0.1).
   * In both cases, the OpenAPI document marks the header as required.
   */
  readonly required?: 'always' | 'strictly'
  /**
   * Set if a request that contains this header twice with different values is rejected. Only for headers that
   * have no field in `HeaderList`. For all others, `HeaderList` decides.
   */
  readonly isSingle?: true
}

/** Optional in every request. An empty value is ignored. */
export const REQUEST_ID: RequestHeaderField = {
  name: 'X-Request-ID',
  description: 'Id of this request, returned in the response. Generated if absent.',
  schema: Type.String(),
}

/** Required for decisions (native.md 0.1). */
export const REQUIRED_REQUEST_ID: RequestHeaderField = {
  ...REQUEST_ID,
  description: `${REQUEST_ID.description} Required only with \`STRICT_HEADERS\`.`,
  required: 'strictly',
}

export const REQUIRED_CACHE_CONTROL: RequestHeaderField = {
  name: 'Cache-Control',
  description:
    'Responses never come from a cache, so any value is accepted. Required only with `STRICT_HEADERS`.',
  schema: Type.String(),
  required: 'strictly',
}

export const WAIT_TIMEOUT: RequestHeaderField = {
  name: 'X-Wait-Timeout',
  description:
    'Seconds to wait until decisions see the change. Empty or negative: no limit. Validated, but without effect: the ' +
    'change takes effect before the response is sent.',
  schema: Type.String({ pattern: '^([+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)?$' }),
}

export const TIMEOUT_POLICY: RequestHeaderField = {
  name: 'X-Timeout-Policy',
  description: 'Behavior if the wait takes too long. Validated, but without effect.',
  schema: Type.Enum(['ignore', 'fail']),
}

/** Names whose form is stated in administration.md N1. */
const ActorNames = Type.String({ maxLength: ACTOR_HEADERS_BYTES_MAX })

/** The document describes this header and the next one once, and not for each operation. */
export const ACTOR: RequestHeaderField = {
  name: 'X-Actor',
  description:
    'Name of the person or program that acts, percent-encoded (a comma as `%2C`). It is recorded in the audit log as a claim of this API key, and gives no right. If the value is not a ' +
    'valid name, the response is 422.',
  schema: ActorNames,
}

export const ACTOR_FOR: RequestHeaderField = {
  name: 'X-Actor-For',
  description: `Names of those for whom \`X-Actor\` acts, the nearest first: at most ${ACTORS_FOR_MAX}, percent-encoded and separated by commas. Requires \`X-Actor\` and is recorded like it.`,
  schema: ActorNames,
}

export const CLIENT_VERSION: RequestHeaderField = {
  name: 'X-Permit-SDK-Version',
  description: 'Language and version of the client, such as `node:2.7.6`.',
  schema: Type.String(),
}

/**
 * A name in a header. The HTTP library removes spaces and bytes outside ASCII at both ends of a value
 * (docs/http-behavior.md).
 */
export const NameInHeader = Type.String({ pattern: '^[!-~](.*[!-~])?$' })
export const UNBUFFERED: HeaderField = {
  name: 'X-Accel-Buffering',
  description: 'Tells proxies to forward each part immediately.',
  schema: Type.Literal('no'),
}

export const LAST_EVENT_ID: RequestHeaderField = {
  name: 'Last-Event-ID',
  description:
    'The `id:` of the last event that the client received. The stream continues after this event. Clients of server-sent events send this header ' +
    'automatically when they reconnect. It overrides `since`.',
  schema: Type.String(),
  isSingle: true,
}

export const IF_NONE_MATCH: RequestHeaderField = {
  name: 'If-None-Match',
  description: 'The `ETag` of the copy that the client has. If the copy is current, the response is 304.',
  schema: Type.String(),
}

export const IF_MATCH: RequestHeaderField = {
  name: 'If-Match',
  description:
    'The `ETag` of an earlier response about this entity, or several tags, separated by commas. If one of them is current, the change is made. Otherwise the response is ' +
    '412. With `*`, the change is made if the entity exists. The prefix of a weak tag (`W/`) and the suffix of a compressing proxy (`-gzip`) are ignored.',
  schema: Type.String({ pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$' }),
}

/** `If-Match` with the tag of the grant that the request changes. */
export const GRANT_IF_MATCH: RequestHeaderField = {
  name: IF_MATCH.name,
  description:
    'The tag of the grant, or several tags, separated by commas. If one of them is current, the grant is changed or removed. Otherwise the response is 412. The tag is the ' +
    '`expires_at` of a list in quotes: `"2030-01-01T00:00:00.000Z"`, or `"null"` if the grant does not expire. With `*`, the grant must exist.',
  schema: IF_MATCH.schema,
}

export const GRANT_IF_NONE_MATCH: RequestHeaderField = {
  name: IF_NONE_MATCH.name,
  description:
    'With `*`, the grant is created only if it does not exist. Otherwise the response is 412 and the expiration time does not change.',
  schema: Type.Literal('*'),
}

export const ANSWERED_REQUEST_ID: HeaderField = {
  name: 'X-Request-ID',
  description: 'Id of the request: the value that the client sent, or a generated one.',
  schema: Type.String({ minLength: 1 }),
}

const Revisions = Type.String({ pattern: '^[A-Za-z0-9-]+\\.[0-9]+( *, *[A-Za-z0-9-]+\\.[0-9]+){0,7}$' })

export const REVISION: HeaderField = {
  name: 'X-Revision',
  description:
    'Revision of the environment or of the organization that the response reflects: an epoch and a number that increases with each change. If the response ' +
    'reflects both, it contains two revisions, separated by a comma.',
  schema: Revisions,
}

/** The service reads this header for every decision. */
export const MIN_REVISION: RequestHeaderField = {
  name: 'X-Min-Revision',
  description:
    'The `X-Revision` of an earlier response, or several, separated by commas. The decision reflects all changes up to these revisions, including changes of API keys. ' +
    'If the node does not receive them in time, it responds with an error.',
  schema: Revisions,
}

export const CACHE_CONTROL: HeaderField = {
  name: 'Cache-Control',
  description:
    'Time for which a client or a proxy may cache the response. If the response has an `ETag`, the header contains `no-transform`, because a proxy that compresses the ' +
    'response would change the tag.',
  schema: Type.String(),
}

/** Header for responses that have an entity tag, or could have one. */
export const UNTRANSFORMED = { [CACHE_CONTROL.name]: 'no-transform' }

export const ETAG: HeaderField = {
  name: 'ETag',
  description:
    'Tag that changes with the content. Clients can send it as `If-Match` to operations that support this header. Absent if the request has query parameters. ' +
    'A 412 response contains the current tag, or no tag if the entity does not exist.',
  schema: Type.String(),
  isOccasional: true,
}

export const LOCATION: HeaderField = {
  name: 'Location',
  description: 'Location of the content, relative to this path.',
  schema: Type.String(),
}

export const SET_COOKIE: HeaderField = {
  name: 'Set-Cookie',
  description: 'Cookies of the console. A response can contain this header several times.',
  schema: Type.String(),
  isOccasional: true,
}

export const VARY: HeaderField = {
  name: 'Vary',
  description: 'Request headers on which the response depends.',
  schema: Type.String(),
}

export const CHALLENGE: HeaderField = {
  name: 'WWW-Authenticate',
  description: 'Authentication scheme of the credentials that the request lacks.',
  schema: Type.String(),
}

export const RETRY_AFTER: HeaderField = {
  name: 'Retry-After',
  description: 'Number of seconds after which the client can retry.',
  schema: Type.String({ pattern: '^[0-9]+$' }),
}

export const WARNING: HeaderField = {
  name: 'Warning',
  description: 'Warning about an effect that the client might not expect: a code and a text.',
  schema: Type.String({ pattern: '^299 - ".+"$' }),
  isOccasional: true,
}

export const ALLOW: HeaderField = {
  name: 'Allow',
  description: 'Methods that this path supports.',
  schema: Type.String(),
}
