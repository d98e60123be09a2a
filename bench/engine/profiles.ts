/**
 * Measures the attributes of a million users with a profile of five attributes each: their memory and load
 * time, and the correctness of a rule on them.
 *
 *     npm run bench -- profiles [users = 1000000]
 *
 * Times are processor times. Memory is the difference between the sizes of all regions with and without
 * profiles.
 */
import type { Attributes, Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { conditionSet, resourceType, tenant } from '#testing/engines/changes.ts'
import { atMost, publish, round } from '../lib/measure.ts'
import { msgpackBytes, OWNER_BYTES } from '../lib/msgpack-bytes.ts'
import { type Loaded, loadBare } from './loading.ts'
import { BATCH } from './questions.ts'
import { TextQuestion } from '#model/question.ts'

const users = Number(process.argv[2] ?? 1_000_000)
const ASKED = 100_000
const STRIDE = 7_919
const LEVELS = 10
const LEVEL_MIN = 5
const DEPARTMENTS = ['sales', 'support', 'engineering', 'legal', 'operations']
const REGIONS = ['europe-west', 'europe-north', 'us-east', 'us-west', 'asia-south']

function profileOf(user: number): Attributes {
  return {
    department: DEPARTMENTS[user % DEPARTMENTS.length]!,
    level: Math.floor(user / DEPARTMENTS.length) % LEVELS,
    region: REGIONS[Math.floor(user / 3) % REGIONS.length]!,
    active: user % 11 !== 0,
    title: `employee ${user}`,
  }
}

function isRight({ department, level, active }: Attributes): boolean {
  return department === 'sales' && (level as number) >= LEVEL_MIN && active === true
}

const RULE: readonly Change[] = [
  conditionSet('senior-sales', {
    allOf: [
      { 'user.department': { equals: 'sales' } },
      { 'user.level': { 'greater-than-equals': LEVEL_MIN } },
      { 'user.active': { equals: true } },
    ],
  }),
  {
    kind: 'rule-put',
    userSet: 'senior-sales',
    type: 'document',
    action: 'read',
    resourceSet: '__autogen_document',
  },
]

function loaded(hasProfiles: boolean): Loaded & { readonly seconds: number } {
  const before = process.cpuUsage()
  const index = loadBare({
    *things(): Iterable<Change> {
      yield* [resourceType('document', 'read'), tenant('default'), ...RULE]
      for (let user = 0; user < users; user++) {
        yield { kind: 'user-put', user: `user-${user}`, attributes: hasProfiles ? profileOf(user) : null }
      }
    },
    *facts() {},
  })
  const { user, system } = process.cpuUsage(before)
  return { ...index, seconds: (user + system) / 1e6 }
}

const bare = loaded(false)
const full = loaded(true)
let allowance = 0
for (let user = 0; user < users; user++) allowance += msgpackBytes(profileOf(user)) + OWNER_BYTES
const taken = full.writer.bytes().total - bare.writer.bytes().total

let wrong = 0
let allowed = 0
for (let from = 0; from < ASKED; from += BATCH) {
  const asked = Array.from({ length: BATCH }, (_, n) => ((from + n) * STRIDE) % users)
  const queries = asked.map((user): Query => {
    return { user: `user-${user}`, action: 'read', type: 'document', key: null, tenant: null }
  })
  const together = full.reader.evaluateAll(new TextQuestion(queries))
  for (const [index, query] of queries.entries()) {
    const right = isRight(profileOf(asked[index]!))
    if ((together[index] === 1) !== right || full.reader.evaluate(query) !== right) wrong++
    if (right) allowed++
  }
}

publish(
  'profiles',
  [
    atMost('attributes in all regions against msgpack + 16 B an owner', taken / allowance, 1.5, '×'),
    atMost(`wrong of ${2 * ASKED} decisions by a rule on them`, wrong, 0, 'decisions'),
    {
      figure: `${users} users loaded, with profiles and without`,
      bar: '',
      reached: `${round(full.seconds)} and ${round(bare.seconds)} s`,
      isMet: true,
    },
  ],
  { users, taken, allowance, allowed, seconds: { with: full.seconds, without: bare.seconds } },
)
