/**
 * Measures what rules on attributes cost in the engine, and the memory of attributes.
 *
 *     npm run bench -- rules [scale = 0.3] [rounds = 30]
 *
 * W6 (`ruled-drive.ts`) is compared with the same index without its rules, with the same checks. Roles allow
 * half of the checks, a rule allows a quarter, and a quarter is denied. The two indexes alternate, with new
 * strings each time. Figures are processor times, which other work on the machine affects less. A ratio is
 * the median over the rounds.
 *
 * All decisions are verified before the measurement. Those by roles are compared with the index without
 * rules, and those by rules with a direct evaluation of the conditions.
 */
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { packQueries } from '#model/packed-queries.ts'
import { ask } from '#testing/data/dataset.ts'
import { Random } from '#testing/data/random.ts'
import { RuledDrive } from '../data/ruled-drive.ts'
import { atMost, median, publish } from '../lib/measure.ts'
import { msgpackBytes, OWNER_BYTES } from '../lib/msgpack-bytes.ts'
import { loadShared } from './loading.ts'
import { BATCH, fresh } from './questions.ts'
import { ruledQuestions, withoutRules } from './ruled-questions.ts'
import { TextQuestion } from '#model/question.ts'

const QUESTIONS_A_ROUND = 20_000
const PARTS = 4
const WARM_ROUNDS = 3
const FEW_SETS = 10
const MANY_SETS = 10_000

const [scale = '0.3', rounds = '30'] = process.argv.slice(2)

function processorNs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) * 1_000
}

type Ask = (reader: SharedIndexReader, queries: readonly Query[]) => number

function inBatches(queries: readonly Query[]): Query[][] {
  return Array.from({ length: queries.length / BATCH }, (_, n) => queries.slice(n * BATCH, (n + 1) * BATCH))
}

/** Functions that evaluate the checks in different ways. Each returns nanoseconds per check. */
const WAYS: Readonly<Record<string, Ask>> = {
  staged: (reader, queries) => {
    const batches = inBatches(queries)
    const ns = processorNs(() => {
      for (const batch of batches) reader.evaluateAll(new TextQuestion(batch))
    })
    return ns / queries.length
  },
  packed: (reader, queries) => {
    const batches = inBatches(queries).map(batch => packQueries(batch)!)
    const ns = processorNs(() => {
      for (const batch of batches) reader.evaluateAll(batch)
    })
    return ns / queries.length
  },
  single: (reader, queries) =>
    processorNs(() => {
      for (const query of queries) reader.evaluate(query)
    }) / queries.length,
}

interface Raced {
  readonly ns: readonly number[]
  readonly ratio: number
}

/** Returns the time of the second index divided by that of the first. */
function race(
  way: Ask,
  readers: readonly [SharedIndexReader, SharedIndexReader],
  questions: (index: number, round: number) => readonly Query[],
): Raced {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < Number(rounds) + WARM_ROUNDS; round++) {
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const ns = way(readers[index]!, fresh(questions(index, round)))
      if (round >= WARM_ROUNDS) times[index as 0 | 1].push(ns)
    }
  }
  const ratios = times[1].map((ns, round) => ns / times[0][round]!)
  return { ns: times.map(each => Math.round(median(each))), ratio: median(ratios) }
}

function verify(
  reader: SharedIndexReader,
  queries: readonly Query[],
  right: (query: Query) => boolean,
): void {
  const together = reader.evaluateAll(new TextQuestion(queries))
  const packed = reader.evaluateAll(packQueries(queries)!)
  for (const [index, query] of queries.entries()) {
    const expected = right(query)
    const answers = [reader.evaluate(query), together[index] === 1, packed[index] === 1]
    if (answers.some(answer => answer !== expected)) {
      throw new Error(`right is ${expected}, got ${answers.join()}: ${JSON.stringify(query)}`)
    }
  }
}

/* ---- W6 ---- */

const drive = new RuledDrive('W6', Number(scale))
const plain = loadShared(withoutRules(drive))
const ruled = loadShared(drive)
const judged = ruledQuestions(drive, plain.reader, QUESTIONS_A_ROUND * PARTS)
const questions = judged.map(({ query }) => query)
const isAllowed = new Set(judged.filter(each => each.isAllowed).map(({ query }) => query))
verify(ruled.reader, questions, query => isAllowed.has(query))

const w6: Record<string, Raced> = {}
for (const [name, way] of Object.entries(WAYS)) {
  w6[name] = race(way, [plain.reader, ruled.reader], (_, round) => {
    const from = (round % PARTS) * QUESTIONS_A_ROUND
    return questions.slice(from, from + QUESTIONS_A_ROUND)
  })
  process.stdout.write(`W6 ${name}: ${w6[name].ns.join(' → ')} ns, ${w6[name].ratio.toFixed(2)} ×\n`)
}

/* ---- Sets that differ in a constant ---- */

const USERS = 20_000

/** Half of the users match one of the sets. */
function withSets(count: number): { readonly reader: SharedIndexReader; readonly queries: readonly Query[] } {
  const group = (user: number): string =>
    `group-${user % 2 === 0 ? (user / 2) % count : `none-${user % 100}`}`
  const changes: Change[] = [
    { kind: 'type-put', type: 'document', actions: ['read'] },
    { kind: 'tenant-put', tenant: 'default', attributes: null },
    {
      kind: 'instance-put',
      instance: { type: 'document', key: 'plan' },
      tenant: 'default',
      attributes: null,
    },
  ]
  for (let user = 0; user < USERS; user++) {
    changes.push({
      kind: 'user-put',
      user: `user-${user}`,
      attributes: { group: group(user), level: user % 7 },
    })
  }
  for (let set = 0; set < count; set++) {
    changes.push({
      kind: 'condition-set-put',
      set: `set-${set}`,
      side: 'user',
      type: null,
      parent: null,
      conditions: { 'user.group': { equals: `group-${set}` } },
    })
    const rule = {
      userSet: `set-${set}`,
      type: 'document',
      action: 'read',
      resourceSet: '__autogen_document',
    }
    changes.push({ kind: 'rule-put', ...rule })
  }
  const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 3, multiplier: 0x2545f491 } })
  writer.apply(changes)
  const reader = new SharedIndexReader(writer.handle, { threadId: 2 })
  const random = new Random(5)
  const queries = Array.from({ length: QUESTIONS_A_ROUND }, () =>
    ask(`user-${random.below(USERS)}`, 'read', 'document', 'plan'),
  )
  verify(reader, queries, ({ user }) => Number(user.slice('user-'.length)) % 2 === 0)
  return { reader, queries }
}

const [few, many] = [withSets(FEW_SETS), withSets(MANY_SETS)]
const sets: Record<string, Raced> = {}
for (const [name, way] of Object.entries(WAYS)) {
  sets[name] = race(way, [few.reader, many.reader], index => [few, many][index]!.queries)
  process.stdout.write(`sets ${name}: ${sets[name].ns.join(' → ')} ns, ${sets[name].ratio.toFixed(2)} ×\n`)
}

/* ---- Memory ---- */

let allowance = 0
let owners = 0
for (const change of drive.things()) {
  const attributes = 'attributes' in change ? change.attributes : null
  if (!attributes) continue
  allowance += msgpackBytes(attributes) + OWNER_BYTES
  owners += 1
}
const bare = loadShared(drive.drive)
const taken = plain.writer.bytes().total - bare.writer.bytes().total

publish(
  'rules',
  [
    atMost('W6, staged, with rules against without', w6['staged']!.ratio, 2, '×'),
    atMost('W6, packed, the same', w6['packed']!.ratio, 2, '×'),
    atMost('10,000 user sets that differ in a constant against 10, staged', sets['staged']!.ratio, 1.5, '×'),
    atMost('the same, single', sets['single']!.ratio, 1.5, '×'),
    atMost('attributes in all regions against msgpack + 16 B an owner', taken / allowance, 1.5, '×'),
  ],
  { w6, sets, memory: { owners, taken, allowance } },
)
