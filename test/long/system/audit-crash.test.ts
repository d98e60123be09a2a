/** The audit log after SIGKILL in the midst of changes: it and the state tell the same story. */
import { expect, test } from 'vitest'
import type { AuditEntry } from '#model/wire/audit.ts'
import { API_KEY, type Envelope, FACTS, storeDirectory } from '#testing/processes/running-service.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

async function allOf<Item>(address: string, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page += 1) {
    const response = await fetch(`${address}${path}?per_page=100&page=${page}`, { headers })
    const { data, page_count: pages } = (await response.json()) as Envelope<Item>
    items.push(...data)
    if (page >= pages) return items
  }
}

test('a kill leaves an entry for every change that is there, and none for one that is not', async () => {
  const cwd = storeDirectory()
  const env = { API_KEY, HTTP_THREADS: '1' }
  const first = new ServiceProcess({ cwd, env })
  const address = await first.address()
  let answered = 0
  const enough = Promise.withResolvers<void>()
  const callers = Array.from({ length: 4 }, async (_, caller) => {
    for (let turn = 0; ; turn += 1) {
      const body = JSON.stringify({ key: `user-${caller}-${turn}` })
      const put = await fetch(`${address}${FACTS}/users`, { method: 'POST', headers, body }).catch(() => null)
      if (put === null) return
      answered += 1
      if (answered === 150) enough.resolve()
    }
  })
  await enough.promise
  await first.end('SIGKILL')
  await Promise.all(callers)

  const second = new ServiceProcess({ cwd, env })
  const next = await second.address()
  const users = await allOf<{ key: string }>(next, `${FACTS}/users`)
  const entries = await allOf<AuditEntry>(next, '/v2/audit-log/default/default')
  const told = entries.map(({ input }) => (input['body'] as { key: string }).key)
  expect(told.toSorted()).toEqual(users.map(({ key }) => key).toSorted())
  expect(users.length).toBeGreaterThanOrEqual(150)
  expect(await second.end('SIGTERM')).toBe(0)
})
