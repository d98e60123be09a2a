/**
 * Parses millions of bodies, valid and malformed, with a bytes reader and with the generic parser. There are
 * bodies for each bytes reader. Fails at the first body that the bytes reader accepts although the generic
 * parser rejects it or reads it differently. Does not measure speed.
 *
 *     node bench/http/fuzz-bodies.ts [bodies of each kind] [seed]
 */
import { evaluationDialect, NATIVE } from '#http/bytes/dialects.ts'
import { BatchReader } from '#http/bytes/batch-reader.ts'
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import {
  BatchBodies,
  judgeBatch,
  judgeEvaluation,
  OrdinaryBatches,
  OrdinaryEvaluations,
} from '#testing/requests/batch-bodies.ts'
import { BulkBodies, judge, judgeSingle } from '#testing/requests/bulk-bodies.ts'

const BODIES = 1_000_000
/**
 * Number of bodies that one reader reads. A reader caches parts of earlier bodies, so additions to a filled
 * cache are also tested.
 */
const BODIES_PER_READER = 1_000
const CHECKS_MAX = 5

const [bodies = BODIES, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number)
if (!Number.isSafeInteger(bodies) || !Number.isSafeInteger(seed)) throw new Error('both are whole numbers')
process.stdout.write(`seed ${seed}\n`)

/**
 * Creates a reader. Returns a function that generates the next body and verifies that the reader reads it
 * correctly.
 */
type Kind = () => () => boolean

const [bulks, singles] = [new BulkBodies(seed), new BulkBodies(seed + 1)]
const [batches, evaluations] = [new BatchBodies(seed + 2), new BatchBodies(seed + 3)]
const subjectTypes = new Set(['user', 'identity'])
const ofBatches = (isStrict: boolean): Kind => {
  const ordinary = new OrdinaryBatches(isStrict)
  return () => {
    const reader = new BatchReader({ checksMax: CHECKS_MAX, subjectTypes, isStrict, now: Date.now })
    return () => judgeBatch(reader, ordinary, batches.next())
  }
}
const ofEvaluations = (isStrict: boolean): Kind => {
  const ordinary = new OrdinaryEvaluations(isStrict)
  return () => {
    const reader = new SingleReader(evaluationDialect({ subjectTypes, isStrict }), Date.now)
    return () => judgeEvaluation(reader, ordinary, evaluations.nextEvaluation())
  }
}
const kinds: Record<string, Kind> = {
  bulks: () => {
    const reader = new BulkReader(CHECKS_MAX, Date.now)
    return () => judge(reader, bulks.next())
  },
  singles: () => {
    const reader = new SingleReader(NATIVE, Date.now)
    return () => judgeSingle(reader, singles.nextSingle())
  },
  batches: ofBatches(false),
  'batches, strict': ofBatches(true),
  evaluations: ofEvaluations(false),
  'evaluations, strict': ofEvaluations(true),
}
for (const [name, newJudge] of Object.entries(kinds)) {
  let judgeNext = newJudge()
  let accepted = 0
  for (let count = 0; count < bodies; count++) {
    if (count % BODIES_PER_READER === 0) judgeNext = newJudge()
    if (judgeNext()) accepted++
  }
  process.stdout.write(`${bodies} ${name}, ${accepted} read from their bytes, 0 differences\n`)
}
