/**
 * Seeds for property tests. Every run has the same seed, so that a failure is caused by the change under
 * test. `VERDICT_SEED=random` explores other values, and `VERDICT_SEED=<number>` repeats such a run.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { expect } from 'vitest'

const USUAL_SEED = 20_261_128
export const seed =
  process.env['VERDICT_SEED'] === 'random'
    ? Math.floor(Math.random() * 2 ** 31)
    : (wholeNumber('VERDICT_SEED') ?? USUAL_SEED)
/** Part of the message of every assertion about a whole run. */
export const howToRepeat = `repeat with VERDICT_SEED=${seed}`

/** Factor on the number of values, instead of the default of the level. All engines then run all values. */
const factor = wholeNumber('VERDICT_RUNS')
/** Fraction of the values that a test outside of `test/long` checks. */
const SHORT = 0.025

/** Counts of what a run has encountered so far, and their minimums. */
export interface Coverage {
  readonly met: Readonly<Record<string, number>>
  readonly least: Readonly<Record<string, number>>
}

/** The first seeds include rules that allow. */
const FIXED_SEEDS = { first: 11, last: 50 }
/** Number of values of one fixed seed, as a fraction of the values of the run. */
const FIXED_SHARE = 0.01

/** Yields fixed seeds until the counts reach their minimums, then the seed of the run. */
export function* seedsUntilMet({ met, least }: Coverage): Generator<number> {
  const isMet = () => Object.entries(least).every(([name, count]) => (met[name] ?? 0) >= count)
  for (let fixed = FIXED_SEEDS.first; !isMet(); fixed++) {
    if (fixed > FIXED_SEEDS.last) {
      throw new Error(`fixed seeds met ${JSON.stringify(met)}, not ${JSON.stringify(least)}`)
    }
    yield fixed
  }
  yield seed
}

/** Number of values, and the share that an engine runs. Engines with a share below 1 ignore the minimums. */
interface Runs extends Partial<Coverage> {
  readonly runs: number
  readonly share?: number
}

/** Checks the property on values of these seeds. A failure contains the smallest counterexample. */
export function holdsFor<T>(arbitrary: Arbitrary<T>, to: number | Runs, property: (value: T) => void): void {
  const { runs, share = 1, met = {}, least = {} } = typeof to === 'number' ? { runs: to } : to
  for (const each of share === 1 ? seedsUntilMet({ met, least }) : [seed]) {
    try {
      fc.assert(fc.property(arbitrary, property), { seed: each, numRuns: runsOf(each, runs, share) })
    } catch (error) {
      throw new Error(howToRepeat, { cause: error })
    }
  }
}

/** Like `holdsFor`, for asynchronous properties. It keeps only one value in memory at a time. */
export async function holdsForAsync<T>(
  arbitrary: Arbitrary<T>,
  { runs, met, least }: Coverage & { readonly runs: number },
  property: (value: T) => Promise<void>,
): Promise<void> {
  for (const each of seedsUntilMet({ met, least })) {
    const numRuns = runsOf(each, runs, 1)
    try {
      await fc.assert(fc.asyncProperty(arbitrary, property), { seed: each, numRuns })
    } catch (error) {
      throw new Error(howToRepeat, { cause: error })
    }
  }
}

/** Yields the values of all seeds, for asynchronous properties. */
export function* valuesUntilMet<T>(arbitrary: Arbitrary<T>, runs: number, coverage: Coverage): Generator<T> {
  for (const each of seedsUntilMet(coverage)) {
    yield* fc.sample(arbitrary, { seed: each, numRuns: runsOf(each, runs, 1) })
  }
}

/** Number of values for this seed at the level of the test. */
export function runsOf(each: number, runs: number, share: number): number {
  const level = expect.getState().testPath!.includes('/test/long/') ? 1 : SHORT
  return Math.ceil(runs * (each === seed ? (factor ?? share * level) : FIXED_SHARE))
}

/** Values that are equal in every run, for tests of a generator. */
export function fixedValues<T>(arbitrary: Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { seed: 1, numRuns: count })
}

/** Computes the expected result once for each value, because all engines share the histories of a seed. */
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
