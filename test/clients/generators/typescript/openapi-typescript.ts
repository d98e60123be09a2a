/** The story with openapi-fetch and the types of openapi-typescript. */
import createClient from 'openapi-fetch'
import type { paths } from './generated'
import { address, key, ok, PLACE, searchFor, tell } from './story'

const client = createClient<paths>({ baseUrl: address, headers: { authorization: `Bearer ${key}` } })
const GROUPS = '/v2/schema/{proj_id}/{env_id}/groups'

await tell({
  check: async question => ok(await client.POST('/allowed', { body: question })).allow,
  bulk: async questions =>
    ok(await client.POST('/allowed/bulk', { body: questions })).allow.map(({ allow }) => allow),
  createGroup: async (group, tenant) => {
    const body = { group_instance_key: group, group_tenant: tenant }
    ok(await client.POST(GROUPS, { params: { path: PLACE }, body }))
  },
  addMember: async (group, user, tenant) => {
    const params = { path: { ...PLACE, group_instance_key: group, user_id: user } }
    const body = { tenant }
    ok(await client.PUT(`${GROUPS}/{group_instance_key}/users/{user_id}`, { params, body }))
  },
  addRole: async (group, role, document, tenant) => {
    const path = { ...PLACE, group_instance_key: group }
    const body = { role, resource: 'document', resource_instance: document, tenant }
    ok(await client.POST(`${GROUPS}/{group_instance_key}/roles`, { params: { path }, body }))
  },
  search: async (user, token) => {
    const found = ok(await client.POST('/access/v1/search/resource', { body: searchFor(user, token) }))
    return { ids: found.results.map(({ id }) => id), next: found.page.next_token }
  },
})
