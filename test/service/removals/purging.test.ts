/** Order of the batches of a purge, and of commands that conflict with these batches. */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { removeDependants } from '#management/drafts/removal.ts'
import { Purging } from '#management/environment/purging.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { scope, storedEnvironment } from '../../support/environment-service.ts'

/** Number of rows, of which the removal itself deletes only a few. */
const ASSIGNMENTS = 300
/** A number of event-loop iterations in which the next batch could run. */
const TURNS = 20

test('a purge starts no batch until the commands that conflicted with the previous batch are done', async () => {
  const { environment, view, commit } = await storedEnvironment()
  const userId = randomUUID()
  await commit(records => {
    for (let index = 0; index < ASSIGNMENTS; index += 1) {
      const place = { roleId: randomUUID(), tenantId: randomUUID(), instanceId: null }
      records.put({ kind: 'assignment', id: randomUUID(), userId, ...place, createdAt: 0, expiresAt: null })
    }
  })
  await commit(records => {
    const dead = { deadIds: [userId], lists: [lists.assignmentsOfUser(userId)] }
    removeDependants({ scope, now: 0, newId: randomUUID, records }, [dead])
  })
  /** Sequence of the store when the retries of conflicting commands begin, and when they are done. */
  const waits: [began: number, ended: number][] = []
  const done = Promise.withResolvers<void>()
  const purging = new Purging({
    store: environment,
    runtime: {
      newCommitId: () => randomBytes(16),
      onBackgroundFault: done.reject,
      elapsedMs: () => performance.now(),
    },
    whenLosersAreDone: async () => {
      const began = view.sequence()
      for (let turn = 0; turn < TURNS; turn += 1) await new Promise(resolve => setImmediate(resolve))
      waits.push([began, view.sequence()])
    },
    onDone: async () => done.resolve(),
  })
  purging.resume()
  await done.promise
  await purging.close()
  expect(view.count(lists.all('assignment'))).toBe(0)
  expect(waits.length).toBeGreaterThan(2)
  for (const [began, ended] of waits) expect(ended).toBe(began)
})
