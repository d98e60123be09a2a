/** Calls of members and member groups. */
import { ADMIN_KEY, type Client } from '#testing/processes/running-service.ts'
import { type Call, call } from './schema-calls.ts'

/** A member and a member group that exist before the calls. */
export interface ExampleMembers {
  readonly memberId: string
  readonly memberGroupId: string
}

const MEMBERS = '/v2/members'
const GROUPS = '/v2/member_groups'
const PROJECT = { object_type: 'project', project_id: 'default', access_level: 'write' }
const ORGANIZATION = { object_type: 'org', access_level: 'read' }
const NO_ID = '00000000-0000-4000-8000-000000000000'

/** Settings of a service in which members can sign in. No issuer listens at this address. */
export const SIGN_IN = {
  oidcIssuer: 'http://localhost:1',
  oidcClientId: 'verdict',
  publicUrl: 'http://localhost:2',
}

/** Creates the entities that the calls need. */
export async function exampleMembers(verdict: Client): Promise<ExampleMembers> {
  const made = async (path: string, body: object) =>
    (await verdict.admin<{ id: string }>('POST', path, { ...body, permissions: [PROJECT] })).body.id
  return {
    memberId: await made(MEMBERS, { subject: 'bob' }),
    memberGroupId: await made(GROUPS, { group: 'ops' }),
  }
}

/** One call of every operation, in an order in which each succeeds. */
export function memberCalls({ memberId, memberGroupId }: Partial<ExampleMembers>): Call[] {
  const id = memberId ?? NO_ID
  const ann = `${MEMBERS}/ann@example.com`
  const group = `${GROUPS}/${memberGroupId ?? NO_ID}`
  const calls = [
    call('createMember', 'POST', MEMBERS, { email: 'ann@example.com', permissions: [PROJECT] }),
    call('createMember', 'POST', MEMBERS, { id, permissions: [ORGANIZATION] }),
    call('listMembers', 'GET', `${MEMBERS}?search=ann`),
    call('getMember', 'GET', ann),
    call('updateMember', 'PATCH', ann, { settings: { theme: 'dark' } }),
    call('deleteMember', 'DELETE', ann),
    call('deleteMemberPermissions', 'DELETE', MEMBERS, { id, permissions: [ORGANIZATION] }),
    call('createMemberGroup', 'POST', GROUPS, { group: 'devs', permissions: [PROJECT] }),
    call('listMemberGroups', 'GET', GROUPS),
    call('getMemberGroup', 'GET', group),
    call('replaceMemberGroup', 'PUT', group, { group: 'ops', permissions: [ORGANIZATION] }),
    call('deleteMemberGroup', 'DELETE', group),
  ]
  return calls.map(each => ({ ...each, key: ADMIN_KEY }))
}
