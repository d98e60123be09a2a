/**
 * Seeds for property tests: a fresh one per run, named on failure; `VERDICT_SEED=<number>` repeats a run exactly.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

export const seed = wholeNumber('VERDICT_SEED') ?? Math.floor(Math.random() * 2 ** 31)
/** Belongs into the message of every assertion about a whole run. */
export const howToRepeat = `repeat with VERDICT_SEED=${seed}`

/** What `npm run test:long` says: each property on so many times as many values, and no engine on a share of them. */
const times = wholeNumber('VERDICT_RUNS')

/**
 * Checks the property on `runs` values, or on a `share` of them, the first. A failure carries the smallest counterexample
 * found, and the seed.
 */
export function holdsFor<T>(
  arbitrary: Arbitrary<T>,
  runs: number,
  property: (value: T) => void,
  share = 1,
): void {
  const numRuns = Math.ceil(runs * (times ?? share))
  try {
    fc.assert(fc.property(arbitrary, property), { seed, numRuns })
  } catch (error) {
    throw new Error(howToRepeat, { cause: error })
  }
}

/**
 * The same, worked out once for each value. With one seed every engine meets the same histories, and what is right does not
 * depend on the engine: the oracle, which is slow, need not say it for each of them.
 */
export function onceFor<T, Result>(workOut: (value: T) => Result): (value: T) => Result {
  const known = new Map<string, Result>()
  return value => {
    const name = JSON.stringify(value)
    if (!known.has(name)) known.set(name, workOut(value))
    return known.get(name)!
  }
}

function wholeNumber(variable: string): number | null {
  const text = process.env[variable]
  if (text === undefined) return null
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`${variable} must be an integer, not ${text}`)
  return number
}
