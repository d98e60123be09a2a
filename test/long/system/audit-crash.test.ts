/** The audit log matches the stored state after SIGKILL. */
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/organization/audit.ts'
import { type Client, type Envelope, FACTS, storeDirectory } from '#testing/processes/running-service.ts'
import { clientOf, startedProcess } from '../../support/processes/started-process.ts'

async function allOf<Item>(client: Client, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await client.get<Envelope<Item>>(`${path}?per_page=100&page=${page}`)
    items.push(...body.data)
    if (page >= body.page_count) return items
  }
}

test('after a kill during changes, the audit log has one entry for each stored change and no others', async () => {
  const cwd = storeDirectory()
  const first = startedProcess({}, { cwd })
  const client = await clientOf(first)
  let answered = 0
  const enough = Promise.withResolvers<void>()
  const callers = Array.from({ length: 4 }, async (_, caller) => {
    for (let turn = 0; ; turn += 1) {
      const put = await client.post(`${FACTS}/users`, { key: `user-${caller}-${turn}` }).catch(() => null)
      if (put === null) return
      answered += 1
      if (answered === 150) enough.resolve()
    }
  })
  await enough.promise
  await first.end('SIGKILL')
  await Promise.all(callers)

  const second = startedProcess({}, { cwd })
  const next = await clientOf(second)
  const users = await allOf<{ key: string }>(next, `${FACTS}/users`)
  const entries = await allOf<AuditEntry>(next, '/v2/audit-log/default/default')
  const logged = entries.map(({ input }) => (input['body'] as { key: string }).key)
  expect(logged.toSorted()).toEqual(users.map(({ key }) => key).toSorted())
  expect(users.length).toBeGreaterThanOrEqual(150)
  expect(await second.end('SIGTERM')).toBe(0)
})
