/**
 * Management routes in short: each names an operation and carries the schemas its input comes from. The compiler checks
 * that what the schemas let through is what the operation takes.
 */
import type { Static, TObject, TSchema } from 'typebox'
import { assert } from '#model/assert.ts'
import type { OperationInput, OperationName } from '#services/management/operations.ts'
import type { ManagementRequest } from '#services/management-service.ts'
import type { Call, Reply } from '../exchange.ts'
import { RawJson } from '../exchange.ts'
import { type RequestHeaderField, REVISION } from '../header-fields.ts'
import { defineRoute, type Method, type Responses, type Route } from '../route.ts'

export interface ManagementReply {
  /** The answer as JSON; null: there is none. */
  readonly json: string | null
  /** Whether the answer is about something that did not exist before, where callers can tell. */
  readonly isCreated: boolean
  /** The state the answer tells of. */
  readonly revision: string
}

/** Carries a request to the thread that writes. */
export interface ManagementGateway {
  /** Resolves when the change, if any, is in force. Rejects with the operation's `AuthzError`. */
  execute(request: ManagementRequest): Promise<ManagementReply>
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
  readonly deprecated?: boolean
  readonly earlyAccess?: boolean
  readonly refusals?: readonly number[]
  /** The answer on success, with 200; absent: 204 without a body. */
  readonly answer?: TSchema
  /** The answer may have 201 in place of 200: the operation answers `Created`. */
  readonly mayCreate?: boolean
  /** The answer may be left out, with 204 in place of 200. */
  readonly mayBeEmpty?: boolean
}

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
      (Input<Params, Query, Body, OptionalBody> extends OperationInput<Name>
        ? unknown
        : { readonly operation: 'the schemas do not fit the input of this operation' }),
  ): Route => {
    const { operation, answer, mayCreate, mayBeEmpty, ...route } = definition
    const done = { description: 'Done.', headers: [REVISION] }
    const told = { ...done, ...(answer && { schema: answer }) }
    const responses: Responses = {
      ...(answer && { 200: told }),
      ...(mayCreate && { 201: { ...told, description: 'Created.' } }),
      ...((mayBeEmpty || !answer) && { 204: done }),
    }
    return defineRoute({
      ...route,
      operationId: operation,
      family: 'management',
      access: 'any-key',
      headers: headers.fields,
      responses,
      handle: call => {
        headers.check(call.headers)
        return forward(gateway, operation, call as Call)
      },
    } as Parameters<typeof defineRoute>[0])
  }
}

/** Makes routes of one gateway. */
export type Manage = ReturnType<typeof managed>

async function forward(gateway: ManagementGateway, operation: OperationName, call: Call): Promise<Reply> {
  assert(call.principal, 'a management route has a caller')
  const { proj_id, env_id } = call.params as EnvironmentPath
  const { json, isCreated, revision } = await gateway.execute({
    operation,
    principal: call.principal,
    path: { project: proj_id, environment: env_id },
    input: { params: call.params, query: call.query, body: call.body } as OperationInput<typeof operation>,
  })
  const headers = { 'x-revision': revision }
  if (json === null) return { status: 204, body: undefined, headers }
  return { status: isCreated ? 201 : 200, body: new RawJson(json), headers }
}
