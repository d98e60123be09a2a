/**
 * Millions of bulk bodies, whole and broken, read from their bytes and the ordinary way: fails at the first that the bytes
 * path accepts and the ordinary way refuses or reads differently. Not a measurement of speed.
 *
 *     node bench/http/fuzz-bulk.ts [bodies] [seed]
 */
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { BulkBodies, judge } from '../../test/support/bulk-bodies.ts'

const BODIES = 3_000_000
/** Readers keep what they learn: one for so many bodies, so that what is learned late is put to the test, too. */
const BODIES_PER_READER = 1_000
const CHECKS_MAX = 5

const [bodies = BODIES, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number)
if (!Number.isSafeInteger(bodies) || !Number.isSafeInteger(seed)) throw new Error('both are whole numbers')
process.stdout.write(`seed ${seed}\n`)

const source = new BulkBodies(seed)
let reader = new BulkReader(CHECKS_MAX)
let accepted = 0
for (let count = 0; count < bodies; count++) {
  if (count % BODIES_PER_READER === 0) reader = new BulkReader(CHECKS_MAX)
  if (judge(reader, source.next())) accepted++
}
process.stdout.write(`${bodies} bodies, ${accepted} read from their bytes, 0 differences\n`)
