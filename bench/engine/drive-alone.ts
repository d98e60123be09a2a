/**
 * Measures one drive in a separate process, for comparisons of sizes (`checks.ts`): prints nanoseconds per
 * check, the median of passes over fresh strings. The location of an index in memory changes the time of a
 * check by up to 20 %. So sizes are compared across similar processes and not within one, where the second
 * index to be loaded gets a better location than the first.
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
