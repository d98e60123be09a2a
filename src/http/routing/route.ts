/**
 * A route is a value: method, path, who may call it, schemas, handler. Everything else is derived from it: the static
 * types the handler sees, the validators (made here; each is compiled when it is first used), the router, the OpenAPI document.
 *
 * A route knows nothing of sockets, and its handler is only ever called with parts that passed the route's schemas.
 * `{name}` in a path stands for exactly one non-empty part.
 */
import type { Static, TObject, TSchema } from 'typebox'
import type { HeaderField, RequestHeaderField } from '#http/message/header-fields.ts'
import type { Call, ErrorFamily, Reply } from '#http/message/request-reply.ts'
import { assert } from '#model/assert.ts'
import type { Principal } from '#model/principal.ts'
import type { RouteAccess } from './route-access.ts'
import { QueryShape } from './query-string.ts'
import { Shape } from './shape.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Response {
  readonly description: string
  readonly schema?: TSchema
  /** Default: JSON. */
  readonly contentType?: string
  /** Besides `X-Request-ID`, which every answer has. */
  readonly headers?: readonly HeaderField[]
}

/** What a route may answer besides errors, by status; for the OpenAPI document, not enforced. */
export type Responses = Readonly<Record<number, Response>>

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** Without a schema, the parameters are the texts in the path. */
type ParamsOf<Path extends string, Params> = Params extends TSchema
  ? Static<Params>
  : Readonly<Record<ParamNames<Path>, string>>
type QueryOf<Query> = Query extends TSchema ? Static<Query> : Readonly<Record<never, never>>
type BodyOf<Body, OptionalBody> = Body extends TSchema
  ? Static<Body>
  : OptionalBody extends TSchema
    ? Static<OptionalBody> | undefined
    : undefined

/** A body in pieces: what they are, and the form of what they hold. */
export interface BodyInPieces {
  readonly contentType: string
  readonly description: string
  /** Of one line. */
  readonly schema: TSchema
}

/** What a route's author writes. */
export interface RouteDefinition<Path extends string, Params, Query, Body, OptionalBody, FromBytes = never> {
  readonly method: Method
  /** As clients see it: `/v2/schema/{proj_id}/{env_id}/groups/{group}`. */
  readonly path: Path
  readonly operationId: string
  readonly summary: string
  readonly family: ErrorFamily
  readonly access: RouteAccess
  readonly params?: Params
  readonly query?: Query
  /** A JSON body is required. Exclusive with `optionalBody`; with neither, a body is ignored. */
  readonly body?: Body
  /** An empty body is fine and arrives as `undefined`. */
  readonly optionalBody?: OptionalBody
  /**
   * Reads the body as bytes, before it is parsed. Returns what the handler gets in place of the body; `null` to have the
   * body parsed and checked as usual. It accepts nothing that the parser or the schema refuses, and refuses nothing itself.
   */
  readonly readBytes?: ((body: DataView, principal: Principal | null) => FromBytes | null) | undefined
  /** Turns the form of a body that older clients send into the described one, before its shape is checked. */
  readonly presentForm?: (body: unknown) => unknown
  /**
   * Takes a body of any length in pieces: the handler gets a `PieceSource` in place of a body. Exclusive with the other bodies.
   * The content type is for the description; it is not checked.
   */
  readonly bodyInPieces?: BodyInPieces | undefined
  /** Refuse any content type but `application/json`, a missing one included (authzen.md 2). */
  readonly requireJsonContentType?: boolean
  /** The headers it reads, besides those every route has. */
  readonly headers?: readonly RequestHeaderField[]
  /**
   * The handler asks for no header but those with a field in `HeaderList`, so the others need not be kept. Asking for
   * another one is an `InvariantError`. Default: false. For a path with parameters all are kept.
   */
  readonly ignoresHeaders?: boolean
  /** Asked every few seconds by what watches the service, which a trace would drown in. Default: false. */
  readonly isProbe?: boolean
  /** Whether the description tells of it. Default: true. */
  readonly isDescribed?: boolean
  readonly deprecated?: boolean
  readonly earlyAccess?: boolean
  /** It changes nothing. Default: that is what the method says. */
  readonly isRead?: boolean
  readonly responses: Responses
  /** Error statuses it answers besides those that follow from the rest of the definition. */
  readonly refusals?: readonly number[]
  handle(
    call: Call<ParamsOf<Path, Params>, QueryOf<Query>, BodyOf<Body, OptionalBody> | FromBytes>,
  ): Reply | Promise<Reply>
}

/** A defined route, with the types of its parts erased: what the route table holds. */
export interface Route {
  readonly method: Method
  readonly path: string
  /** The path of the route to which this one is another way; null: it is one of its own. */
  readonly standsFor: string | null
  /** The names in the path, in order. */
  readonly paramNames: readonly string[]
  readonly operationId: string
  readonly summary: string
  readonly family: ErrorFamily
  readonly access: RouteAccess
  readonly params: Shape | null
  readonly query: QueryShape | null
  readonly body: { readonly shape: Shape; readonly isRequired: boolean } | null
  /** Applies besides the server's own ceiling; see `withBodyCeilings`. */
  readonly bodyBytesMax: number
  readonly readBytes: ((body: DataView, principal: Principal | null) => unknown) | null
  readonly presentForm: ((body: unknown) => unknown) | null
  readonly bodyInPieces: BodyInPieces | null
  readonly requireJsonContentType: boolean
  readonly headers: readonly RequestHeaderField[]
  readonly ignoresHeaders: boolean
  /** Lower-case names of the required headers; enforced with `STRICT_HEADERS` only. */
  readonly strictHeaders: readonly string[]
  /** Lower-case names of the headers that must not occur twice with different values. */
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

/** Makes what checks the parts of a call. A definition that contradicts itself is a defect of ours and ends the start. */
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
    params: params === undefined ? null : new Shape(params, 'path'),
    query:
      query === undefined
        ? null
        : new QueryShape(query, { refusesUnknown: isOfList(definition.family, query) }),
    body:
      bodySchema === undefined
        ? null
        : { shape: new Shape(bodySchema, 'body'), isRequired: body !== undefined },
    bodyBytesMax: Number.POSITIVE_INFINITY,
    readBytes: definition.readBytes ?? null,
    presentForm: definition.presentForm ?? null,
    bodyInPieces: definition.bodyInPieces ?? null,
    requireJsonContentType: definition.requireJsonContentType ?? false,
    headers,
    ignoresHeaders: definition.ignoresHeaders ?? false,
    strictHeaders: headers
      .filter(({ required }) => required !== undefined)
      .map(({ name }) => name.toLowerCase()),
    singleHeaders: [
      // RFC 9112, section 3.2. A route that ignores headers does not read it.
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
    // The shapes above are what makes the parts of a call have the types the handler names.
    handle: definition.handle as Route['handle'],
  }
}

/** Whether a query is that of a list of management: of what comes in pages. */
function isOfList(family: ErrorFamily, { properties }: TObject): boolean {
  return family === 'management' && 'page' in properties
}

/** The parameter a part of a path template stands for, `null` when it stands for itself. */
export function paramNameOf(part: string): string | null {
  return part.startsWith('{') && part.endsWith('}') ? part.slice(1, -1) : null
}

function paramNamesIn(path: string): string[] {
  assert(path.startsWith('/'), `a path begins with a slash: ${path}`)
  return path.split('/').flatMap(part => paramNameOf(part) ?? [])
}
