/**
 * `/nginx_allowed` (conditions.md 10.5): a check whose parts are in request headers, for `auth_request` of
 * nginx. nginx allows a request if this route responds with 2xx, and rejects it on 401 and 403. Therefore a
 * deny has the status 403. With any other status, nginx responds with 500.
 */
import type { DecisionService } from '#decisions/decision-service.ts'
import { NameInHeader, REQUEST_ID, type RequestHeaderField } from '#http/message/header-fields.ts'
import type { Call } from '#http/message/request-reply.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { AuthzError } from '#model/errors.ts'
import { type AllowedQuery, AllowedResult, DeniedOrRefused } from '#model/wire/decisions/decision.ts'
import { decided, seesReasons } from './allowed.ts'

const ENDS =
  'Must begin and end with ASCII characters: others are removed there, which changes the key. Two different values are 400.'

/**
 * Describes a header that nginx sends with `auth_request` according to its configuration (conditions.md
 * 10.5).
 */
function askedByHeader(name: string, description: string): RequestHeaderField {
  return {
    name,
    description: `${description} ${ENDS}`,
    schema: NameInHeader,
    required: 'always',
    isSingle: true,
  }
}

const ASKED_USER = askedByHeader('Permit-User-Key', 'The key of the user.')
const ASKED_TENANT = askedByHeader('Permit-Tenant-Id', 'The key of the tenant.')
const ASKED_ACTION = askedByHeader('Permit-Action', 'The key of the action.')
const ASKED_TYPE = askedByHeader('Permit-Resource-Type', 'The key of the resource.')
const ASKED_KEY: RequestHeaderField = {
  name: 'Permit-Resource-Key',
  description:
    'The key of the instance. If the header is absent or empty, the check is about the type. The gateway must always set this header, even if ' +
    `it is empty. Otherwise a client could send it and name an instance. ${ENDS}`,
  schema: NameInHeader,
  isSingle: true,
}

export function nginxRoutes(decisions: DecisionService, hasDebug: boolean): Route[] {
  return (['GET', 'POST'] as const).map(method =>
    defineRoute({
      method,
      path: '/nginx_allowed',
      operationId: method === 'GET' ? 'isAllowedNginx' : 'isAllowedNginxByPost',
      level: 'decide',
      summary:
        'Check whether a user can perform an action on a resource, for auth_request of nginx (request in headers)',
      family: 'native',
      access: 'environment',
      headers: [ASKED_USER, ASKED_TENANT, ASKED_ACTION, ASKED_TYPE, ASKED_KEY, REQUEST_ID],
      responses: {
        200: { description: 'Access is allowed.', schema: AllowedResult },
        403: {
          description:
            'Access is denied, or the API key is not that of an environment or has too low a level.',
          schema: DeniedOrRefused,
        },
      },
      handle: ({ principal, headers, caller }: Call) => {
        const environmentId = environmentOf(principal)
        const decider = {
          decisions,
          hasDebug: hasDebug && seesReasons(principal),
          deniedStatus: 403,
        } as const
        return decided(decider, environmentId, questionIn(headers), caller)
      },
    }),
  )
}

/**
 * Reads the check from the headers. Throws `MALFORMED_REQUEST` if a required header is missing or if a header
 * is empty, because an empty name must not change the meaning of the check.
 */
function questionIn(headers: ReadonlyMap<string, string>): AllowedQuery {
  const read = ({ name, required }: RequestHeaderField): string | undefined => {
    const value = headers.get(name.toLowerCase())
    if (value === '' || (value === undefined && required !== undefined)) {
      const message = `this request needs the header ${name}, with a value that begins and ends with ASCII characters`
      throw new AuthzError('MALFORMED_REQUEST', message)
    }
    return value
  }
  const key = read(ASKED_KEY)
  return {
    user: { key: read(ASKED_USER)! },
    action: read(ASKED_ACTION)!,
    resource: { type: read(ASKED_TYPE)!, tenant: read(ASKED_TENANT)!, ...(key !== undefined && { key }) },
  }
}
