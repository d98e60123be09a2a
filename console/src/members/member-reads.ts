/** Members, member groups and sessions, as the API returns them. */
import { onlyAs, type Schemas, service, taggedAnswerOf } from '../interface/client.ts'
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

export const MEMBER = '/v2/members/{member_id}'

/**
 * Header for the deletion of a member. Rejects if another user has changed the own grants or the invitation
 * of the member since it was read, because a change would replace grants that the user has not seen.
 */
export async function requireSeen(seen: Member) {
  const params = { path: { member_id: seen.id } }
  const { value, tag } = await taggedAnswerOf(service.GET(MEMBER, { params }))
  if (changeableOf(value) !== changeableOf(seen)) throw Problem.stale()
  return onlyAs(tag)
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
