/** Change stream of an environment (Server-Sent Events). */
import { CACHE_CONTROL, LAST_EVENT_ID, REVISION, UNBUFFERED } from '#http/message/header-fields.ts'
import type { Call } from '#http/message/request-reply.ts'
import { type Authenticate, isStillAdmitted } from '#http/routing/route-access.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { parsePosition } from '#management/changes/stream-position.ts'
import type { SessionAccess } from '#http/routing/session-access.ts'
import { assert } from '#model/assert.ts'
import { ChangesPath, ChangesQuery, EVENTS_TYPE, StreamEvent } from '#entities/change-event.ts'
import type { EnvironmentPath } from '#model/wire/organization/environment.ts'
import { FACTS_BASE, type ManagementGateway, plainNames } from './managed.ts'

const NEEDED = { access: 'any-key', level: 'read' } as const
const NEEDS = { ...NEEDED, delegated: null }

/** `sessions`: null if sign-in is not configured. */
export function changesRoute(
  gateway: ManagementGateway,
  authenticate: Authenticate,
  sessions: SessionAccess | null,
): Route {
  return defineRoute({
    method: 'GET',
    path: `${FACTS_BASE}/changes`,
    operationId: 'streamChanges',
    summary: 'Stream the changes of an environment, starting now or after a revision',
    family: 'management',
    ...NEEDED,
    headers: [LAST_EVENT_ID],
    params: ChangesPath,
    query: ChangesQuery,
    responses: {
      200: {
        description: 'Events, until either side ends the stream.',
        schema: StreamEvent,
        contentType: EVENTS_TYPE,
        headers: [REVISION, CACHE_CONTROL, UNBUFFERED],
      },
    },
    refusals: [422, 429, 503],
    handle: async (call: Call<EnvironmentPath, ChangesQuery>) => {
      const { principal, params, query, headers } = call
      assert(principal, 'a management route has a caller')
      const path = { project: params.proj_id, environment: params.env_id }
      const { stream, revision } = await gateway.execute(
        {
          about: 'changes',
          operation: 'streamChanges',
          principal,
          ...plainNames(call.names),
          path,
          query,
          since: sinceOf(headers.get('last-event-id'), query.since),
        },
        { caller: call.caller, isRead: true },
      )
      assert(stream, 'changes come as a stream')
      const authorization = headers.get('authorization') ?? ''
      const { session } = principal
      const isAdmitted =
        session === undefined
          ? () => isStillAdmitted(NEEDS, authorization, authenticate)
          : () => sessions!.isStillAdmitted(session.sessionId, NEEDS, path)
      return {
        status: 200,
        body: stream(isAdmitted, session === undefined ? 'key' : 'session'),
        headers: {
          'content-type': EVENTS_TYPE,
          'cache-control': 'no-store, no-transform',
          // Tells proxies not to buffer the stream.
          'x-accel-buffering': 'no',
          'x-revision': revision,
        },
      }
    },
  })
}

/** An empty header counts as absent: clients send it if they have not received an event ID yet. */
function sinceOf(header: string | undefined, query: string | undefined) {
  if (header) return parsePosition(header, ['header', LAST_EVENT_ID.name])
  return query === undefined ? null : parsePosition(query, ['query', 'since'])
}
