/**
 * Compares the shared index with the oracle, from a fixed seed, in at least one million checks:
 *
 *     node bench/engine/differential.ts [share of the whole = 1] [seed = 1]
 *
 * A check is one query at one state. It is evaluated alone, in a batch and by `explain`, and all three
 * results are compared. The run counts which features were covered. The first wrong result ends the run and
 * prints all data that is needed to reproduce it. `test/properties/engine-oracle.test.ts` tests random
 * histories of the same models.
 */
import { Differential } from './differential-run.ts'

const CHECKS_MIN = 1_000_000

const share = Number(process.argv[2] ?? 1)
const seed = Number(process.argv[3] ?? 1)
const differential = new Differential()
const start = performance.now()
differential.run({
  seed,
  usual: Math.ceil(330 * share),
  manyRoles: Math.ceil(80 * share),
  keys: Math.ceil(100 * share),
  padded: Math.ceil(18 * share),
})
const { checks, coverage, met } = differential
const counts = Object.fromEntries([
  ['allowed', coverage.allowed],
  ['denied by tenant alone', coverage.deniedByTenant],
  ...Object.entries(coverage.decidedBy).map(([rule, count]) => [`decided by ${rule}`, count] as const),
  ...[...met].toSorted(),
])
const seconds = Math.round((performance.now() - start) / 1000)
process.stdout.write(`${checks} checks in ${seconds} s, seed ${seed}: 0 wrong\n`)
for (const [what, count] of Object.entries(counts)) process.stdout.write(`  ${what.padEnd(48)} ${count}\n`)
const missed = Object.keys(counts).filter(what => counts[what] === 0)
const isShort = checks < CHECKS_MIN * share
if (isShort || missed.length > 0)
  throw new Error(`too few checks, or features never met: ${missed.join(', ')}`)
