/** Sliced reads on the thread that receives requests. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { READ_MS_MAX, ReadTime } from '#scheduling/read-time.ts'
import { SlicedReads } from '#scheduling/sliced-reads.ts'

const HERE = { isGone: false, whenOver: () => {} }
const fine = (): void => {}

/** Yields until `isDone` is set, and counts the yields. */
function* until(state: { isDone: boolean; resumed: number }): Resumable<string> {
  while (!state.isDone) {
    state.resumed += 1
    yield
  }
  return 'done'
}

const working = () => ({ isDone: false, resumed: 0 })

test('the event loop runs between two slices of a read', async () => {
  const state = working()
  const read = new SlicedReads(10).run({ work: until(state), waiting: HERE, check: fine })
  // The read ends only if the event loop runs between its slices.
  setImmediate(() => (state.isDone = true))
  expect(await read).toBe('done')
  expect(state.resumed).toBeGreaterThan(0)
})

test('sliced reads run one after another, in order of arrival', async () => {
  const reads = new SlicedReads(10)
  const [first, second] = [working(), working()]
  const answers = [first, second].map(state => reads.run({ work: until(state), waiting: HERE, check: fine }))
  await new Promise(resolve => setImmediate(resolve))
  expect([first.resumed > 0, second.resumed]).toEqual([true, 0])
  first.isDone = true
  second.isDone = true
  expect(await Promise.all(answers)).toEqual(['done', 'done'])
})

test('sliced reads above the limit are refused until one has ended', async () => {
  const reads = new SlicedReads(1)
  const state = working()
  const first = reads.run({ work: until(state), waiting: HERE, check: fine })
  const second = reads.run({ work: until(working()), waiting: HERE, check: fine })
  await expect(second).rejects.toMatchObject({ code: 'OVERLOADED', limit: 'pool' })
  state.isDone = true
  await first
  expect(await reads.run({ work: until(state), waiting: HERE, check: fine })).toBe('done')
})

test('a read of a client that has disconnected is ended, and the next one begins', async () => {
  const reads = new SlicedReads(2)
  const waiting = { ...HERE, isGone: false }
  const left = working()
  const first = reads.run({ work: until(left), waiting, check: fine })
  const next = { isDone: true, resumed: 0 }
  const second = reads.run({ work: until(next), waiting: HERE, check: fine })
  setImmediate(() => (waiting.isGone = true))
  await expect(first).rejects.toMatchObject({ code: 'OVERLOADED' })
  expect(await second).toBe('done')
  const { resumed } = left
  await new Promise(resolve => setImmediate(resolve))
  expect(left.resumed).toBe(resumed)
})

test('the result of a read that becomes stale during its last slice is not returned', async () => {
  let isStale = false
  const check = (): void => {
    if (isStale) throw new AuthzError('STALE', 'too old')
  }
  const work = (function* lastSlice() {
    yield
    isStale = true
    return 'done'
  })()
  const read = new SlicedReads(1).run({ work, waiting: HERE, check })
  await expect(read).rejects.toMatchObject({ code: 'STALE' })
})

test('a read whose slices together exceed the time limit is refused with advice', () => {
  const time = new ReadTime()
  for (let slice = 0; slice < 10; slice += 1) time.spend(READ_MS_MAX / 10)
  expect(() => time.spend(0)).not.toThrow()
  expect(() => time.spend(1)).toThrow(
    expect.objectContaining({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('filter by tenants') as string,
    }),
  )
})

test('an endless read is ended at its time limit', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += READ_MS_MAX / 4))
  onTestFinished(() => clock.mockRestore())
  const read = { work: until(working()), waiting: HERE, check: fine }
  await expect(new SlicedReads(1).run(read)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
})
