/**
 * Management routes in short: each names an operation and carries the schemas its input comes from. The compiler checks
 * that what the schemas let through is what the operation takes.
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
import type { Call, Reply, RequestNames } from '#http/message/request-reply.ts'
import { RawBytes, RawJson } from '#http/message/request-reply.ts'
import type { LiveBytes } from '#management/changes/live-bytes.ts'
import type { RouteAccess } from '#http/routing/route-access.ts'
import { defineRoute, type Method, type Responses, type Route } from '#http/routing/route.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { tagOf } from '#management/environment/conditional.ts'
import type { ChangeCondition } from '#management/environment/environment-service.ts'
import type { OperationInput, OperationName, ReadOperationName } from '#management/environment/operations.ts'
import type {
  AskedBy,
  ManagementRequest,
  OrganizationInput,
  OrganizationOperationName,
} from '#management/management-service.ts'
import { assert } from '#model/assert.ts'
import { inexactIntegerIn } from '#model/json-numbers.ts'
import { wantedGrant, wantedTags } from './if-match.ts'

export interface ManagementReply {
  /** The answer as JSON; null: there is none. */
  readonly json: string | Uint8Array | null
  /** Whether the answer is about a thing that did not exist before, where the status tells callers so. */
  readonly isCreated: boolean
  /** What the caller should know of what was done. */
  readonly warning: string | null
  /** The state that the answer is from, or several, separated by commas. */
  readonly revision: string
  /** The answer, if it comes in pieces. */
  readonly pieces?: PieceSource
  /** The answer, if it goes on; `isAdmitted` says whether the key of its reader is still good. */
  readonly stream?: (isAdmitted: () => boolean) => LiveBytes
}

/** Carries a request to the main thread, which writes. */
export interface ManagementGateway {
  /**
   * Resolves when the change, if any, is in force. Rejects with the operation's `AuthzError`. When the caller leaves, work
   * that has not begun is dropped, and long work ends at its next stop.
   */
  execute(request: ManagementRequest, by: AskedBy): Promise<ManagementReply>
}

export const SCHEMA_BASE = '/v2/schema/{proj_id}/{env_id}'
export const FACTS_BASE = '/v2/facts/{proj_id}/{env_id}'

interface EnvironmentPath {
  readonly proj_id: string
  readonly env_id: string
}

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
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly params: Params
  readonly query?: Query
  readonly body?: Body
  readonly optionalBody?: OptionalBody
  /**
   * The operation that reads the thing at this path, or what it is a part of, by these parameters alone. Its answers have the tag of
   * what they show, and so have those of changes, whose bodies are the same; changes take `If-Match`. Absent: the path names no
   * thing, or nobody changes it there.
   */
  readonly thing?: ThingOperation<Params>
  /** The answer shows a part of the thing, and has no tag. */
  readonly answersPart?: true
  /**
   * What it does with the one grant that it names: both take `If-Match` with the tag of that, and who makes one or changes its end may say
   * `If-None-Match`. Absent: it is about no grant, or about several.
   */
  readonly grant?: 'made' | 'removed'
  readonly deprecated?: boolean
  readonly earlyAccess?: boolean
  readonly refusals?: readonly number[]
  /** It changes nothing. Absent: that is what the method says. */
  readonly isRead?: true
  /** The answer on success, with 200; absent: 204 without a body. */
  readonly answer?: TSchema
  /** The answer may have 201 in place of 200: the operation answers `Created`. */
  readonly mayCreate?: boolean
  /** The answer may be left out, with 204 in place of 200. */
  readonly mayBeEmpty?: boolean
  /** The answer always has 201 in place of 200: the operation answers `Created`. */
  readonly alwaysCreates?: boolean
  /** The answer may have a `Warning`: the operation answers `Warned`. */
  readonly mayWarn?: boolean
  /** What the query of a caller of such headers means; absent: what it says. */
  readonly forCaller?: ForCaller<Query>
  /** Completes the answer in this thread. */
  readonly complete?: (json: string, call: Call) => Promise<string>
}

/** The operations that read something by these parameters alone. */
type ThingOperation<Params> = {
  [Name in ReadOperationName]: Input<Params, undefined, undefined, undefined> extends OperationInput<Name>
    ? Name
    : never
}[ReadOperationName]

/** How a query depends on who asks. */
interface ForCaller<Query> {
  readonly header: RequestHeaderField
  queryOf(
    query: Query extends TObject ? Static<Query> : never,
    headers: ReadonlyMap<string, string>,
  ): Query extends TObject ? Static<Query> : never
}

/** Whether the parts that the schemas let through are what an operation takes. */
type Fits<Given, Taken> = Given extends Taken
  ? unknown
  : { readonly operation: 'the schemas do not fit the input of this operation' }

/** Headers that routes read, and the check of them. */
export interface CheckedHeaders {
  readonly fields: readonly RequestHeaderField[]
  /** Throws when one is not as it must be. */
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
    assert(
      !thing || isChange || definition.operation === thing,
      'a thing is read by the operation that reads it',
    )
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
        const tags = isChange ? wantedTags(call.headers) : null
        const condition = grant
          ? wantedGrant(call.headers, grant)
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

/** Whether the parameters in the path are all that a call asks with. */
function isBare({ query }: Call): boolean {
  return Object.keys(query as object).length === 0
}

/** Makes routes of one gateway. */
export type Manage = ReturnType<typeof managed>

/** Routes about the organization itself; `access` says whose keys may call one. */
export function managedByOrganization(gateway: ManagementGateway) {
  return <
    Name extends OrganizationOperationName,
    Params extends TObject | undefined = undefined,
    Query extends TObject | undefined = undefined,
    Body extends TSchema | undefined = undefined,
    OptionalBody extends TSchema | undefined = undefined,
  >(
    definition: Omit<ManagedDefinition<Name, Params, Query, Body, OptionalBody>, 'params'> & {
      readonly access: RouteAccess
      readonly params?: Params
    } & Fits<Input<Params, Query, Body, OptionalBody>, OrganizationInput<Name>>,
  ): Route =>
    routeOf(
      definition,
      { access: definition.access, headers: [], answered: [REVISION] },
      async ({ principal, params, query, body, names, caller }) => {
        assert(principal, 'a management route has a caller')
        const { operation } = definition
        const input = { params, query, body }
        const request = { about: 'organization', operation, principal, ...plainNames(names), input } as const
        const reply = await gateway.execute(request, { caller, isRead: definition.method === 'GET' })
        return replyOf(mayWrite(definition) ? warned(reply, body) : reply, null)
      },
    )
}

/** Makes routes about the organization of one gateway. */
export type ManageOrganization = ReturnType<typeof managedByOrganization>

/** What the routes of one kind have in common. */
interface RouteKind {
  readonly access: RouteAccess
  readonly headers: readonly RequestHeaderField[]
  /** The headers of every success. */
  readonly answered: readonly HeaderField[]
}

function routeOf(
  definition: Omit<ManagedDefinition<string, unknown, unknown, unknown, unknown>, 'params'>,
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
  const told = { ...done, ...(answer && { schema: answer }) }
  const responses: Responses = {
    ...(answer && !alwaysCreates && { 200: told }),
    ...((mayCreate || alwaysCreates) && { 201: { ...told, description: 'Created.' } }),
    ...((mayBeEmpty || !answer) && { 204: done }),
  }
  const common = { operationId: operation, family: 'management', access, headers, responses, handle } as const
  return defineRoute({ ...route, ...common } as Parameters<typeof defineRoute>[0])
}

/** The names as plain values, which can be sent to another thread. */
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
    path: { project: proj_id, environment: env_id },
    input: { params: call.params, query: call.query, body: call.body } as OperationInput<typeof operation>,
    ...(condition && { condition }),
  } as const
  return gateway.execute(request, { caller: call.caller, isRead })
}

/** Whether the body of a request is stored, or a part of it. */
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

/** The reply with a warning if the body has an integer that conditions cannot compare. O(body). */
function warned(reply: ManagementReply, body: unknown): ManagementReply {
  const integer = reply.warning === null ? inexactIntegerIn(body) : null
  if (integer === null) return reply
  const warning = `${integer} is beyond 2^53 and would be rounded: it is stored with all digits, and conditions that read it are unknown; store such ids as strings`
  return { ...reply, warning }
}

/** `thing`: the body, if there is one, shows a thing; `isTagged`: as those see it who may go on to change it. */
function replyOf(
  { json, isCreated, warning, revision }: ManagementReply,
  thing: { readonly isTagged: boolean } | null,
): Reply {
  // 299: a warning that stays, of whoever answers.
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

/** JSON that came from the main thread. */
export function rawJson(json: string | Uint8Array): RawJson | RawBytes {
  return typeof json === 'string' ? new RawJson(json) : new RawBytes(json)
}
