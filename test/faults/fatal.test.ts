/** A fatal fault in the midst of writes, fifty times: the process is gone within 10 s each time. */
import { expect, test } from 'vitest'
import { fatalWhileWriting } from '../long/system/fatal-while-writing.ts'

test.each(Array.from({ length: 5 }, (_, index) => index * 10))('rounds from %i on', async from => {
  for (let round = from; round < from + 10; round += 1) {
    const { code, endedAfterMs, log } = await fatalWhileWriting()
    expect([round, endedAfterMs < 10_000]).toEqual([round, true])
    expect([round, code === 1 || code === null]).toEqual([round, true])
    expect(log).toContain('on purpose')
  }
})
