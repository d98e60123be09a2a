/** The story with the client of @hey-api/openapi-ts. */
import {
  addGroupMember,
  addGroupRole,
  createGroup,
  isAllowed,
  isAllowedBulk,
  searchResources,
} from './generated'
import { client } from './generated/client.gen'
import { address, key, ok, PLACE, searchFor, tell } from './story'

client.setConfig({ baseUrl: address, auth: key })

await tell({
  check: async question => ok(await isAllowed({ body: question })).allow,
  bulk: async questions => ok(await isAllowedBulk({ body: questions })).allow.map(({ allow }) => allow),
  createGroup: async (group, tenant) => {
    ok(await createGroup({ path: PLACE, body: { group_instance_key: group, group_tenant: tenant } }))
  },
  addMember: async (group, user, tenant) => {
    const path = { ...PLACE, group_instance_key: group, user_id: user }
    ok(await addGroupMember({ path, body: { tenant } }))
  },
  addRole: async (group, role, document, tenant) => {
    const body = { role, resource: 'document', resource_instance: document, tenant }
    ok(await addGroupRole({ path: { ...PLACE, group_instance_key: group }, body }))
  },
  search: async (user, token) => {
    const found = ok(await searchResources({ body: searchFor(user, token) }))
    return { ids: found.results.map(({ id }) => id), next: found.page.next_token }
  },
})
