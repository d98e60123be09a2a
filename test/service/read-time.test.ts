/** The time that a read in slices may take of threads, below, at and above its ceiling. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { READ_MS_MAX, ReadTime } from '#decisions/read-time.ts'
import { SlicedReads } from '#decisions/sliced-reads.ts'
import type { Resumable } from '#model/resumable.ts'

test('slices add up to the ceiling, and the one that ends beyond it is refused with what to do', () => {
  const time = new ReadTime()
  for (let slice = 0; slice < 10; slice += 1) time.spend(READ_MS_MAX / 10)
  expect(() => time.spend(0)).not.toThrow()
  expect(() => time.spend(1)).toThrow(
    expect.objectContaining({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('narrow it') as string,
    }),
  )
})

test('a read that goes on and on is ended by it', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += READ_MS_MAX / 4))
  onTestFinished(() => clock.mockRestore())
  function* endless(): Resumable<never> {
    for (;;) yield
  }
  const read = { work: endless(), waiting: { isGone: false }, check: () => {} }
  await expect(new SlicedReads(1).run(read)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
})
