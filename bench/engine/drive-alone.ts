/**
 * One drive alone in a process, for comparisons of sizes (`checks.ts`): prints nanoseconds per check, the median of passes
 * over fresh strings. Where the memory of an index happens to lie is worth up to a fifth of the time of a check, so sizes are
 * compared over processes that are all alike, not within one, where the second to be loaded lies better than the first.
 *
 *   node bench/engine/drive-alone.ts SCALE
 */
import { Drive } from '../data/drive.ts'
import { median } from '../lib/measure.ts'
import { loadShared } from './loading.ts'
import { fresh, timeSingle } from './questions.ts'

const PASSES = 9
const QUESTIONS_OF_EACH_KIND = 100_000

const drive = new Drive('W', Number(process.argv[2]))
const { reader, facts } = loadShared(drive)
const queries = [
  ...drive.candidates(QUESTIONS_OF_EACH_KIND, 'allowed'),
  ...drive.candidates(QUESTIONS_OF_EACH_KIND, 'denied'),
]
timeSingle(reader, queries)
const times = Array.from({ length: PASSES }, () => timeSingle(reader, fresh(queries)))
process.stdout.write(JSON.stringify({ facts, ns: median(times) }))
