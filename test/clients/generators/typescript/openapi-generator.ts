/** The story with the `typescript-fetch` client of openapi-generator. */
import { AuthZENApi, Configuration, DecisionsApi, GroupsApi } from './generated'
import { address, key, searchFor, tell } from './story'

const configuration = new Configuration({ basePath: address, accessToken: key })
const decisions = new DecisionsApi(configuration)
const groups = new GroupsApi(configuration)
const authzen = new AuthZENApi(configuration)
const place = { projId: 'default', envId: 'default' }

await tell({
  check: async question => (await decisions.isAllowed({ allowedQuery: question })).allow,
  bulk: async questions =>
    (await decisions.isAllowedBulk({ allowedQuery: questions })).allow.map(({ allow }) => allow),
  createGroup: async (group, tenant) => {
    await groups.createGroup({ ...place, groupCreate: { groupInstanceKey: group, groupTenant: tenant } })
  },
  addMember: async (group, user, tenant) => {
    const member = { groupInstanceKey: group, userId: user }
    await groups.addGroupMember({ ...place, ...member, groupMemberBody: { tenant } })
  },
  addRole: async (group, role, document, tenant) => {
    const groupAddRole = { role, resource: 'document', resourceInstance: document, tenant }
    await groups.addGroupRole({ ...place, groupInstanceKey: group, groupAddRole })
  },
  search: async (user, token) => {
    const found = await authzen.searchResources({ resourceSearchRequest: searchFor(user, token) })
    return { ids: found.results.map(({ id }) => id), next: found.page.nextToken }
  },
})
