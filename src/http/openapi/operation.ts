/** Converts a route to an OpenAPI operation. */
import { JSON_TYPE } from '#http/message/answer.ts'
import { ANSWERED_REQUEST_ID } from '#http/message/header-fields.ts'
import type { RouteAccess } from '#http/routing/route-access.ts'
import type { Response, Route } from '#http/routing/route.ts'
import type { HeaderComponents } from './answer-headers.ts'
import type { ParameterComponents } from './parameters.ts'
import type { RefusalComponents } from './refusals.ts'
import { capitalized, type Json, type SchemaComponents } from './schema-components.ts'
import { tagOf } from './tags.ts'

export interface Components {
  readonly schemas: SchemaComponents
  readonly headers: HeaderComponents
  readonly parameters: ParameterComponents
  readonly refusals: RefusalComponents
}

const FORM_TYPE = 'application/x-www-form-urlencoded'
const ENVIRONMENT = { environmentKey: [] }
const PROJECT = { projectKey: [] }
const ORGANIZATION = { organizationKey: [] }
const SESSION = { session: [], csrfToken: [] }

/**
 * Credentials that a route accepts, as a list of alternatives. An empty object means that no credentials are
 * needed.
 */
const SECURITY: Readonly<Record<RouteAccess, readonly Json[]>> = {
  public: [],
  'optional-key': [{}, ENVIRONMENT, PROJECT, ORGANIZATION],
  'any-key': [ENVIRONMENT, PROJECT, ORGANIZATION],
  organization: [ORGANIZATION],
  project: [PROJECT, ORGANIZATION],
  manager: [PROJECT, ORGANIZATION],
  environment: [ENVIRONMENT],
  session: [SESSION],
  cookie: [{ session: [] }],
}

export function operationOf(route: Route, components: Components): Json {
  const { operationId, summary, path, access, level, delegated, body, bodyInPieces } = route
  const { deprecated, earlyAccess } = route
  const named = capitalized(operationId)
  return {
    operationId,
    summary,
    tags: [tagOf(path)],
    ...(deprecated && { deprecated }),
    ...(earlyAccess && { 'x-early-access': true }),
    security: SECURITY[access],
    ...(level && { 'x-access-level': level }),
    ...(delegated && { 'x-delegated': delegated }),
    parameters: components.parameters.of(route),
    ...(body && {
      requestBody: {
        required: body.isRequired,
        content: {
          [body.isForm ? FORM_TYPE : JSON_TYPE]: {
            schema: components.schemas.refer(body.shape.schema, `${named}Body`),
          },
        },
      },
    }),
    ...(bodyInPieces && {
      requestBody: {
        required: true,
        description: bodyInPieces.description,
        content: {
          [bodyInPieces.contentType]: {
            schema: components.schemas.refer(bodyInPieces.schema, `${named}Piece`),
          },
        },
      },
    }),
    // A deny can have the same status as an error response. The description of that status then covers both.
    responses: { ...components.refusals.of(route), ...successes(route, components) },
  }
}

function successes({ responses, operationId }: Route, components: Components): Json {
  const place = `${capitalized(operationId)}Answer`
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, success(response, components, place)]),
  )
}

function success(response: Response, components: Components, place: string): Json {
  const { description, schema, contentType = JSON_TYPE, headers = [] } = response
  return {
    description,
    headers: components.headers.of([ANSWERED_REQUEST_ID, ...headers]),
    ...(schema && { content: { [contentType]: { schema: components.schemas.refer(schema, place) } } }),
  }
}
