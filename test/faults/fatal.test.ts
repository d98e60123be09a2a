/** Fifty uncaught errors during writes. */
import { expect, test } from 'vitest'
import { fatalWhileWriting } from '../long/system/fatal-while-writing.ts'

const BATCHES = [0, 10, 20, 30, 40]

test.each(BATCHES)(
  'a process exits within 10 s of an uncaught error during writes (rounds from %i)',
  async from => {
    for (let round = from; round < from + 10; round += 1) {
      const { code, endedAfterMs, log } = await fatalWhileWriting()
      expect([round, endedAfterMs < 10_000]).toEqual([round, true])
      expect([round, code === 1 || code === null]).toEqual([round, true])
      expect(log).toContain('on purpose')
    }
  },
)
