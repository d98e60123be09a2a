/** Members, member groups and sessions, as the API returns them. */
import { answerOf, onlyAs, type Schemas, service, taggedAnswerOf } from '../interface/client.ts'
import { Problem } from '../interface/problem.ts'

export type Member = Schemas['Member']
export type MemberGroup = Schemas['MemberGroup']
export type Session = Schemas['SessionEnvelope']['data'][number]
/** A permission as requests contain it. */
export type Permission = Schemas['MemberPermission']

/** First elements of the query keys about members, member groups and sessions. */
export const MEMBERS = 'members'
export const GROUPS = 'member-groups'
export const SESSIONS = 'sessions'

export const GROUP = '/v2/member_groups/{member_group_id}'

/**
 * Rejects if another user has changed the own grants or the invitation of a member since it was read, because
 * a change would replace grants that the user has not seen.
 */
export async function requireSeen(seen: Member): Promise<void> {
  const params = { path: { member_id: seen.id } }
  const current = await answerOf(service.GET('/v2/members/{member_id}', { params }))
  if (changeableOf(current) !== changeableOf(seen)) throw Problem.stale()
}

function changeableOf({ grants, invite }: Member): string {
  return JSON.stringify([grants.filter(({ via }) => via === 'own'), invite?.id])
}

/**
 * Header for a change of a group. Rejects if another user has changed the group since it was read.
 */
export async function onlyAsSeen({ id, permissions }: MemberGroup) {
  const params = { path: { member_group_id: id } }
  const { value, tag } = await taggedAnswerOf(service.GET(GROUP, { params }))
  if (JSON.stringify(value.permissions) !== JSON.stringify(permissions)) throw Problem.stale()
  return onlyAs(tag)
}

/** Identifier of a member at the issuer; null if an invitation has not been accepted yet. */
export function subjectOf({ identities }: Member): string | null {
  return identities[0]?.sub ?? null
}
