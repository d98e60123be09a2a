/** Completes members by name or e-mail address. The filter of the audit log takes their ids. */
import { answerOf, service } from '../../interface/client.ts'
import type { Option } from '../../parts/fields.tsx'
import { nameOfMember } from '../../session/account.ts'

const OPTIONS_MAX = 20

export async function membersLike(search: string, signal: AbortSignal): Promise<readonly Option[]> {
  const query = { per_page: OPTIONS_MAX, ...(search === '' ? {} : { search }) }
  const members = await answerOf(service.GET('/v2/members', { params: { query }, signal }))
  return members.map(({ id, name, email }) => ({ id, note: nameOfMember({ name, email }) }))
}
