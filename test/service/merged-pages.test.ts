/** Pages of a list that is merged from several secondary indexes. */
import { expect, test } from 'vitest'
import { RunningEnvironment } from '../support/running-environment.ts'

const ROLES = ['rare', 'common', 'late'] as const
const USERS = 900

/** Role of user `n`. One role is rare, one is common, and only the last users have the third role. */
function roleOf(n: number): (typeof ROLES)[number] {
  if (n % 97 === 0) return 'rare'
  return n > 800 && n % 2 === 0 ? 'late' : 'common'
}

test('pages of the assignments on a resource type match the whole list for every page size', async () => {
  const environment = await RunningEnvironment.open()
  await environment.resource('doc', [], Object.fromEntries(ROLES.map(key => [key, []])))
  const users = Array.from({ length: USERS }, (_, n) => `u${n}`)
  await environment.users(...users)
  const body = users.map((user, n) => {
    return { user, role: roleOf(n), resource_instance: 'doc:d', tenant: 'default' }
  })
  await environment.execute('assignRoles', { query: {}, body })

  const listed = async (page: number, per_page: number): Promise<string[]> => {
    const query = { resource: 'doc', page, per_page }
    const answer = await environment.execute('listRoleAssignments', { query })
    return (answer as { user: string }[]).map(({ user }) => user)
  }
  expect(await listed(1, 1_000)).toEqual(users)
  for (const size of [1, 7, 31, 250]) {
    const pages = Math.ceil(USERS / size) + 2
    for (let page = 1; page <= pages; page += size === 1 ? 13 : 1) {
      const expected = users.slice((page - 1) * size, page * size)
      expect(await listed(page, size), `page ${page} of ${size}`).toEqual(expected)
    }
  }
})
