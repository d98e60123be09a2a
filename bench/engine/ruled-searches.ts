/**
 * Measures searches with rules over a million instances and a million users. Some searches can use a posting
 * list, and others cannot. Also measures how much posting lists cost the writer.
 *
 *     taskset -c 1 node --max-old-space-size=12000 bench/engine/ruled-searches.ts
 *
 * Each page is compared with the stored attributes before the measurement.
 */
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { KeyPage } from '#engine/engine.ts'
import type { Change } from '#model/change.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'
import { searchResources, searchUsers } from '#testing/engines/listed.ts'
import { atMost, type Figure, median, publish } from '../lib/measure.ts'

const COUNT = 1_000_000
const OWNED = 100
const DEPARTMENTS = 20
const ROUNDS = 9
const TRIED_MAX = 20_000
const WRITES = 2_000

const name = (prefix: string, n: number): string => `${prefix}${String(n).padStart(7, '0')}`

function* world(): Iterable<Change> {
  yield { kind: 'type-put', type: 'document', actions: ['read', 'list', 'share'] }
  yield { kind: 'tenant-put', tenant: 'default', attributes: null }
  for (let n = 0; n < COUNT; n++) {
    yield { kind: 'user-put', user: name('u', n), attributes: { department: `d${n % DEPARTMENTS}` } }
  }
  for (let n = 0; n < COUNT; n++) {
    // One in 100 users owns 100 documents. These documents are distributed over all documents.
    const owner = name('u', (n % (COUNT / OWNED)) * OWNED)
    const instance = { type: 'document', key: name('k', n) }
    yield { kind: 'instance-put', instance, tenant: 'default', attributes: { owner, level: n % 100 } }
  }
}

function ruled(action: string, user: object, resource: object): Change[] {
  const put = (side: 'user' | 'resource', conditions: object): Change => ({
    kind: 'condition-set-put',
    set: `${action} ${side}`,
    side,
    type: null,
    parent: null,
    conditions: { ...conditions },
  })
  const [userSet, resourceSet] = [`${action} user`, `${action} resource`]
  return [
    put('user', user),
    put('resource', resource),
    { kind: 'rule-put', userSet, type: 'document', action, resourceSet },
  ]
}

const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
writer.apply(world())
while (writer.precompute(100_000));
const reader = new SharedIndexReader(writer.handle, { threadId: 2 })

/**
 * Returns the processor time in milliseconds of writes of an attribute. All rounds write to the same
 * entities.
 */
function writeMs(round: number): number {
  const writes = Array.from({ length: WRITES }, (_, n): Change[] => [
    {
      kind: 'user-put',
      user: name('u', n * 37),
      attributes: { department: `d${(n + round) % DEPARTMENTS}` },
    },
  ])
  const before = process.cpuUsage()
  for (const write of writes) writer.apply(write)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const withoutLists = Array.from({ length: ROUNDS }, (_, round) => writeMs(round))
writer.apply([
  ...ruled('read', {}, { 'resource.owner': { 'equals-ref': 'user.key' } }),
  ...ruled('list', { 'user.department': { equals: 'd7' } }, {}),
  ...ruled('share', {}, { 'resource.level': { 'greater-than': 98 } }),
])
const before = process.cpuUsage()
while (writer.buildLists(64));
const { user, system } = process.cpuUsage(before)
const buildSeconds = (user + system) / 1e6
const withLists = Array.from({ length: ROUNDS }, (_, round) => writeMs(round + 1))
// Restores the initial attributes.
for (let n = 0; n < WRITES; n++) {
  const number = n * 37
  writer.apply([
    { kind: 'user-put', user: name('u', number), attributes: { department: `d${number % DEPARTMENTS}` } },
  ])
}

const figures: Figure[] = []
const raw: Record<string, unknown> = { withoutLists, withLists, buildSeconds }
const asked = { type: 'document', tenant: null }

function timed(page: () => KeyPage): { readonly page: KeyPage; readonly ms: number } {
  const start = performance.now()
  const found = page()
  return { page: found, ms: performance.now() - start }
}

function expectKeys(what: string, found: readonly string[], right: readonly string[]): void {
  if (found.join() !== right.join())
    throw new Error(`${what}: ${found.length} keys, not the ${right.length} right ones`)
}

const owned = Array.from({ length: OWNED }, (_, n) => name('k', 4_242 + n * (COUNT / OWNED)))
const first: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  // Creates another state each time, so that cached results cannot be used.
  writer.apply([{ kind: 'user-put', user: 'passer-by', attributes: { round } }])
  const question = { ...asked, user: name('u', 4_242 * OWNED), action: 'read' }
  const { page, ms } = timed(() =>
    searchResources(reader, question, { after: null, limit: OWNED + 1, triedMax: TRIED_MAX }),
  )
  expectKeys('owned documents', page.keys, owned)
  first.push(ms)
}
figures.push(atMost('resources by their owner: 100 of 1M, the first page', median(first), 10, 'ms'))

const users: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  writer.apply([{ kind: 'user-put', user: 'passer-by', attributes: { round } }])
  const question = { ...asked, key: name('k', round), action: 'list' }
  const after = round === 0 ? null : name('u', 7 + (round - 1) * 2_000)
  const { page, ms } = timed(() => searchUsers(reader, question, { after, limit: 100, triedMax: TRIED_MAX }))
  const from = round === 0 ? 0 : 1 + (round - 1) * 100
  expectKeys(
    'users of a department',
    page.keys,
    Array.from({ length: 100 }, (_, n) => name('u', 7 + (from + n) * DEPARTMENTS)),
  )
  users.push(ms)
}
figures.push(atMost('users by their department: a page of 100 of 50,000 of 1M', median(users), 10, 'ms'))

const pages: number[] = []
const walked: string[] = []
for (let after: string | null = null, hasMore = true; hasMore;) {
  const question = { ...asked, user: name('u', 1), action: 'share' }
  const { page, ms } = timed(() =>
    searchResources(reader, question, { after, limit: 100, triedMax: TRIED_MAX }),
  )
  walked.push(...page.keys)
  pages.push(ms)
  ;({ hasMore, last: after } = page)
}
expectKeys(
  'documents of a level',
  walked,
  Array.from({ length: COUNT / 100 }, (_, n) => name('k', 99 + n * 100)),
)
raw['pages'] = { first, users, pages }
figures.push(
  atMost(`a scan for 1 % of 1M in pages of 100: a page, median of ${pages.length}`, median(pages), 60, 'ms'),
  atMost('the same, its slowest page', Math.max(...pages), 60, 'ms'),
  atMost(
    'changes of a listed attribute, against the same without lists',
    median(withLists) / median(withoutLists),
    1.3,
    '×',
  ),
  atMost('five lists with 5M entries are built, processor time in idle turns', buildSeconds, 30, 's'),
  atMost('memory of an entry', writer.bytes().lists / (5 * COUNT), 16, 'B'),
)
publish('ruled-searches', figures, raw)
