/** Properties of asynchronous code with random values. `VERDICT_RUNS` multiplies the number of values. */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { howToRepeat, seed } from '../properties/seeded.ts'

export function runsOf(count: number): number {
  return count * Number(process.env['VERDICT_RUNS'] ?? 1)
}

/** `isShrunk` is false if the result depends on timing. Another `series` generates other values. */
export async function holdsForAll<T>(
  arbitrary: Arbitrary<T>,
  count: number,
  property: (value: T) => Promise<void>,
  { isShrunk = true, series = 0 } = {},
): Promise<void> {
  const numRuns = runsOf(count)
  const checked = fc.asyncProperty(arbitrary, property)
  try {
    await fc.assert(checked, { seed: seed + series, numRuns, endOnFailure: !isShrunk })
  } catch (error) {
    throw new Error(howToRepeat, { cause: error })
  }
}
