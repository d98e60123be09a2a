/** A long read yields to other requests. It omits the rows that these requests remove. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { YIELD_ROWS, runAtOnce } from '#scheduling/resumable.ts'
import { listRoleAssignments } from '#management/facts/role-assignment-lists.ts'
import { openedService, scope } from '../support/environment-service.ts'

const users = Array.from({ length: 3 * YIELD_ROWS }, (_, number) => `u${number}`)
/** Users that the read would visit next in each of its lists. */
const removed = users.slice(YIELD_ROWS, YIELD_ROWS + 8)

test.each([
  ['one list', {}],
  ['two merged lists', { tenant: ['a', 'b'] }],
  ['a filtered list', { tenant: ['a', 'b'], role: ['member'] }],
])('a read of role assignments omits rows that are removed while it yields: %s', async (_which, filters) => {
  const { service, view } = await openedService()
  await service.execute('createTenantRole', { body: { key: 'member', name: 'Member' } })
  for (const key of ['a', 'b']) await service.execute('createTenant', { body: { key, name: key } })
  const body = users.map((user, at) => ({ user, role: 'member', tenant: at % 2 === 0 ? 'a' : 'b' }))
  await service.execute('assignRoles', { body, query: { missing_user_policy: 'create' } })

  const context = { scope, now: 0, newId: randomUUID, records: new RecordReader(view) }
  const read = listRoleAssignments(context, { query: { ...filters, per_page: 100 } })
  expect(read.next().done, 'the read yields').toBe(false)
  for (const user_id of removed) await service.execute('deleteUser', { params: { user_id } })
  const page = runAtOnce(read)
  const shown = (Array.isArray(page) ? page : page.data).map(({ user }) => user)
  expect(shown).toEqual(users.filter(user => !removed.includes(user)))
})
