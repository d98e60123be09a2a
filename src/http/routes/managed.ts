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
import { defineRoute, type Method, type Route } from '../route.ts'

/** Carries a request to the thread that writes. */
export interface ManagementGateway {
  /** Resolves with the answer as JSON (null: none) and the revision it tells of. */
  execute(request: ManagementRequest): Promise<{ readonly json: string | null; readonly revision: string }>
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
  /** The answer on success; absent: 204 without a body. */
  readonly answer?: TSchema
}

export function managed(gateway: ManagementGateway) {
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
    const { operation, answer, ...route } = definition
    const status = answer === undefined ? 204 : 200
    return defineRoute({
      ...route,
      operationId: operation,
      family: 'management',
      access: 'any-key',
      responses: { [status]: { description: 'Done.', ...(answer && { schema: answer }) } },
      handle: call => forward(gateway, operation, status, call as Call),
    } as Parameters<typeof defineRoute>[0])
  }
}

async function forward(
  gateway: ManagementGateway,
  operation: OperationName,
  status: number,
  call: Call,
): Promise<Reply> {
  assert(call.principal, 'a management route has a caller')
  const { proj_id, env_id } = call.params as EnvironmentPath
  const { json, revision } = await gateway.execute({
    operation,
    principal: call.principal,
    project: proj_id,
    environment: env_id,
    input: { params: call.params, query: call.query, body: call.body } as OperationInput<typeof operation>,
  })
  return {
    status,
    body: json === null ? undefined : new RawJson(json),
    headers: { 'x-revision': revision },
  }
}
