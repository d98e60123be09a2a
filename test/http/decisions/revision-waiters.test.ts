/** Limit of the requests per thread that wait for a revision. */
import { expect, test } from 'vitest'
import { MIN_REVISION_WAITERS_MAX, MinRevision, type Progress } from '#decisions/questions/min-revision.ts'
import { createProgress, IndexProgress, publishProgress } from '#threads/indexes/index-progress.ts'

const WAIT_MS = 30_000
const REFUSED = { code: 'OVERLOADED', limit: 'waiting' }

/** Returns a function that waits for a revision of one environment with this progress. */
function waitingFor(progress: Progress) {
  const gate = new MinRevision({ progress: () => progress, organizationProgress: () => null }, WAIT_MS)
  return (sequence: number) => gate.reached(`epoch.${sequence}`, () => 'environment')
}

test('requests beyond the limit of waiting requests are rejected until a waiting request completes', async () => {
  const handle = createProgress({ epoch: 'epoch', sequence: 0 })
  const reached = waitingFor(new IndexProgress(handle))
  const first = reached(1)
  const others = Array.from({ length: MIN_REVISION_WAITERS_MAX - 1 }, () => reached(2))
  await expect(reached(2)).rejects.toMatchObject(REFUSED)
  publishProgress(handle, 1)
  await first
  const next = reached(2)
  await expect(reached(2)).rejects.toMatchObject(REFUSED)
  publishProgress(handle, 2)
  await Promise.all([...others, next])
})

test('a request whose wait fails no longer counts as waiting', async () => {
  const fault = new Error('no memory')
  const reached = waitingFor({
    epoch: 'epoch',
    revision: 'epoch.0',
    has: () => false,
    reaches: () => Promise.reject(fault),
  })
  for (let waiter = 0; waiter <= MIN_REVISION_WAITERS_MAX; waiter += 1) {
    await expect(reached(1)).rejects.toBe(fault)
  }
})

test('a malformed revision is rejected without a wait for the revision of the session', async () => {
  const organization: Progress = {
    epoch: 'epoch',
    revision: 'epoch.0',
    has: () => false,
    reaches: () => expect.unreachable('no wait begins'),
  }
  const gate = new MinRevision({ progress: () => null, organizationProgress: () => organization }, WAIT_MS)
  const reached = gate.reached('odd', () => '', 'epoch.1')
  await expect(reached).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
