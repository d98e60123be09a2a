/** Sessions of members (administration.md sections 3 and 4). */
import { csrfTokenOf } from '#http/message/csrf-token.ts'
import { type Call, RawBytes, RawJson, type Reply } from '#http/message/request-reply.ts'
import type { Route } from '#http/routing/route.ts'
import type { SessionAccess } from '#http/routing/session-access.ts'
import { assert } from '#model/assert.ts'
import { Member } from '#model/wire/organization/member.ts'
import {
  EndedSession,
  OwnSession,
  SessionEnvelope,
  SessionPath,
  SessionsQuery,
} from '#model/wire/organization/session.ts'
import type { ManageOrganization } from './managed.ts'

/** Path of the member of the session. */
export const OWN_MEMBER = '/v2/members/me'
const OWN = '/v2/session'
const SESSIONS = '/v2/sessions'

/** `access`: null if no issuer is configured. The routes must then not be mounted. */
export function sessionRoutes(manage: ManageOrganization, access: SessionAccess | null): Route[] {
  const getSession = manage({
    operation: 'getSession',
    level: 'no_access',
    method: 'GET',
    path: OWN,
    summary: 'Read the session in the cookie of the request, with the token that other requests need',
    access: 'cookie',
    answer: OwnSession,
    refusals: [404],
  })
  const endSession = manage({
    operation: 'endSession',
    level: 'no_access',
    method: 'DELETE',
    path: OWN,
    summary: 'End the session of the request, and remove its cookie',
    access: 'session',
    answer: EndedSession,
    refusals: [404],
  })
  return [
    { ...getSession, handle: async call => withToken(await getSession.handle(call), call, access!) },
    {
      ...endSession,
      handle: async call => ({
        ...(await endSession.handle(call)),
        cookies: [access!.cookies.withoutSession()],
      }),
    },
    manage({
      operation: 'getOwnMember',
      level: 'no_access',
      method: 'GET',
      path: OWN_MEMBER,
      summary: 'Read the member of the session',
      access: 'session',
      answer: Member,
      refusals: [404],
    }),
    manage({
      operation: 'listSessions',
      level: 'no_access',
      method: 'GET',
      path: SESSIONS,
      summary: 'List the own sessions, or with level `admin` on the organization all sessions',
      access: 'any-key',
      query: SessionsQuery,
      answer: SessionEnvelope,
      refusals: [403, 404],
    }),
    manage({
      operation: 'deleteSession',
      level: 'no_access',
      method: 'DELETE',
      path: `${SESSIONS}/{session_id}`,
      summary: 'End an own session, or with level `admin` on the organization any session',
      access: 'any-key',
      params: SessionPath,
      refusals: [403, 404],
    }),
  ]
}

/**
 * Adds the token of the session to the description of the session. The main thread does not know it, because
 * it follows from the secret in the cookie.
 */
function withToken({ body, ...reply }: Reply, { headers }: Call, access: SessionAccess): Reply {
  assert(body instanceof RawJson || body instanceof RawBytes, 'the session is described in JSON')
  const text = body instanceof RawJson ? body.text : Buffer.from(body.bytes).toString()
  const session = JSON.parse(text) as object
  return { ...reply, body: { ...session, csrf_token: csrfTokenOf(access.secretOf(headers)) } }
}
