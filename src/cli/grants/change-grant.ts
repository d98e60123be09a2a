/** Creates or revokes a grant, and reports names in it that do not exist. */
import { Check } from 'typebox/schema'
import { formatInstanceReference } from '#model/instance-reference.ts'
import { GroupRead, GroupRecord } from '#entities/group.ts'
import { ManagementError } from '#model/wire/problem.ts'
import { RoleAssignment } from '#entities/role-assignment.ts'
import { type Api, Done, resultOf } from '#cli/session/api.ts'
import { RefusedError } from '#cli/session/exit-codes.ts'
import type { Grant } from './grants.ts'
import { unknownInGrant } from './unknown-names.ts'

/**
 * Creates or revokes a grant. Returns whether this changed anything. `expiration`: fields with the expiration
 * time for the body of the request. If names are unknown, throws `RefusedError` with these names and with
 * similar existing names.
 */
export async function changeGrant(
  api: Api,
  place: string,
  grant: Grant,
  change: {
    readonly method: 'POST' | 'DELETE'
    readonly expiration?: { readonly expires_at: string | null }
  },
): Promise<boolean> {
  const { path, body } = grant.isGroup
    ? await groupRequest(api, place, grant, change.method === 'POST')
    : userRequest(place, grant)
  const answer = await api.send(change.method, path, { ...body, ...change.expiration })
  const isNew = change.method === 'POST'
  if (answer.status === 404) {
    await refuseUnknown(api, place, grant, isNew)
    if (!isNew) return false
  }
  // The grant already exists with this expiration time.
  if (answer.status === 409 && Check(ManagementError, answer.body)) return false
  const granted = grant.isGroup ? GroupRead : RoleAssignment
  resultOf(isNew ? granted : Done, answer, `${change.method} ${path}`)
  return true
}

/** Throws `RefusedError` if a name in the grant is unknown. */
async function refuseUnknown(api: Api, place: string, grant: Grant, isNew: boolean): Promise<void> {
  const sentences = await unknownInGrant(api, place, grant)
  if (sentences.length === 0) return
  const isMade = isNew && sentences.some(sentence => sentence.startsWith('there is no instance'))
  const hint = isMade ? ['use --tenant to create it in that tenant'] : []
  throw new RefusedError([...sentences, ...hint].join('\n'))
}

function userRequest(place: string, { holder, role, instance, tenant }: Grant) {
  const where = { tenant, ...(instance && { resource_instance: formatInstanceReference(instance) }) }
  return { path: `/v2/facts/${place}/role_assignments`, body: { user: holder, role, ...where } }
}

/**
 * Builds the request for a grant to a group. If the instance did not exist, the service would create it in
 * the tenant of the group. A typo must not create an instance, so this function first checks whether the
 * instance exists.
 */
async function groupRequest(api: Api, place: string, grant: Grant, isNew: boolean) {
  const { holder, role, instance, tenant } = grant
  const { type: resource, key: resource_instance } = instance!
  const path = `/v2/schema/${place}/groups/direct/${encodeURIComponent(holder)}`
  const answer = await api.send('GET', path)
  if (answer.status === 404 || (isNew && tenant === undefined)) {
    await refuseUnknown(api, place, grant, isNew)
  }
  const { group_tenant } = resultOf(GroupRecord, answer, `GET ${path}`)
  return {
    path: `${path.replace('/direct/', '/')}/roles`,
    body: { role, resource, resource_instance, tenant: tenant ?? group_tenant },
  }
}
