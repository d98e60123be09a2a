/**
 * A route as a value: method, path, access, schemas and handler. Other code derives everything else from it:
 * the static types of the handler's input, the validators, the router and the OpenAPI document. Validators
 * are created here and compiled at first use.
 *
 * A route does not depend on sockets. Its handler is called only with values that match the schemas of the
 * route. A placeholder such as `{name}` in a path matches exactly one nonempty segment.
 */
import type { Static, TObject, TSchema } from 'typebox'
import type { HeaderField, RequestHeaderField } from '#http/message/header-fields.ts'
import type { Call, ErrorFamily, Reply } from '#http/message/request-reply.ts'
import { assert } from '#model/assert.ts'
import type { AccessLevel, Principal } from '#model/principal.ts'
import type { DelegatedUse, RouteAccess } from './route-access.ts'
import { QueryShape } from './query-string.ts'
import { Shape } from './shape.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Response {
  readonly description: string
  readonly schema?: TSchema
  /** Content type of the response. Default: JSON. */
  readonly contentType?: string
  /** Response headers, in addition to `X-Request-ID`, which every response has. */
  readonly headers?: readonly HeaderField[]
}

/**
 * Successful responses of a route by status. They are used for the OpenAPI document. The service does not
 * check that handlers return them.
 */
export type Responses = Readonly<Record<number, Response>>

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** If a route has no schema for its parameters, they are the strings in the path. */
type ParamsOf<Path extends string, Params> = Params extends TSchema
  ? Static<Params>
  : Readonly<Record<ParamNames<Path>, string>>
type QueryOf<Query> = Query extends TSchema ? Static<Query> : Readonly<Record<never, never>>
type BodyOf<Body, OptionalBody> = Body extends TSchema
  ? Static<Body>
  : OptionalBody extends TSchema
    ? Static<OptionalBody> | undefined
    : undefined

/** A streamed body: its content type, and the schema of each line. */
export interface BodyInPieces {
  readonly contentType: string
  readonly description: string
  /** Schema of one line. */
  readonly schema: TSchema
}

/**
 * Clients that can call a route. A route that needs a key needs a level (administration.md K2). It rejects
 * clients whose grant is limited to tenants unless it states `delegated`.
 */
type Admission =
  | { readonly access: 'public' | 'optional-key'; readonly level?: never; readonly delegated?: never }
  | {
      readonly access: Exclude<RouteAccess, 'public' | 'optional-key'>
      readonly level: AccessLevel
      readonly delegated?: DelegatedUse
    }

/** Definition of a route, as written in the source. */
export type RouteDefinition<
  Path extends string,
  Params,
  Query,
  Body,
  OptionalBody,
  FromBytes = never,
> = Admission & DefinitionParts<Path, Params, Query, Body, OptionalBody, FromBytes>

interface DefinitionParts<Path extends string, Params, Query, Body, OptionalBody, FromBytes> {
  readonly method: Method
  /** Template of the path, for example `/v2/schema/{proj_id}/{env_id}/groups/{group}`. */
  readonly path: Path
  readonly operationId: string
  readonly summary: string
  readonly family: ErrorFamily
  readonly params?: Params
  readonly query?: Query
  /**
   * Schema of a required JSON body. Cannot be combined with `optionalBody`. If neither is set, the body of a
   * request is ignored.
   */
  readonly body?: Body
  /** Schema of an optional body. If the body is empty, the handler gets `undefined`. */
  readonly optionalBody?: OptionalBody
  /** Set if the body is an HTML form, whose fields are texts. Otherwise the body is JSON. */
  readonly isForm?: true
  /**
   * Reads the body directly from its bytes. Returns the value that the handler gets as its body, or null if
   * the body must be parsed and validated. This function must not accept a body that the parser or the schema
   * would reject, and it must not throw.
   */
  readonly readBytes?: ((body: DataView, principal: Principal | null) => FromBytes | null) | undefined
  /**
   * Converts a body in the format of older clients to the documented format. Called before the body is
   * validated.
   */
  readonly presentForm?: (body: unknown) => unknown
  /**
   * The body has any length and is streamed: the handler gets a `PieceSource`. Cannot be combined with the
   * other bodies. The content type is only documented and not checked.
   */
  readonly bodyInPieces?: BodyInPieces | undefined
  /** Rejects requests whose content type is missing or is not `application/json` (authzen.md 2). */
  readonly requireJsonContentType?: boolean
  /** Headers that the route reads, in addition to those of every route. */
  readonly headers?: readonly RequestHeaderField[]
  /**
   * Whether the handler reads only headers that have a field in `HeaderList`. If so, other headers are not
   * kept, and reading one of them throws `InvariantError`. Default: false. If the path has parameters, all
   * headers are kept.
   */
  readonly ignoresHeaders?: boolean
  /**
   * Whether the endpoint is polled by monitoring. Requests to such an endpoint are not traced. Default:
   * false.
   */
  readonly isProbe?: boolean
  /** Whether the OpenAPI document contains the route. Default: true. */
  readonly isDescribed?: boolean
  readonly deprecated?: boolean
  readonly earlyAccess?: boolean
  /** Whether the route changes nothing. By default, this follows from the method. */
  readonly isRead?: boolean
  readonly responses: Responses
  /** Error statuses that do not follow from the rest of the definition. */
  readonly refusals?: readonly number[]
  handle(
    call: Call<ParamsOf<Path, Params>, QueryOf<Query>, BodyOf<Body, OptionalBody> | FromBytes>,
  ): Reply | Promise<Reply>
}

/** A defined route, as stored in the route table. It has no static types for the parts of a request. */
export interface Route {
  readonly method: Method
  readonly path: string
  /** If this route is an alias, the path of the original route; otherwise null. */
  readonly standsFor: string | null
  /** Names of the path parameters, in order. */
  readonly paramNames: readonly string[]
  readonly operationId: string
  readonly summary: string
  readonly family: ErrorFamily
  readonly access: RouteAccess
  /** Lowest level of a key that can call the route; null if the route needs no key. */
  readonly level: AccessLevel | null
  /** Use by clients whose grant is limited to tenants; null if the route rejects them. */
  readonly delegated: DelegatedUse | null
  readonly params: Shape | null
  readonly query: QueryShape | null
  readonly body: { readonly shape: Shape; readonly isRequired: boolean; readonly isForm: boolean } | null
  /** Maximum body size of this route. The limit of the server also applies (see `withBodyLimits`). */
  readonly bodyBytesMax: number
  readonly readBytes: ((body: DataView, principal: Principal | null) => unknown) | null
  readonly presentForm: ((body: unknown) => unknown) | null
  readonly bodyInPieces: BodyInPieces | null
  readonly requireJsonContentType: boolean
  readonly headers: readonly RequestHeaderField[]
  readonly ignoresHeaders: boolean
  /** Whether the route reads the actor that the client claims (administration.md N1). */
  readonly readsClaim: boolean
  /** Lower-case names of the required headers. Enforced only with `STRICT_HEADERS`. */
  readonly strictHeaders: readonly string[]
  /** Lower-case names of headers that must not be repeated with different values. */
  readonly singleHeaders: readonly string[]
  readonly isProbe: boolean
  readonly isDescribed: boolean
  readonly deprecated: boolean
  readonly earlyAccess: boolean
  readonly isRead: boolean
  readonly responses: Responses
  readonly refusals: readonly number[]
  handle(call: Call): Reply | Promise<Reply>
}

/**
 * Creates a route with its validators. Throws if the definition contradicts itself, which makes the startup
 * of the service fail.
 */
export function defineRoute<
  const Path extends string,
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  OptionalBody extends TSchema | undefined = undefined,
  FromBytes = never,
>(definition: RouteDefinition<Path, Params, Query, Body, OptionalBody, FromBytes>): Route {
  const { operationId, params, query, body, optionalBody, headers = [] } = definition
  const paramNames = paramNamesIn(definition.path)
  assert(new Set(paramNames).size === paramNames.length, `${operationId}: a path parameter occurs twice`)
  assert(body === undefined || optionalBody === undefined, `${operationId}: the body is required or optional`)
  if (params !== undefined) {
    const described = Object.keys(params.properties).toSorted().join()
    assert(described === paramNames.toSorted().join(), `${operationId}: path and params schema differ`)
  }
  const bodySchema = body ?? optionalBody
  return {
    method: definition.method,
    path: definition.path,
    standsFor: null,
    paramNames,
    operationId,
    summary: definition.summary,
    family: definition.family,
    access: definition.access,
    level: definition.level ?? null,
    delegated: definition.delegated ?? null,
    params: params === undefined ? null : new Shape(params, 'path'),
    query:
      query === undefined
        ? null
        : new QueryShape(query, { refusesUnknown: isOfList(definition.family, query) }),
    body:
      bodySchema === undefined
        ? null
        : {
            shape: new Shape(bodySchema, 'body'),
            isRequired: body !== undefined,
            isForm: definition.isForm ?? false,
          },
    bodyBytesMax: Number.POSITIVE_INFINITY,
    readBytes: definition.readBytes ?? null,
    presentForm: definition.presentForm ?? null,
    bodyInPieces: definition.bodyInPieces ?? null,
    requireJsonContentType: definition.requireJsonContentType ?? false,
    headers,
    ignoresHeaders: definition.ignoresHeaders ?? false,
    readsClaim: definition.family === 'management' && definition.access !== 'public',
    strictHeaders: headers
      .filter(({ required }) => required !== undefined)
      .map(({ name }) => name.toLowerCase()),
    singleHeaders: [
      // RFC 9112, section 3.2, forbids a repeated `Host` header. If the route ignores headers, this one is
      // not available.
      ...(definition.ignoresHeaders ? [] : ['host']),
      ...headers.filter(({ isSingle }) => isSingle).map(({ name }) => name.toLowerCase()),
    ],
    isProbe: definition.isProbe ?? false,
    isDescribed: definition.isDescribed ?? true,
    deprecated: definition.deprecated ?? false,
    earlyAccess: definition.earlyAccess ?? false,
    isRead: definition.isRead ?? definition.method === 'GET',
    responses: definition.responses,
    refusals: definition.refusals ?? [],
    // The validators above ensure that the handler gets values of the types that it declares.
    handle: definition.handle as Route['handle'],
  }
}

/** Whether this is the query schema of a paginated list in the management API. */
function isOfList(family: ErrorFamily, { properties }: TObject): boolean {
  return family === 'management' && 'page' in properties
}

/**
 * Name of the parameter in a segment of a path template, such as `name` for `{name}`. Null if the segment is
 * fixed.
 */
export function paramNameOf(part: string): string | null {
  return part.startsWith('{') && part.endsWith('}') ? part.slice(1, -1) : null
}

function paramNamesIn(path: string): string[] {
  assert(path.startsWith('/'), `a path begins with a slash: ${path}`)
  return path.split('/').flatMap(part => paramNameOf(part) ?? [])
}
