/** Time limit of sliced reads. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { READ_MS_MAX, ReadTime } from '#decisions/read-time.ts'
import { SlicedReads } from '#decisions/sliced-reads.ts'
import type { Resumable } from '#model/resumable.ts'

test('the slices of a read add up to a time limit, and a slice above it is refused with advice', () => {
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

test('an endless read is ended at its time limit', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += READ_MS_MAX / 4))
  onTestFinished(() => clock.mockRestore())
  function* endless(): Resumable<never> {
    for (;;) yield
  }
  const read = { work: endless(), waiting: { isGone: false }, check: () => {} }
  await expect(new SlicedReads(1).run(read)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
})
