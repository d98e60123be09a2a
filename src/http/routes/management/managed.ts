/**
 * Defines management routes in a short form: each definition names an operation and the schemas of its input.
 * The compiler checks that every input that passes the schemas fits the operation.
 */
import type { Static, TObject, TSchema } from 'typebox'
import {
  CACHE_CONTROL,
  ETAG,
  GRANT_IF_MATCH,
  GRANT_IF_NONE_MATCH,
  type HeaderField,
  IF_MATCH,
  type RequestHeaderField,
  REVISION,
  UNTRANSFORMED,
  WARNING,
} from '#http/message/header-fields.ts'
import { freeMemory } from '#http/message/byte-views.ts'
import { type Call, LentJson, type Reply, type RequestNames, RawJson } from '#http/message/request-reply.ts'
import type { DelegatedUse, RouteAccess } from '#http/routing/route-access.ts'
import { defineRoute, type Method, type Responses, type Route } from '#http/routing/route.ts'
import { tagOf } from '#management/conditional/conditional-change.ts'
import type { ChangeCondition } from '#management/environment/environment-service.ts'
import type { OperationInput, OperationName, ReadOperationName } from '#management/environment/operations.ts'
import type {
  AskedBy,
  ManagementReply,
  ManagementRequest,
  OrganizationInput,
  OrganizationOperationName,
  OrganizationRequest,
} from '#management/management-service.ts'
import { assert } from '#model/assert.ts'
import type { OrganizationThing } from '#management/organization/organization-operations.ts'
import type { AccessLevel } from '#model/principal.ts'
import { inexactIntegerIn } from '#model/text/json-numbers.ts'
import { grantCondition, expectedTags } from './if-match.ts'
import type { EnvironmentPath } from '#model/wire/organization/environment.ts'

/** Forwards requests to the main thread, which executes all management operations. */
export interface ManagementGateway {
  /**
   * Executes an operation. Resolves when its change, if any, has taken effect. Rejects with the `AuthzError`
   * of the operation. If the client disconnects, work that has not begun is dropped, and long work stops at
   * its next checkpoint.
   */
  execute(request: ManagementRequest, by: AskedBy): Promise<ManagementReply>
}

export const SCHEMA_BASE = '/v2/schema/{proj_id}/{env_id}'
export const FACTS_BASE = '/v2/facts/{proj_id}/{env_id}'

type Input<Params, Query, Body, OptionalBody> = {
  readonly params: Params extends TObject ? Static<Params> : never
  readonly query: Query extends TObject ? Static<Query> : Readonly<Record<never, never>>
  readonly body: Body extends TSchema
    ? Static<Body>
    : OptionalBody extends TSchema
      ? Static<OptionalBody> | undefined
      : undefined
}

interface ManagedDefinition<Name, Params, Query, Body, OptionalBody> {
  readonly operation: Name
  /** Lowest level of a key that can call the route. */
  readonly level: AccessLevel
  /** Use by clients whose grant is limited to tenants. If absent, the route rejects them. */
  readonly delegated?: DelegatedUse
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly params: Params
  readonly query?: Query
  readonly body?: Body
  readonly optionalBody?: OptionalBody
  /**
   * Name of the operation that reads the entity at this path, or the entity that contains it. The path
   * parameters must be its only input. Responses to this operation have the tag of the entity. Responses to
   * changes have the tag if their body is the same entity, and changes accept `If-Match`. Absent if the path
   * does not identify an entity, or if the entity cannot be changed at this path.
   */
  readonly thing?: ThingOperation<Params>
  /** Set if the response contains only a part of the entity. Such a response has no tag. */
  readonly answersPart?: true
  /**
   * Set if the operation identifies a single grant: `made` if it creates or changes the grant, and `removed`
   * if it removes the grant. The operation then accepts `If-Match` with the tag of the grant. With `made`, it
   * also accepts `If-None-Match`.
   */
  readonly grant?: 'made' | 'removed'
  readonly deprecated?: boolean
  readonly earlyAccess?: boolean
  readonly refusals?: readonly number[]
  /** Set if the operation changes nothing, although its method suggests a change. */
  readonly isRead?: true
  /**
   * Schema of a successful response with the status 200. If absent, the response has the status 204 and no
   * body.
   */
  readonly answer?: TSchema
  /** Whether the response can have the status 201 and not 200. The operation then returns `Created`. */
  readonly mayCreate?: boolean
  /** Whether the response can be empty, with the status 204 and not 200. */
  readonly mayBeEmpty?: boolean
  /** Whether the response always has the status 201 and never 200. The operation then returns `Created`. */
  readonly alwaysCreates?: boolean
  /** Whether the response can have a `Warning` header. The operation then returns `Warned`. */
  readonly mayWarn?: boolean
  /**
   * Adapts the query to the client, which is recognized by a header. If absent, the query is used unchanged.
   */
  readonly forCaller?: ForCaller<Query>
  /** Completes the JSON of the response in the thread that received the request. */
  readonly complete?: (json: string, call: Call) => Promise<string>
}

/** Names of the operations that read something and whose only input are these path parameters. */
type ThingOperation<Params> = {
  [Name in ReadOperationName]: Input<Params, undefined, undefined, undefined> extends OperationInput<Name>
    ? Name
    : never
}[ReadOperationName]

/** How the query of a route depends on the client. */
interface ForCaller<Query> {
  readonly header: RequestHeaderField
  queryOf(
    query: Query extends TObject ? Static<Query> : never,
    headers: ReadonlyMap<string, string>,
  ): Query extends TObject ? Static<Query> : never
}

/** Type check: fails to compile unless the input that the schemas accept fits the operation. */
type Fits<Given, Taken> = Given extends Taken
  ? unknown
  : { readonly operation: 'the schemas do not fit the input of this operation' }

/** Headers that routes read, and their validation. */
export interface CheckedHeaders {
  readonly fields: readonly RequestHeaderField[]
  /** Throws if a header is not valid. */
  check(headers: ReadonlyMap<string, string>): void
}

const NO_HEADERS: CheckedHeaders = { fields: [], check: () => undefined }

export function managed(gateway: ManagementGateway, headers = NO_HEADERS) {
  return <
    Name extends OperationName,
    Params extends TObject,
    Query extends TObject | undefined = undefined,
    Body extends TSchema | undefined = undefined,
    OptionalBody extends TSchema | undefined = undefined,
  >(
    definition: ManagedDefinition<Name, Params, Query, Body, OptionalBody> &
      Fits<Input<Params, Query, Body, OptionalBody>, OperationInput<Name>>,
  ): Route => {
    const { forCaller, thing, answersPart = false, grant, refusals = [] } = definition
    const isChange = thing !== undefined && definition.method !== 'GET'
    const showsThing = thing !== undefined && !answersPart
    assert(!thing || isChange || definition.operation === thing, 'an entity is read by its read operation')
    return routeOf(
      isChange || grant ? { ...definition, refusals: [...refusals, 412] } : definition,
      {
        access: 'any-key',
        headers: [
          ...headers.fields,
          ...(forCaller ? [forCaller.header] : []),
          ...(isChange ? [IF_MATCH] : []),
          ...(grant ? [GRANT_IF_MATCH] : []),
          ...(grant === 'made' ? [GRANT_IF_NONE_MATCH] : []),
        ],
        answered: showsThing && definition.answer ? [REVISION, ETAG, CACHE_CONTROL] : [REVISION],
      },
      async call => {
        headers.check(call.headers)
        const tags = isChange ? expectedTags(call.headers) : null
        const condition = grant
          ? grantCondition(call.headers, grant)
          : tags && { thing: thing as ReadOperationName, tags }
        const query = forCaller ? forCaller.queryOf(call.query as never, call.headers) : call.query
        const reply = await forward(gateway, definition, { ...call, query }, condition)
        const answered = mayWrite(definition) ? warned(reply, call.body) : reply
        const shown = showsThing ? { isTagged: isBare(call) } : null
        if (!definition.complete || answered.json === null) return replyOf(answered, shown)
        const json = await definition.complete(rawText(answered.json), call)
        return replyOf({ ...answered, json }, shown)
      },
    )
  }
}

/** Whether the request has no query parameters. */
function isBare({ query }: Call): boolean {
  return Object.keys(query as object).length === 0
}

/** Factory of the management routes of one gateway. */
export type Manage = ReturnType<typeof managed>

/** Creates routes about the organization itself. `access`: the kinds of keys that can call a route. */
export function managedByOrganization(gateway: ManagementGateway) {
  return <
    Name extends OrganizationOperationName,
    Params extends TObject | undefined = undefined,
    Query extends TObject | undefined = undefined,
    Body extends TSchema | undefined = undefined,
    OptionalBody extends TSchema | undefined = undefined,
  >(
    definition: Omit<ManagedDefinition<Name, Params, Query, Body, OptionalBody>, 'params' | 'thing'> & {
      readonly access: RouteAccess
      readonly params?: Params
      /** Like `thing` of a route about an environment. */
      readonly thing?: OrganizationThing
    } & Fits<Input<Params, Query, Body, OptionalBody>, OrganizationInput<Name>>,
  ): Route => {
    const { access, operation, method, thing, refusals = [] } = definition
    const isChange = thing !== undefined && method !== 'GET'
    return routeOf(
      isChange ? { ...definition, refusals: [...refusals, 412] } : definition,
      {
        access,
        headers: isChange ? [IF_MATCH] : [],
        answered: thing && definition.answer ? [REVISION, ETAG, CACHE_CONTROL] : [REVISION],
      },
      async call => {
        const { principal, params, query, body, names, claim, caller } = call
        assert(principal, 'a management route has a caller')
        const tags = isChange ? expectedTags(call.headers) : null
        const input = { params, query, body }
        const asked = { operation, principal, ...plainNames(names), claim, input }
        const request = {
          about: 'organization',
          ...asked,
          ...(tags && { condition: { thing, tags } }),
        } as const
        const reply = await gateway.execute(request as OrganizationRequest, {
          caller,
          isRead: method === 'GET',
        })
        return replyOf(
          mayWrite(definition) ? warned(reply, body) : reply,
          thing ? { isTagged: isBare(call) } : null,
        )
      },
    )
  }
}

/** Factory of the routes about the organization of one gateway. */
export type ManageOrganization = ReturnType<typeof managedByOrganization>

/** Common properties of routes of one kind. */
interface RouteKind {
  readonly access: RouteAccess
  readonly headers: readonly RequestHeaderField[]
  /** Headers that every successful response has. */
  readonly answered: readonly HeaderField[]
}

function routeOf(
  definition: Omit<ManagedDefinition<string, unknown, unknown, unknown, unknown>, 'params' | 'thing'> & {
    readonly thing?: string
  },
  { access, headers, answered }: RouteKind,
  handle: (call: Call) => Promise<Reply>,
): Route {
  const {
    operation,
    answer,
    mayCreate,
    mayBeEmpty,
    alwaysCreates,
    mayWarn,
    forCaller: _forCaller,
    thing: _thing,
    answersPart: _answersPart,
    grant: _grant,
    complete: _complete,
    ...route
  } = definition
  const doneHeaders = mayWarn || mayWrite(definition) ? [...answered, WARNING] : answered
  const done = { description: 'Done.', headers: doneHeaders }
  const described = { ...done, ...(answer && { schema: answer }) }
  const responses: Responses = {
    ...(answer && !alwaysCreates && { 200: described }),
    ...((mayCreate || alwaysCreates) && { 201: { ...described, description: 'Created.' } }),
    ...((mayBeEmpty || !answer) && { 204: done }),
  }
  const common = { operationId: operation, family: 'management', access, headers, responses, handle } as const
  return defineRoute({ ...route, ...common } as Parameters<typeof defineRoute>[0])
}

/** Copies the IDs of a request to a plain object, which can be posted to another thread. */
export function plainNames({ requestId, traceparent }: RequestNames): RequestNames {
  return { requestId, traceparent }
}

async function forward(
  gateway: ManagementGateway,
  {
    operation,
    method,
    isRead = method === 'GET',
  }: { readonly operation: OperationName; readonly method: Method; readonly isRead?: boolean },
  call: Call,
  condition: ChangeCondition | null,
): Promise<ManagementReply> {
  assert(call.principal, 'a management route has a caller')
  const { proj_id, env_id } = call.params as EnvironmentPath
  const request = {
    about: 'environment',
    operation,
    principal: call.principal,
    ...plainNames(call.names),
    claim: call.claim,
    path: { project: proj_id, environment: env_id },
    input: { params: call.params, query: call.query, body: call.body } as OperationInput<typeof operation>,
    ...(condition && { condition }),
  } as const
  return gateway.execute(request, { caller: call.caller, isRead })
}

/** Whether the operation can store the body of a request or a part of it. */
function mayWrite({
  method,
  isRead,
  body,
  optionalBody,
}: Pick<
  ManagedDefinition<string, unknown, unknown, unknown, unknown>,
  'method' | 'isRead' | 'body' | 'optionalBody'
>): boolean {
  return method !== 'GET' && !isRead && (body !== undefined || optionalBody !== undefined)
}

/**
 * Adds a warning to the reply if the body contains an integer that is too large for conditions to compare
 * exactly. O(body).
 */
function warned(reply: ManagementReply, body: unknown): ManagementReply {
  const integer = reply.warning === null ? inexactIntegerIn(body) : null
  if (integer === null) return reply
  const warning = `${integer} is beyond 2^53: it is stored with all digits, but conditions that read it are unknown; store such ids as strings`
  return { ...reply, warning }
}

/**
 * Creates the reply. `thing`: given if the body represents an entity. `isTagged`: whether the response has an
 * entity tag for later changes.
 */
function replyOf(
  { json, isCreated, warning, revision }: ManagementReply,
  thing: { readonly isTagged: boolean } | null,
): Reply {
  // 299 is the code of a persistent warning. The agent `-` means that no agent is named.
  const headers = {
    'x-revision': revision,
    ...(thing && json !== null && { ...UNTRANSFORMED, ...(thing.isTagged && { ETag: tagOf(json) }) }),
    ...(warning !== null && { warning: `299 - ${JSON.stringify(warning)}` }),
  }
  if (json === null) return { status: 204, body: undefined, headers }
  return { status: isCreated ? 201 : 200, body: rawJson(json), headers }
}

function rawText(json: string | Uint8Array): string {
  return typeof json === 'string' ? json : Buffer.from(json).toString()
}

/**
 * Wraps JSON that the main thread has created, so that it is sent unchanged. The main thread has transferred
 * the bytes to this thread, which frees their memory after they are sent.
 */
export function rawJson(json: string | Uint8Array): RawJson | LentJson {
  return typeof json === 'string' ? new RawJson(json) : new LentJson(json, freeMemory)
}
