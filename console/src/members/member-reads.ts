/** Members, member groups and sessions, as the API returns them. */
import type { Schemas } from '../interface/client.ts'

export type Member = Schemas['Member']
export type MemberGroup = Schemas['MemberGroup']
export type Session = Schemas['SessionEnvelope']['data'][number]
/** A permission as requests contain it. */
export type Permission = Schemas['MemberPermission']

/** First elements of the query keys about members, member groups and sessions. */
export const MEMBERS = 'members'
export const GROUPS = 'member-groups'
export const SESSIONS = 'sessions'

/** Identifier of a member at the issuer; null if an invitation has not been accepted yet. */
export function subjectOf({ identities }: Member): string | null {
  return identities[0]?.sub ?? null
}
