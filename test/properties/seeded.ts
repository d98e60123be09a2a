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

/** What random runs have counted so far, and what each of these counts must come to at the least. */
export interface Coverage {
  readonly met: Readonly<Record<string, number>>
  readonly least: Readonly<Record<string, number>>
}

/** Where so many runs together do not meet it, that is no bad luck: the generator is broken, or what it should meet. */
const RUNS_FOR_COVERAGE = 10

/**
 * The seed of the run. Then, while one of the counts is less than it must be, the seeds of further runs of the same size:
 * a test must not fail because chance brought too little of something into one run. Throws after ten runs.
 */
export function* seedsUntilMet({ met, least }: Coverage): Generator<number> {
  for (let run = 0; run < RUNS_FOR_COVERAGE; run++) {
    yield seed + run
    if (Object.entries(least).every(([name, count]) => met[name]! >= count)) return
  }
  const counts = JSON.stringify(met)
  throw new Error(`${RUNS_FOR_COVERAGE} runs met ${counts}, not ${JSON.stringify(least)}; ${howToRepeat}`)
}

/**
 * Checks the property on `runs` values and on as many again until it has met what it must; or on a `share` of the first
 * ones, whatever it meets there. A failure carries the smallest counterexample found, and the seed.
 */
export function holdsFor<T>(
  arbitrary: Arbitrary<T>,
  runs: number,
  property: (value: T) => void,
  share = 1,
  coverage: Coverage = { met: {}, least: {} },
): void {
  const numRuns = Math.ceil(runs * (times ?? share))
  for (const each of share === 1 ? seedsUntilMet(coverage) : [seed]) {
    try {
      fc.assert(fc.property(arbitrary, property), { seed: each, numRuns })
    } catch (error) {
      throw new Error(howToRepeat, { cause: error })
    }
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
