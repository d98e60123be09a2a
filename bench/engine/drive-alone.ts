/**
 * Measures one drive in a separate process, so that `checks.ts` can compare sizes. Prints nanoseconds per
 * check as the median of passes with new strings.
 *
 * The location of an index in memory changes the time of a check by up to 20 %. If two indexes were loaded in
 * the same process, the second one would get a better location than the first. Therefore sizes are compared
 * across processes that are otherwise equal.
 *
 *     node bench/engine/drive-alone.ts SCALE
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
