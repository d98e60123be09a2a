/** Deadline until which threads can decide, set by the main thread and shared with all threads. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { HANG_MS } from '../support/hang.ts'

test('a staleness deadline passes at the time to which it is set, and never if it is not set', async () => {
  const deadline = new StalenessDeadline()
  expect(deadline.isOver).toBe(false)
  deadline.set(-5)
  expect(deadline.isOver).toBe(true)
  deadline.set(HANG_MS)
  expect(deadline.isOver).toBe(false)
  deadline.set(1)
  while (!deadline.isOver) await nextTurn()
  deadline.set(86_400_000)
  expect(deadline.isOver).toBe(false)
  deadline.set(0)
  expect(deadline.isOver).toBe(true)
  deadline.set(Infinity)
  expect(deadline.isOver).toBe(false)
})

test('a thread that starts later reads the same staleness deadline', async () => {
  const deadline = new StalenessDeadline()
  deadline.set(500)
  const from = performance.now()
  const entry = new URL('./staleness-deadline-thread.ts', import.meta.url)
  const thread = new Worker(entry, { workerData: deadline.handle })
  await once(thread, 'exit')
  expect(deadline.isOver).toBe(true)
  expect(performance.now() - from).toBeGreaterThanOrEqual(498)
})

/** The deadline in a thread that was paused for `ms` while it compared its clock, `times` times in a row. */
function threadThatStoodStill(deadline: StalenessDeadline, ms: number, times: number): StalenessDeadline {
  const { bigint } = process.hrtime
  const clock = vi.spyOn(process.hrtime, 'bigint')
  for (let time = 0; time < times; time += 1) {
    clock.mockImplementationOnce(() => {
      const from = performance.now()
      while (performance.now() - from < ms);
      return bigint() - BigInt(ms) * 1_000_000n
    })
  }
  try {
    return new StalenessDeadline(deadline.handle)
  } finally {
    clock.mockRestore()
  }
}

test('a thread that was paused while it compared its clock reads the same staleness deadline', () => {
  const deadline = new StalenessDeadline()
  const late = threadThatStoodStill(deadline, 20, 1)
  late.set(10)
  // With an error of 20 ms, the deadline would have passed for all other threads.
  expect(deadline.isOver).toBe(false)
})

test('a deadline that has passed has also passed for a thread whose clock is late', () => {
  const deadline = new StalenessDeadline()
  const behind = threadThatStoodStill(deadline, 20, 100)
  deadline.set(0)
  expect(behind.isOver).toBe(true)
})
