/** The story with the `fetch` client of orval. */
import {
  addGroupMember,
  addGroupRole,
  createGroup,
  isAllowed,
  isAllowedBulk,
  searchResources,
} from './generated'
import { key, PLACE, searchFor, tell } from './story'

const options = { headers: { authorization: `Bearer ${key}` } }
const place = [PLACE.proj_id, PLACE.env_id] as const

/** The body of a response with status 200. Throws for other statuses. */
function body<Answer extends { status: number; data: unknown }>(
  answer: Answer,
): Extract<Answer, { status: 200 }>['data'] {
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.data))
  return answer.data as Extract<Answer, { status: 200 }>['data']
}

await tell({
  check: async question => body(await isAllowed(question, options)).allow,
  bulk: async questions => body(await isAllowedBulk(questions, options)).allow.map(({ allow }) => allow),
  createGroup: async (group, tenant) => {
    body(await createGroup(...place, { group_instance_key: group, group_tenant: tenant }, options))
  },
  addMember: async (group, user, tenant) => {
    body(await addGroupMember(...place, group, user, { tenant }, options))
  },
  addRole: async (group, role, document, tenant) => {
    const grant = { role, resource: 'document', resource_instance: document, tenant }
    body(await addGroupRole(...place, group, grant, options))
  },
  search: async (user, token) => {
    const found = body(await searchResources(searchFor(user, token), options))
    return { ids: found.results.map(({ id }) => id), next: found.page.next_token }
  },
})
