/**
 * Tests wait for what happens and assert what cannot vary: on a busy machine, or one that stands still, they take longer and
 * say the same. So none of them sleeps, has a deadline of its own, or judges how long something took or what it allocated;
 * what does is a claim (`bench/claims`). None draws by chance what cannot be drawn again, or uses a port that somebody else may
 * get. Exceptions are listed, each with its reason, and those that are none any more are found.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What looks like sleeping, like a deadline, like measuring, or like chance. */
const RULES: Readonly<Record<string, RegExp>> = {
  sleeps: /\bset(Timeout|Interval)\b|\.waitForTimeout\(/,
  'has a deadline':
    /AbortSignal\.timeout|\btimeout:(?! HANG_MS| 0\b)|\btimeout\(|withinMs: \d|, \{ timeout|^\s*\}, [\d_]+\)$|\bretry: [\d{](?!\})|Atomics\.wait\([^)]*, \d|testTimeout|hookTimeout/m,
  'measures time': /\bperformance\.now\(\)|\bDate\.now\(\)|\bprocess\.(hrtime|cpuUsage)|eventLoopUtilization/,
  'measures memory': /\bmemoryUsage\(|\bheapUsed\b|--trace-gc|getHeapStatistics|\bresourceUsage\(/,
  // Seeds are told, and given to repeat a run (`properties/seeded.ts`).
  'draws without a seed': /\bMath\.random\(|\bfc\.assert\((?![^]*\{ seed\b)|\bfc\.sample\((?![^]*\{ seed\b)/,
  // The port that a probe has found is anybody's again, but for those of `testing/processes/free-port.ts`.
  'finds a port by itself': /\breservePort\(\{[^}]*port: 0|^async function \w*[pP]ort\(/m,
}

/** A clock, or the time, that is handed to a part, as the service hands its own. */
const CLOCK = /\b(elapsedMs|now): (\(\) => )?(performance|Date)\.now\(\)/g

/** Waiting out what settings promise, and how soon nodes are back, is what these are about. */
const ELSEWHERE = /^(faults|oracle)\//

const POLLS = 'looks again after a pause, for as long as it takes'
const LOWER = 'at least so long, which a slow machine cannot break'
const ENDS = 'grants end at a time: it is said when, and judged that nobody is allowed behind it'
const LEAK = 'after a forced collection: tens of megabytes are there, or nothing'

const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'cli/expiring-grants.test.ts': { 'measures time': ENDS },
  'long/console/access.test.ts': { 'measures time': ENDS },
  'http/organization/audit-about.test.ts': { 'measures time': ENDS },
  'http/changes/effective.test.ts': { 'measures time': ENDS },
  'http/changes/streams.test.ts': { 'measures time': ENDS },
  'http/facts/expiry.test.ts': { 'measures time': ENDS },
  'service/expired-grants.test.ts': { 'measures time': LOWER },
  'threads/expiring-facts.test.ts': { 'measures time': ENDS },
  'engine/shared-index/rule-scratch.test.ts': {
    'measures memory': 'after a forced collection: eight megabytes are there, or nothing',
  },
  'http/organization/api-keys.test.ts': {
    'measures time': 'moments that a caller is told lie between two looks at the clock',
  },
  'http/organization/audit.test.ts': {
    'measures time': 'moments that a caller is told lie between two looks at the clock',
  },
  'engine/shared-index/large-index.test.ts': {
    'measures memory': 'faults of pages: those that are looked for are thousands, others are few',
  },
  'http/content/content.test.ts': {
    sleeps: 'keeps a body coming, since the HTTP library ends one that does not',
  },
  'http/edge/lifecycle.test.ts': {
    'has a deadline': 'is about the one that closing a server has',
    'finds a port by itself': 'is about that',
  },
  'long/http/edge/slow-senders.test.ts': {
    sleeps: 'a sender that is slower than the HTTP library would have it',
  },
  'http/edge/metrics.test.ts': {
    'measures time': 'a time that is told lies between the least and all that has passed',
  },
  'http/decisions/min-revision.test.ts': { 'measures time': LOWER },
  'properties/seeded.ts': { 'draws without a seed': 'draws the seed' },
  'sdk/retries.test.ts': { 'measures time': LOWER },
  'long/service/content.redis.test.ts': {
    'measures time': 'asks for so long; each answer is judged, no time is',
  },
  'service/staleness-deadline.test.ts': { 'measures time': LOWER },
  'long/service/staleness.redis.test.ts': { 'measures time': LOWER },
  'store/fact-list-membership.test.ts': {
    'measures time': 'the present is one of the times that are written',
  },
  'testing/processes/pause.ts': { sleeps: POLLS },
  'long/system/fatal-while-writing.ts': {
    sleeps: 'in the process that is to fail: it comes to nothing a moment later',
    'measures time': 'tells it; test/faults judges it',
  },
  'long/system/process.test.ts': { sleeps: POLLS },
  'threads/import-thread.test.ts': { 'measures time': 'ends at HANG_MS a loop that no runner could' },
  'threads/api-key-authentication.test.ts': { 'measures memory': LEAK },
}

/** What tests stand on, too: but for what only benches and `test/faults` measure with. */
const SHARED = ['engines', 'processes', 'requests'].map(folder => `testing/${folder}`)

const files = ['test', ...SHARED]
  .flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(path => ({
      path: folder === 'test' ? path : `${folder}/${path}`,
      from: join(root, folder, path),
    })),
  )
  .filter(({ path }) => /\.(ts|js)$/.test(path) && !ELSEWHERE.test(path) && path !== 'waiting.test.ts')
  .map(({ path, from }) => ({ path, text: readFileSync(from, 'utf8').replace(CLOCK, '') }))

test.each(Object.entries(RULES))('no test %s, but for those that say why', (rule, pattern) => {
  const offenders = files.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
  const excepted = Object.entries(EXCEPTIONS).flatMap(([path, why]) =>
    why[rule] === undefined ? [] : [path],
  )
  expect(offenders.toSorted()).toEqual(excepted.toSorted())
})

test('the only deadline is that of a hang, and no test is retried', () => {
  const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8')
  expect(config.match(/\w*[tT]imeout: \w+/g)).toEqual([
    'testTimeout: HANG_MS',
    'hookTimeout: HANG_MS',
    'teardownTimeout: HANG_MS',
    'timeout: HANG_MS',
  ])
  const ci = readFileSync(join(root, '.ci/run'), 'utf8')
  for (const text of [config, ci]) expect(text).not.toMatch(/retry/)
})

test('the README names the first level of the tests, and continuous integration runs both levels', () => {
  const ci = readFileSync(join(root, '.ci/run'), 'utf8').split('\n')
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('npm ci && npm test\n')
  for (const command of ['npm ci', 'npm run test:all']) expect(ci).toContain(command)
})
