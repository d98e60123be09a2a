/** API schemas of sessions (administration.md sections 3 and 4). */
import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '#model/wire/common-fields.ts'
import { envelope, pagingQuery } from '#model/wire/paging.ts'
import { grantsCut, MemberGrant } from './member.ts'

export const OwnSession = Type.Object({
  member: Type.Object({
    id: Uuid,
    name: nullable(Type.String()),
    email: nullable(Type.String()),
    issuer: Type.String(),
    subject: Type.String(),
  }),
  csrf_token: Type.String({
    description: 'Value for the header `X-CSRF-Token` of all other requests in this session.',
  }),
  session_id: Uuid,
  signed_in_at: Timestamp,
  idle_expires_at: {
    ...Timestamp,
    description:
      'Time at which the session ends if it is not used. It can end up to a tenth of that time earlier.',
  },
  expires_at: { ...Timestamp, description: 'Time at which the session ends in any case.' },
  grants: Type.Array(MemberGrant),
  grants_cut: grantsCut,
  groups: Type.Array(Type.String(), { description: 'Groups at the issuer that gave a grant at sign-in.' }),
  groups_cut: Type.Boolean({ description: 'Whether groups were ignored, because there were too many.' }),
  end_session_url: nullable(Type.String(), 'Address at which the issuer ends its own session.'),
})
export type OwnSession = Static<typeof OwnSession>

export const EndedSession = Type.Object({
  end_session_url: nullable(Type.String(), 'Address at which the issuer ends its own session.'),
})
export type EndedSession = Static<typeof EndedSession>

const ListedSession = Type.Object({
  id: Uuid,
  member_id: Uuid,
  signed_in_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
  user_agent: nullable(Type.String(), 'The browser that signed in, as it named itself.'),
  is_current: Type.Boolean({ description: 'Whether this request came in this session.' }),
})
export type ListedSession = Static<typeof ListedSession>
export const SessionEnvelope = envelope(ListedSession)

export const SessionsQuery = Type.Object({
  ...pagingQuery,
  member_id: Type.Optional(Type.String({ minLength: 1, description: 'Only sessions of this member.' })),
})
export type SessionsQuery = Static<typeof SessionsQuery>

export const SessionPath = Type.Object({
  session_id: Type.String({ minLength: 1, description: 'Id of the session.' }),
})
export type SessionPath = Static<typeof SessionPath>
