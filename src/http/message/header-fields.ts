/**
 * Headers of requests and responses, each described once; a route lists the ones that it uses. Handlers
 * validate their headers. Only required headers are checked in `dispatch.ts`, with `STRICT_HEADERS`.
 */
import { type TSchema, Type } from 'typebox'

/** A response header. */
export interface HeaderField {
  /** Name as it appears in documents. Headers are matched without regard to case. */
  readonly name: string
  readonly description: string
  readonly schema: TSchema
  /** Whether some responses that are documented with this header do not have it. */
  readonly isOccasional?: boolean
}

export interface RequestHeaderField extends HeaderField {
  /**
   * Whether a request without it is rejected: always, or only with `STRICT_HEADERS` (native.md 0.1). The
   * OpenAPI document marks it as required in these cases.
   */
  readonly required?: 'always' | 'strictly'
  /**
   * Whether a request with two different values is rejected. Only for headers without a field in
   * `HeaderList`, which checks its own headers.
   */
  readonly isSingle?: true
}

/** Optional for every request. An empty value is ignored and not rejected. */
export const REQUEST_ID: RequestHeaderField = {
  name: 'X-Request-ID',
  description: 'A name for this request, given back in the answer; one is made up when there is none.',
  schema: Type.String(),
}

/** Required for decisions (native.md 0.1). */
export const REQUIRED_REQUEST_ID: RequestHeaderField = {
  ...REQUEST_ID,
  description: `${REQUEST_ID.description} Without \`STRICT_HEADERS\` a request that lacks it is served all the same.`,
  required: 'strictly',
}

export const REQUIRED_CACHE_CONTROL: RequestHeaderField = {
  name: 'Cache-Control',
  description:
    'Answers never come from a cache, so any value will do. Without `STRICT_HEADERS` it may be left out.',
  schema: Type.String(),
  required: 'strictly',
}

export const WAIT_TIMEOUT: RequestHeaderField = {
  name: 'X-Wait-Timeout',
  description:
    'Seconds to wait until decisions see the change; empty or negative: without limit. Checked, without effect: the ' +
    'change is in force before its answer leaves.',
  schema: Type.String({ pattern: '^([+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)?$' }),
}

export const TIMEOUT_POLICY: RequestHeaderField = {
  name: 'X-Timeout-Policy',
  description: 'What to do when the wait takes too long. Checked, without effect.',
  schema: Type.Enum(['ignore', 'fail']),
}

export const CLIENT_VERSION: RequestHeaderField = {
  name: 'X-Permit-SDK-Version',
  description: 'The client that asks: its language and its version, as in `node:2.7.6`.',
  schema: Type.String(),
}

/**
 * A name in a header. The library removes bytes outside ASCII at both ends, like spaces
 * (docs/http-behavior.md).
 */
const NameInHeader = Type.String({ pattern: '^[!-~](.*[!-~])?$' })
const ENDS =
  'Only with ASCII at both ends: other characters there are cut off, which leaves another key. Sent twice with different values: 400.'

/** A header that nginx's `auth_request` is configured to send (conditions.md 10.5). */
function askedByHeader(name: string, description: string): RequestHeaderField {
  return {
    name,
    description: `${description} ${ENDS}`,
    schema: NameInHeader,
    required: 'always',
    isSingle: true,
  }
}

export const ASKED_USER = askedByHeader('Permit-User-Key', 'The key of the user.')
export const ASKED_TENANT = askedByHeader('Permit-Tenant-Id', 'The key of the tenant.')
export const ASKED_ACTION = askedByHeader('Permit-Action', 'The key of the action.')
export const ASKED_TYPE = askedByHeader('Permit-Resource-Type', 'The key of the resource.')
export const ASKED_KEY: RequestHeaderField = {
  name: 'Permit-Resource-Key',
  description:
    'The key of the instance. Absent: the question is about the type as a whole. A gateway sets it, also to nothing: what a client ' +
    `sent would name an instance. ${ENDS}`,
  schema: NameInHeader,
  isSingle: true,
}

export const UNBUFFERED: HeaderField = {
  name: 'X-Accel-Buffering',
  description: 'A proxy is to hand each part on as it comes.',
  schema: Type.Literal('no'),
}

export const LAST_EVENT_ID: RequestHeaderField = {
  name: 'Last-Event-ID',
  description:
    'What the last event had as `id:`: the stream tells what came after it. Clients of Server-Sent Events send it by themselves when ' +
    'they connect again. It counts before `since`.',
  schema: Type.String(),
  isSingle: true,
}

export const IF_NONE_MATCH: RequestHeaderField = {
  name: 'If-None-Match',
  description: 'The `ETag` of a copy the caller has; answered with 304 while it is current.',
  schema: Type.String(),
}

export const IF_MATCH: RequestHeaderField = {
  name: 'If-Match',
  description:
    'What an answer about the thing had as `ETag`, or several of these, separated by commas: changed only if it is still so, else ' +
    '412. `*`: only if it is there. A weak tag (`W/`) and one with the suffix of a compressing proxy (`-gzip`) count as the tag itself.',
  schema: Type.String({ pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$' }),
}

/** `If-Match` with the tag of the single grant that the request changes. */
export const GRANT_IF_MATCH: RequestHeaderField = {
  name: IF_MATCH.name,
  description:
    'The tag of the grant, or several, separated by commas: changed or removed only if it is still so, else 412. The tag is `expires_at` in ' +
    'quotes, as lists show it: `"2030-01-01T00:00:00.000Z"`, or `"null"` for what lasts. `*`: only if it is there.',
  schema: IF_MATCH.schema,
}

export const GRANT_IF_NONE_MATCH: RequestHeaderField = {
  name: IF_NONE_MATCH.name,
  description: '`*`: granted only if it is not granted yet, else 412, and its end stays as it is.',
  schema: Type.Literal('*'),
}

export const ANSWERED_REQUEST_ID: HeaderField = {
  name: 'X-Request-ID',
  description: "The request's name: the caller's, or one made up.",
  schema: Type.String({ minLength: 1 }),
}

const Revisions = Type.String({ pattern: '^[A-Za-z0-9-]+\\.[0-9]+( *, *[A-Za-z0-9-]+\\.[0-9]+){0,7}$' })

export const REVISION: HeaderField = {
  name: 'X-Revision',
  description:
    'The state the answer tells of, of the environment or of the organization: an epoch and a number that grows. Two of them, ' +
    'separated by a comma, where it tells of both.',
  schema: Revisions,
}

/** Read for every decision. */
export const MIN_REVISION: RequestHeaderField = {
  name: 'X-Min-Revision',
  description:
    'What an answer had as `X-Revision`, or several of these, separated by commas: decided on a state that has them, keys ' +
    'included, or not at all.',
  schema: Revisions,
}

export const CACHE_CONTROL: HeaderField = {
  name: 'Cache-Control',
  description:
    'How long a client or a proxy may keep the answer. With an `ETag` it has `no-transform`: a proxy that compresses the answer would ' +
    'change the tag.',
  schema: Type.String(),
}

/** For responses that have a tag, or could have one. */
export const UNTRANSFORMED = { [CACHE_CONTROL.name]: 'no-transform' }

export const ETAG: HeaderField = {
  name: 'ETag',
  description:
    'Changes with the content. `If-Match` takes it, where the path has that. Not there if the request has parameters in its query. ' +
    'With 412: of what is there now; absent if nothing is.',
  schema: Type.String(),
  isOccasional: true,
}

export const LOCATION: HeaderField = {
  name: 'Location',
  description: 'Where to go on, relative to this path.',
  schema: Type.String(),
}

export const VARY: HeaderField = {
  name: 'Vary',
  description: 'The headers of the request that the answer depends on.',
  schema: Type.String(),
}

export const CHALLENGE: HeaderField = {
  name: 'WWW-Authenticate',
  description: 'The scheme of the credentials that are missing.',
  schema: Type.String(),
}

export const RETRY_AFTER: HeaderField = {
  name: 'Retry-After',
  description: 'Seconds after which another try is worthwhile.',
  schema: Type.String({ pattern: '^[0-9]+$' }),
}

export const WARNING: HeaderField = {
  name: 'Warning',
  description: 'What was done may mean more than the caller thinks: a code, and a text for people.',
  schema: Type.String({ pattern: '^299 - ".+"$' }),
  isOccasional: true,
}

export const ALLOW: HeaderField = {
  name: 'Allow',
  description: 'The methods this path has.',
  schema: Type.String(),
}
