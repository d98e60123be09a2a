/** The pool of decision threads: its queue, its limits, and the jobs of a thread that ends. */
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { takeOverLock } from '#engine/shared-index/recovery.ts'
import { beginSection, lock } from '#engine/shared-index/memory/sequence.ts'
import { bytesOf } from '#http/message/byte-views.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import { DecisionService } from '#decisions/decision-service.ts'
import { TextQuestion } from '#model/question.ts'
import {
  type AttributesInBytes,
  PackedQueries,
  type QueryTerms,
  KEY_RANGE,
  RANGE_LENGTH,
  RANGE_WORDS,
} from '#model/packed-queries.ts'
import { EXPLAIN_STEPS_MAX } from '#model/limits.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import type { SearchJob, SlicedJob } from '#decisions/decision-pool.ts'
import { readWith } from '#decisions/sliced-job.ts'
import { createDeadline, StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { EngineReaders } from '#threads/indexes/engine-readers.ts'
import { createProgress } from '#threads/indexes/index-progress.ts'
import { JobPool } from '#threads/pool/job-pool.ts'
import { WORKER_URLS } from '#composition/process/worker-urls.ts'
import {
  assign,
  conditionSet,
  instance,
  removed,
  resourceType,
  role,
  ruleOf,
  tenant,
  user,
} from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { World } from '../engine/world.ts'

const COUNT = 20_000
const HERE = { isGone: false, whenOver: () => {} }
/** For bulks of environments that never get rules. */
const refuse = () => {
  throw new Error('there are no rules')
}

const engine = new SharedEngine()
const world = new World(
  engine,
  tenant('default'),
  resourceType('document', 'read', 'write'),
  role('document', 'viewer', { can: ['read'] }),
  user('alice'),
  user('bob'),
  instance('document:d'),
  assign('alice', 'viewer', 'document:d'),
)
const { handle } = engine.writer
const deadline = new StalenessDeadline()
const readers = new EngineReaders(
  index => new SharedIndexReader(index, { threadId: 5, lockEveryRead: false }),
  deadline,
)
function attach(environmentId: string, index: IndexHandle): void {
  readers.attach(environmentId, {
    index,
    progress: createProgress({ epoch: 'epoch', sequence: 1 }),
    deadline: deadline.handle,
    expiryDeadline: createDeadline(),
  })
}
attach('e', handle)
const SEARCH: SearchJob = {
  kind: 'users',
  question: { action: 'read', type: 'document', key: 'd', tenant: null, requestAttributes: null },
  page: { after: null, limit: 10, triedMax: 100 },
}
const reads: QueryTerms = { type: 'document', action: 'read', tenant: 'default' }
const writes: QueryTerms = { ...reads, action: 'write' }

interface PoolOptions {
  readonly jobsMax?: number
  readonly threads?: number
  readonly entry?: URL
}

/** Returns a pool, the ids of its threads that ended, and the reasons why threads could not start. */
function newPool(options: PoolOptions = {}): { pool: JobPool; ended: number[]; failures: unknown[] } {
  const ended: number[] = []
  const failures: unknown[] = []
  const pool = new JobPool({
    entry: options.entry ?? WORKER_URLS.pool,
    sliced: new ThreadScheduler(new TimeBudget('http')),
    threads: options.threads ?? 1,
    jobsMax: options.jobsMax ?? 10,
    engine: environmentId => readers.shareable(environmentId),
    onIndexFault: () => {},
    onThreadEnd: id => {
      ended.push(id)
      takeOverLock(handle, id + 1)
    },
    onStartFailure: error => failures.push(error),
  })
  onTestFinished(() => pool.close())
  return { pool, ended, failures }
}

/** A module that creates the file `begun` and then runs `code`. */
function notingEntry(code: string) {
  const directory = storeDirectory()
  const [entry, begun] = [join(directory, 'entry.mjs'), join(directory, 'begun')]
  const note = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(begun)}, '')`
  writeFileSync(entry, `${note}\n${code}`)
  return { entry, begun }
}

/** Every fifth check is for `write`, which is denied to all users. */
const WRITE_EVERY = 5
/**
 * Every third check is for Bob, who has no permissions. An odd number, because parts begin at even checks.
 */
const USERS_TURN = 3

/** `count` checks with consecutive numbers from `first` on. */
function questions(count = COUNT, first = 0): PackedQueries {
  const body = Buffer.from('alicebobd...')
  const keyRanges = new Int32Array(count * RANGE_WORDS)
  for (let index = 0; index < count; index++) {
    const at = index * RANGE_WORDS
    const isBobs = (first + index) % USERS_TURN === 0
    keyRanges[at] = isBobs ? 5 : 0
    keyRanges[at + RANGE_LENGTH] = isBobs ? 3 : 5
    keyRanges[at + KEY_RANGE] = 8
    keyRanges[at + KEY_RANGE + RANGE_LENGTH] = 1
  }
  const bytes = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const termsTable = Array.from({ length: count }, (_, index) =>
    (first + index) % WRITE_EVERY === 0 ? writes : reads,
  )
  return new PackedQueries(count, bytes, keyRanges, termsTable)
}

/** Compares all values at the same time, because comparing each value takes longer than the decisions. */
function expectRight(verdicts: Uint8Array, first = 0): void {
  const right = verdicts.map((_, index) => {
    const number = first + index
    return Number(number % USERS_TURN !== 0 && number % WRITE_EVERY !== 0)
  })
  expect(Buffer.compare(verdicts, right)).toBe(0)
}

/** A pool whose threads have started. Before that, searches do not use the pool. */
async function warmPool(options: PoolOptions = {}) {
  const started = newPool(options)
  while (!started.pool.isWarm) {
    expectRight(await started.pool.evaluate('e', questions(), HERE, refuse))
  }
  return started
}

test('the calling thread decides a part of a bulk if the pool has no other jobs', async () => {
  const { pool } = await warmPool()
  const decide = vi.spyOn(readers.shareable('e').engine, 'evaluateWithoutRules')
  for (const count of [2_000, 4_000, 10_000]) {
    decide.mockClear()
    // Repeated, because the other threads sometimes complete the bulk before this thread runs.
    do expectRight(await pool.evaluate('e', questions(count), HERE, refuse))
    while (decide.mock.calls.length === 0)
  }
  decide.mockRestore()
})

/** A read of many slices. */
const LONG: SlicedJob<'explain'> = {
  kind: 'explain',
  queries: Array.from({ length: COUNT }, () => ({
    user: 'alice',
    action: 'read',
    type: 'document',
    key: 'd',
    tenant: null,
    requestAttributes: null,
  })),
  stepsMax: EXPLAIN_STEPS_MAX,
  lengthMax: Infinity,
  detail: 'none',
}

test('a sliced read of a disconnected client is ended, and the thread continues with the next job', async () => {
  const { pool } = await warmPool()
  // The client disconnects as soon as the pool registers its listener.
  const leaving = { isGone: false, whenOver: (call: () => void) => call() }
  const left = pool.read<'explain'>('e', LONG, leaving)
  const search = pool.search('e', SEARCH, HERE)
  await expect(left).rejects.toMatchObject({
    code: 'OVERLOADED',
    message: expect.stringMatching(/disconnected/),
  })
  expect(await search).toMatchObject({ keys: ['alice'] })
  expect(pool.figures().jobs).toBe(0)
})

test('sliced reads let searches run in between, and return the same result with and without a pool', async () => {
  const { pool } = await warmPool()
  const order: string[] = []
  const read = pool.read<'explain'>('e', LONG, HERE).finally(() => order.push('read'))
  const search = pool.search('e', SEARCH, HERE).finally(() => order.push('search'))
  const [{ decisions }] = await Promise.all([read, search])
  expect(order).toEqual(['search', 'read'])
  const here = runAtOnce(readWith<'explain'>(readers.shareable('e').engine, LONG))
  expect(decisions).toEqual(here.decisions)
  expect(decisions.every(({ allow }) => allow)).toBe(true)
})

/** Like `questions`. The context of each check contains the first word of the body. */
function questionsWithWord(): PackedQueries {
  const asked = questions()
  const wordIn = (bytes: DataView): AttributesInBytes => ({
    sent: () => ({ user: null, resource: null, tenant: null, context: { word: textOf(bytes, 5) } }),
    from: () => wordIn(bytes),
    in: wordIn,
  })
  return asked.in({ now: () => 0, attributes: () => wordIn(asked.bytes) })
}

const textOf = (bytes: DataView, length: number) => String.fromCharCode(...bytesOf(bytes).subarray(0, length))

test.each([
  ['packed', false],
  ['packed', true],
  ['parsed', false],
] as const)(
  'a %s bulk is decided with the rules that replace a role while it waits, started pool threads: %s',
  async (form, isWarm) => {
    const { pool } = await (isWarm ? warmPool() : newPool())
    const changing = new SharedEngine()
    const viewing = assign('alice', 'viewer', 'document:d')
    const model = [tenant('default'), resourceType('document', 'read', 'write')]
    changing.apply([...model, role('document', 'viewer', { can: ['read'] }), user('alice'), user('bob')])
    changing.apply([instance('document:d'), viewing])
    attach('changing', changing.writer.handle)
    const decisions = new DecisionService(
      readers,
      { bulkChecksMax: COUNT, poolJobsMax: 10 },
      { observer: null, pool, sliced: new ThreadScheduler(new TimeBudget('http')), now: () => 0 },
    )
    const packed = questionsWithWord()
    const numbers = Array.from({ length: COUNT }, (_, index) => index)
    const asked = form === 'packed' ? packed : new TextQuestion(numbers.map(index => packed.query(index)))
    const decided = decisions.evaluate('changing', asked, { ...HERE, requestId: '' })
    // The next request uses the same bytes.
    if (form === 'packed') bytesOf(packed.bytes).fill(0)
    changing.apply([conditionSet('all', { 'context.word': { equals: 'alice' } }), ruleOf('all')])
    changing.apply([removed(viewing)])
    const right = numbers.map(index => Number(index % WRITE_EVERY !== 0))
    expect(Buffer.compare(await decided, Uint8Array.from(right))).toBe(0)
  },
)

test('concurrent bulks are decided correctly, with one thread and with three', async () => {
  expect(world.can('alice', 'read', 'document:d')).toBe(true)
  for (const threads of [1, 3]) {
    const { pool } = await warmPool({ threads })
    for (let round = 0; round < 5; round++) {
      // Each round has other decisions, because the memory still contains the decisions of earlier bulks.
      const bulks = [COUNT, 3_000, COUNT, 2_001].map((count, index) => ({ count, first: 4 * round + index }))
      const all = await Promise.all(
        bulks.map(({ count, first }) => pool.evaluate('e', questions(count, first), HERE, refuse)),
      )
      for (const [index, { count, first }] of bulks.entries()) {
        expect(all[index]!.length).toBe(count)
        expectRight(all[index]!, first)
      }
    }
  }
})

/** A decision whose conditions take long. */
const DECIDE: SlicedJob<'decide'> = {
  kind: 'decide',
  question: {
    user: 'alice',
    action: 'read',
    type: 'document',
    key: 'd',
    tenant: null,
    requestAttributes: null,
  },
}

test.each([
  ['have not started', newPool],
  ['have started', warmPool],
])(
  'bulks above the limit of a pool, and above half of it for one environment, are refused; decisions are not: threads %s',
  async (_which, begin) => {
    for (const environmentId of ['f', 'g']) attach(environmentId, handle)
    const { pool } = await begin({ jobsMax: 4 })
    const bulk = (environmentId: string) => pool.evaluate(environmentId, questions(), HERE, refuse)
    const full = expect.objectContaining({ code: 'OVERLOADED', limit: 'pool' })
    const first = [bulk('e'), bulk('e')]
    expect(() => bulk('e')).toThrow(full)
    const others = [bulk('f'), bulk('f')]
    expect(() => bulk('g')).toThrow(full)
    expect(await pool.read<'decide'>('g', DECIDE, HERE)).toBe(true)
    for (const verdicts of await Promise.all([...first, ...others])) expectRight(verdicts)
    expectRight(await bulk('g'))
  },
)

test('a bulk that cannot be allocated uses no capacity of the pool', async () => {
  const { pool } = newPool({ jobsMax: 1 })
  const { bytes, keyRanges, termsTable } = questions(1)
  const endless = new PackedQueries(2 ** 27, bytes, keyRanges, termsTable)
  expect(() => pool.evaluate('e', endless, HERE, refuse)).toThrow(RangeError)
  expect(pool.figures().jobs).toBe(0)
  expectRight(await pool.evaluate('e', questions(), HERE, refuse))
})

test('when a pool thread ends, its jobs are refused for a retry, its lock is freed, and a new thread replaces it', async () => {
  const { pool, ended } = await warmPool()
  const [thread] = pool.threads
  const { threadId } = thread!
  const header = new Int32Array(handle.header)
  // The lock is held as by a thread that ends during a change. The search waits for the end of the change.
  lock(header, threadId + 1)
  beginSection(header)
  const search = pool.search('e', SEARCH, HERE)
  const refused = expect(search).rejects.toMatchObject({ code: 'OVERLOADED' })
  const end = once(thread!, 'exit')
  void thread!.terminate()
  await refused
  await end
  expect(ended).toEqual([threadId])
  expect(Atomics.load(header, L.H_LOCK)).toBe(0)
  expectRight(await pool.evaluate('e', questions(), HERE, refuse))
  while (!pool.isWarm) await pool.evaluate('e', questions(), HERE, refuse)
  expect(pool.threads[0]!.threadId).not.toBe(threadId)
})

test('the calling thread completes waiting searches if pool threads that ended cannot be restarted', async () => {
  const directory = storeDirectory()
  const entry = pathToFileURL(join(directory, 'entry.mjs'))
  writeFileSync(entry, `export { default } from ${JSON.stringify(WORKER_URLS.pool.href)}`)
  const { pool } = await warmPool({ entry, jobsMax: 40 })
  rmSync(directory, { recursive: true })
  const [thread] = pool.threads
  const header = new Int32Array(handle.header)
  // With this lock, no job in the pool ends before the thread has ended. The other jobs wait.
  lock(header, thread!.threadId + 1)
  beginSection(header)
  const searches = Array.from({ length: 20 }, () => pool.search('e', SEARCH, HERE))
  const ends = Promise.allSettled(searches)
  void thread!.terminate()
  const found = (await ends).filter(({ status }) => status === 'fulfilled')
  expect(found.length).toBeGreaterThan(0)
  expect(pool.figures().jobs).toBe(0)
})

test.each([
  ["throw new Error('not yet')", 'not yet'],
  ['process.exit(3)', 'a thread of the pool exited with code 3 before all had started'],
])('a pool thread that cannot be started (%s) is reported, and its start is retried', async (end, reason) => {
  const { entry, begun: tried } = notingEntry(end)
  const { pool, ended, failures } = newPool({ entry: pathToFileURL(entry) })
  while (!existsSync(tried)) expectRight(await pool.evaluate('e', questions(), HERE, refuse))
  expect(pool.isWarm).toBe(false)
  writeFileSync(entry, `export { default } from ${JSON.stringify(WORKER_URLS.pool.href)}`)
  while (!pool.isWarm) expectRight(await pool.evaluate('e', questions(), HERE, refuse))
  expect(await pool.search('e', SEARCH, HERE)).toMatchObject({ keys: ['alice'] })
  expect(failures[0]).toMatchObject({ message: reason })
  expect(ended).toEqual([])
})

test.each([
  ['waits for an import', 'await new Promise(() => {})'],
  ['is busy', 'for (;;);'],
])('if a pool is closed while a thread starts and %s, only this thread is ended', async (_, forever) => {
  const { entry, begun } = notingEntry(forever)
  const { pool, failures } = newPool({ entry: pathToFileURL(entry) })
  while (!existsSync(begun)) expectRight(await pool.evaluate('e', questions(), HERE, refuse))
  await pool.close()
  expect(failures).toEqual([])
})

test.each([['--max-old-space-size=4000'], ['--disable-warning=ExperimentalWarning']])(
  'pool threads start with any flags of the process: %s',
  async flag => {
    process.execArgv.push(flag)
    onTestFinished(() => void process.execArgv.pop())
    const { pool } = await warmPool()
    expectRight(await pool.evaluate('e', questions(), HERE, refuse))
  },
)

test('a job that began in time is refused if the deadline passes before it is complete', async () => {
  const { pool } = await warmPool()
  onTestFinished(() => deadline.set(Infinity))
  // All parts of the small bulk are in the pool. Some parts of the large bulk wait.
  for (const count of [400, COUNT]) {
    const jobs = [pool.evaluate('e', questions(count), HERE, refuse), pool.search('e', SEARCH, HERE)]
    deadline.set(0)
    for (const end of await Promise.allSettled(jobs)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'STALE' } })
    }
    expect(pool.figures().jobs).toBe(0)
    deadline.set(Infinity)
  }
  expectRight(await pool.evaluate('e', questions(), HERE, refuse))
})

test('a closed pool refuses waiting and new jobs', async () => {
  const { pool } = newPool()
  const waiting = pool.evaluate('e', questions(), HERE, refuse)
  const refused = expect(waiting).rejects.toMatchObject({ code: 'OVERLOADED' })
  await pool.close()
  await refused
  expect(() => pool.evaluate('e', questions(), HERE, refuse)).toThrow(
    expect.objectContaining({ code: 'OVERLOADED' }),
  )
})
