/** Reader thread of `torn-reads.ts`. It runs checks and searches and counts wrong results. */
import { parentPort, workerData } from 'node:worker_threads'
import type { SharedIndexHandle } from '#engine/shared-index/memory/index-buffers.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { AuthzError } from '#model/errors.ts'
import { Random } from '#testing/data/random.ts'
import { constants, pairs, ruledConstants } from './write-mix.ts'
import { QUESTIONS } from './torn-searches.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

/** Final report of a reader. */
export interface TornReadsReport {
  readonly checks: number
  /** For each kind of search, listing or explanation, the number of results. */
  readonly searches: Readonly<Record<string, number>>
  readonly wrong: readonly string[]
}

const { handle, threadId, checks, seed, isOfRules } = workerData as {
  handle: SharedIndexHandle
  threadId: number
  checks: number
  seed: number
  /** True if only rules are changed. Then only decisions by rules are checked. */
  isOfRules: boolean
}

const WRONG_MAX = 100
const SEARCHES_A_ROUND = 20
/** Minimum number of results that a reader must have for each kind of search. */
const ANSWERS_MIN = 50
const reader = new SharedIndexReader(handle, { threadId })
const random = new Random(seed)
const known = [...(isOfRules ? [] : constants()), ...ruledConstants()]
const insiders = isOfRules ? [] : pairs('insider')
const members = isOfRules ? [] : pairs('member')
const wrong: string[] = []
const searches: Record<string, number> = {}
let done = 0

function askSingly(): void {
  for (let n = 0; n < 256; n++) {
    const { query, answer } = random.pick(known)
    if (reader.evaluate(query) !== answer) wrong.push(`single, not ${answer}: ${JSON.stringify(query)}`)
  }
  done += 256
}

function askTogether(): void {
  const answers = evaluateAll(reader, [...insiders, ...members, ...known.map(k => k.query)])
  const pairAnswers = insiders.length + members.length
  for (let i = 0; i < pairAnswers; i += 2) {
    if (answers[i] === answers[i + 1]) wrong.push(`staged, both ${answers[i]} of pair ${i / 2}`)
  }
  for (const [index, { query, answer }] of known.entries()) {
    if (answers[pairAnswers + index] !== answer) {
      wrong.push(`staged, not ${answer}: ${JSON.stringify(query)}`)
    }
  }
  done += answers.length
}

function search(): void {
  for (let n = 0; n < SEARCHES_A_ROUND; n++) {
    const [kind, question] = random.pick(Object.entries(QUESTIONS))
    try {
      const fault = question(reader, random)
      if (fault !== null) wrong.push(`${kind}: ${fault}`)
      searches[kind] = (searches[kind] ?? 0) + 1
    } catch (error) {
      // If changes never pause, a search can be rejected. A missing result is not a wrong result.
      if (!(error instanceof AuthzError) || error.code !== 'OVERLOADED') throw error
    }
  }
}

/** There are no searches for decisions by rules. */
function isAnsweredOften(): boolean {
  return isOfRules || Object.keys(QUESTIONS).every(kind => (searches[kind] ?? 0) > ANSWERS_MIN)
}

while ((done < checks || !isAnsweredOften()) && wrong.length < WRONG_MAX) {
  askSingly()
  askTogether()
  if (!isOfRules) search()
}
const report: TornReadsReport = { checks: done, searches, wrong }
parentPort!.postMessage(report)
