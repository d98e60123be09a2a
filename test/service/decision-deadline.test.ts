/** Until when threads may decide: main says it, and every thread reads the same. */
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { DecisionDeadline } from '#threads/decision-deadline.ts'

test('there is none until it is set, and none again when nothing can be missed', async () => {
  const deadline = new DecisionDeadline()
  expect(deadline.isOver).toBe(false)
  deadline.set(-5)
  expect(deadline.isOver).toBe(true)
  deadline.set(20)
  expect(deadline.isOver).toBe(false)
  while (!deadline.isOver) await pause(1)
  deadline.set(86_400_000)
  expect(deadline.isOver).toBe(false)
  deadline.set(0)
  expect(deadline.isOver).toBe(true)
  deadline.set(Infinity)
  expect(deadline.isOver).toBe(false)
})

test('a thread that was started later goes by the same moment', async () => {
  const deadline = new DecisionDeadline()
  await pause(50)
  deadline.set(500)
  const from = performance.now()
  const entry = new URL('./decision-deadline-thread.ts', import.meta.url)
  const thread = new Worker(entry, { workerData: deadline.handle })
  await once(thread, 'exit')
  expect(deadline.isOver).toBe(true)
  expect(performance.now() - from).toBeGreaterThanOrEqual(498)
})
