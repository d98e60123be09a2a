/** The time that a read in slices may take of threads, below, at and above its ceiling. */
import { expect, test } from 'vitest'
import { READ_MS_MAX, ReadTime } from '#decisions/read-time.ts'

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
