/**
 * Seeds for property tests: a fresh one per run, named on failure; `VERDICT_SEED=<number>` repeats a run exactly.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

export const seed = readSeed(process.env['VERDICT_SEED'])
/** Belongs into the message of every assertion about a whole run. */
export const howToRepeat = `repeat with VERDICT_SEED=${seed}`

/** Checks the property on `runs` values. A failure carries the smallest counterexample found, and the seed. */
export function holdsFor<T>(arbitrary: Arbitrary<T>, runs: number, property: (value: T) => void): void {
  try {
    fc.assert(fc.property(arbitrary, property), { seed, numRuns: runs })
  } catch (error) {
    throw new Error(howToRepeat, { cause: error })
  }
}

function readSeed(text: string | undefined): number {
  if (text === undefined) return Math.floor(Math.random() * 2 ** 31)
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`VERDICT_SEED must be an integer, not ${text}`)
  return number
}
