/**
 * Changes permissions of member groups. A request replaces all permissions of a group, so that it also
 * states the version of the group that was read.
 */
import { idFrom } from '#model/instance-reference.ts'
import {
  MemberGroup,
  MemberGroupList,
  type MemberGrant,
  type MemberPermission,
} from '#model/wire/organization/member.ts'
import { ask, Done, resultOf } from '#cli/session/api.ts'
import { RefusedError } from '#cli/session/exit-codes.ts'
import type { HttpApi } from '#cli/session/http-api.ts'
import { allPages } from './pages.ts'

const GROUPS = '/v2/member_groups'

export const memberGroups = (api: HttpApi) => allPages(api, MemberGroupList, GROUPS)

/** Gives a group a permission, which replaces the permission on the same object. Creates the group. */
export async function grantToGroup(
  api: HttpApi,
  name: string,
  permission: MemberPermission,
): Promise<MemberGroup> {
  const found = await groupNamed(api, name)
  if (found === null) {
    return ask(api, MemberGroup, 'POST', GROUPS, { group: name, permissions: [permission] })
  }
  return replaced(api, found, [...withoutObject(found.group, permission), permission])
}

/** Removes the permission of a group on an object. Deletes a group without other permissions. */
export async function revokeFromGroup(
  api: HttpApi,
  name: string,
  object: MemberPermission,
): Promise<MemberGroup | null> {
  const found = await requiredGroup(api, name)
  const { group } = found
  const rest = withoutObject(group, object)
  if (rest.length === group.permissions.length) {
    throw new RefusedError(`the member group ${JSON.stringify(name)} has no permission on this object`)
  }
  if (rest.length > 0) return replaced(api, found, rest)
  await deleted(api, found)
  return null
}

export async function deleteGroup(api: HttpApi, name: string): Promise<void> {
  await deleted(api, await requiredGroup(api, name))
}

/** A group as it was read. A change fails if the group has changed since then. */
interface FoundGroup {
  readonly group: MemberGroup
  readonly tag: string | null
}

/** Returns null if there is no such group. */
async function groupNamed(api: HttpApi, name: string): Promise<FoundGroup | null> {
  const id = (await memberGroups(api)).find(({ group }) => group === name)?.id
  if (id === undefined) return null
  const path = `${GROUPS}/${id}`
  const answer = await api.send('GET', path)
  return { group: resultOf(MemberGroup, answer, `GET ${path}`), tag: answer.tag }
}

async function requiredGroup(api: HttpApi, name: string): Promise<FoundGroup> {
  const found = await groupNamed(api, name)
  if (found !== null) return found
  throw new RefusedError(`there is no member group ${JSON.stringify(name)}`)
}

async function replaced(
  api: HttpApi,
  { group: { id, group }, tag }: FoundGroup,
  permissions: readonly MemberPermission[],
): Promise<MemberGroup> {
  const path = `${GROUPS}/${id}`
  return resultOf(MemberGroup, await api.sendIf(tag, 'PUT', path, { group, permissions }), `PUT ${path}`)
}

async function deleted(api: HttpApi, { group: { id }, tag }: FoundGroup): Promise<void> {
  const path = `${GROUPS}/${id}`
  resultOf(Done, await api.sendIf(tag, 'DELETE', path), `DELETE ${path}`)
}

/** The permissions of a group on other objects, as requests contain them. */
function withoutObject({ permissions }: MemberGroup, object: MemberPermission): MemberPermission[] {
  return permissions.filter(grant => !isOn(grant, object)).map(sentPermission)
}

/** Whether the grant is on the object of the permission, which names it by keys or ids. */
function isOn(grant: MemberGrant, { object_type, project_id, environment_id }: MemberPermission): boolean {
  return (
    grant.object_type === object_type &&
    isNamed(project_id, grant.project_key, grant.project_id) &&
    isNamed(environment_id, grant.environment_key, grant.environment_id)
  )
}

/** Whether a name is the key or the id of an object. Without a name, whether there is no object. */
function isNamed(name: string | null | undefined, key: string | null, id: string | null): boolean {
  if (name === null || name === undefined) return id === null
  return name === key || idFrom(name) === id
}

function sentPermission(grant: MemberGrant): MemberPermission {
  const { object_type, project_id, environment_id, access_level, tenants, roles } = grant
  // Groups do not have the level `decide`.
  const level = access_level as MemberPermission['access_level']
  return {
    object_type,
    project_id,
    environment_id,
    access_level: level,
    tenants: tenants ?? null,
    roles: roles ?? null,
  }
}
