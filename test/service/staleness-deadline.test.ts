/** Until when threads may decide: main says it, and every thread reads the same. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { HANG_MS } from '../support/hang.ts'

test('there is none until it is set, and none again when nothing can be missed', async () => {
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

test('a thread that was started later goes by the same moment', async () => {
  const deadline = new StalenessDeadline()
  deadline.set(500)
  const from = performance.now()
  const entry = new URL('./staleness-deadline-thread.ts', import.meta.url)
  const thread = new Worker(entry, { workerData: deadline.handle })
  await once(thread, 'exit')
  expect(deadline.isOver).toBe(true)
  expect(performance.now() - from).toBeGreaterThanOrEqual(498)
})

/** A thread whose clock was compared while it stood still for a while, so many times in a row. */
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

test('a thread that stood still while it compared its clock goes by the same moment all the same', () => {
  const deadline = new StalenessDeadline()
  const late = threadThatStoodStill(deadline, 20, 1)
  late.set(10)
  // Off by those 20 ms, it would be over for all others already.
  expect(deadline.isOver).toBe(false)
})

test('what is over is over for a thread whose clock is behind, too', () => {
  const deadline = new StalenessDeadline()
  const behind = threadThatStoodStill(deadline, 20, 100)
  deadline.set(0)
  expect(behind.isOver).toBe(true)
})
