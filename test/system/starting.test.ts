/** A service during startup, as seen by callers with a valid key. */
import { expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { holdStarts } from '../support/processes/held-start.ts'
import { API_KEY, question, startedService } from '#testing/processes/running-service.ts'

const HOST = '127.0.0.1'

/** Returns the status of one request, or null if no process listens. */
async function statusOf(port: number): Promise<number | null> {
  const answer = fetch(`http://${HOST}:${port}/allowed`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
    body: JSON.stringify(question('alice', 'read', 'document')),
  })
  return answer.then(
    ({ status }) => status,
    () => null,
  )
}

test('a valid key is never rejected as unknown while threads start', async () => {
  const port = await freePort()
  const letIn = holdStarts()
  const statuses = new Set<number | null>()
  const progress = { isStarted: false }
  const starting = startedService({ host: HOST, port, httpThreads: 4 })
  void starting.finally(() => (progress.isStarted = true))
  while (!progress.isStarted) {
    statuses.add(await statusOf(port))
    if (statuses.has(503)) letIn()
  }
  await starting
  expect(await statusOf(port)).toBe(200)
  expect([...statuses].filter(status => ![null, 503, 200].includes(status))).toEqual([])
})
