/**
 * Tests wait for events and assert results that do not depend on time, so they only take longer on a busy
 * machine. They do not sleep, have no deadlines, and do not assert durations or allocated memory; claims
 * (`bench/claims`) do. Random values are reproducible, and ports cannot be taken by another process.
 * Exceptions are listed with their reasons, and outdated exceptions are detected.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Patterns of code that tests must not contain, by what the code does. */
const RULES: Readonly<Record<string, RegExp>> = {
  sleeps: /\bset(Timeout|Interval)\b|\.waitForTimeout\(/,
  'has a deadline':
    /AbortSignal\.timeout|\btimeout:(?! HANG_MS| 0\b)|\btimeout\(|withinMs: \d|, \{ timeout|^\s*\}, [\d_]+\)$|\bretry: [\d{](?!\})|Atomics\.wait\([^)]*, \d|testTimeout|hookTimeout/m,
  'measures time': /\bperformance\.now\(\)|\bDate\.now\(\)|\bprocess\.(hrtime|cpuUsage)|eventLoopUtilization/,
  'measures memory': /\bmemoryUsage\(|\bheapUsed\b|--trace-gc|getHeapStatistics|\bresourceUsage\(/,
  // Seeds are printed, and can be set to repeat a run (`properties/seeded.ts`).
  'draws without a seed': /\bMath\.random\(|\bfc\.assert\((?![^]*\{ seed\b)|\bfc\.sample\((?![^]*\{ seed\b)/,
  // Another process can take a port after the probe, except the ports of `testing/processes/free-port.ts`.
  'finds a port by itself': /\breservePort\(\{[^}]*port: 0|^async function \w*[pP]ort\(/m,
}

/** A clock that a test passes to a component, as the service does. */
const CLOCK = /\b(elapsedMs|now): (\(\) => )?(performance|Date)\.now\(\)/g

/** Folders without these rules: tests of time limits and recovery times, and tests of the oracle. */
const ELSEWHERE = /^(faults|oracle)\//

const POLLS = 'polls with pauses, without a deadline'
const LOWER = 'a minimum duration, which a slow machine cannot violate'
const ENDS = 'grants expire: the time is set, and access is denied after it'
const LEAK = 'after a forced collection, either tens of megabytes are in use or none'

const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'cli/grant-expiry.test.ts': { 'measures time': ENDS },
  'long/console/access.test.ts': { 'measures time': ENDS },
  'http/organization/audit-about.test.ts': { 'measures time': ENDS },
  'http/changes/effective.test.ts': { 'measures time': ENDS },
  'http/changes/streams.test.ts': { 'measures time': ENDS },
  'http/facts/expiry.test.ts': { 'measures time': ENDS },
  'http/plans/plan-expiry.test.ts': { 'measures time': ENDS },
  'service/removals/expiry-removal.test.ts': { 'measures time': LOWER },
  'threads/index-expiry.test.ts': { 'measures time': ENDS },
  'engine/shared-index/rules/rule-scratch.test.ts': {
    'measures memory': 'after a forced collection, either eight megabytes are in use or none',
  },
  'http/organization/api-keys.test.ts': {
    'measures time': 'times in responses are between two readings of the clock',
  },
  'http/sign-in/sign-in.test.ts': {
    'measures time': 'tokens of the issuer state times relative to the clock of the service',
  },
  'http/organization/audit.test.ts': {
    'measures time': 'times in responses are between two readings of the clock',
  },
  'engine/shared-index/large-index.test.ts': {
    'measures memory': 'page faults: thousands are detected, others are few',
  },
  'http/content/content.test.ts': {
    sleeps: 'sends a body slowly, but not so slowly that the HTTP library ends the request',
  },
  'http/edge/lifecycle.test.ts': {
    'has a deadline': 'tests the deadline for closing a server',
    'finds a port by itself': 'tests a port that is in use',
  },
  'long/http/edge/slow-senders.test.ts': {
    sleeps: 'sends more slowly than the HTTP library allows',
  },
  'http/edge/metrics.test.ts': {
    'measures time': 'a measured time is between a minimum and the elapsed time',
  },
  'http/plans/plan-request.test.ts': { 'measures time': 'the time of a plan is that of its request' },
  'http/decisions/min-revision.test.ts': { 'measures time': LOWER },
  'http/decisions/revoked-while-waiting.test.ts': {
    'measures time': 'its session ends an hour after the current time',
  },
  'properties/seeded.ts': { 'draws without a seed': 'draws the seed itself' },
  'sdk/retries.test.ts': { 'measures time': LOWER },
  'long/service/content.redis.test.ts': {
    'measures time': 'sends requests for a fixed time and judges only the responses',
  },
  'service/staleness-deadline.test.ts': { 'measures time': LOWER },
  'long/service/staleness.redis.test.ts': { 'measures time': LOWER },
  'store/fact-list-membership.test.ts': {
    'measures time': 'the current time is one of the stored times',
  },
  'support/chromium.ts': { sleeps: 'ends an expression that the page does not answer before HANG_MS' },
  'testing/processes/pause.ts': { sleeps: POLLS },
  'long/system/fatal-while-writing.ts': {
    sleeps: 'in a process that fails a moment later',
    'measures time': 'reports the time, which test/faults judges',
  },
  'long/system/process.test.ts': { sleeps: POLLS },
  'threads/import-thread.test.ts': { 'measures time': 'ends a blocking loop after HANG_MS' },
  'long/service/sign-ins.test.ts': { 'measures memory': LEAK },
  'threads/api-key-authentication.test.ts': { 'measures memory': LEAK },
}

/** Modules that tests use, except those that only benches and `test/faults` use for measurements. */
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

test.each(Object.entries(RULES))('no test %s without a listed reason', (rule, pattern) => {
  const offenders = files.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
  const excepted = Object.entries(EXCEPTIONS).flatMap(([path, why]) =>
    why[rule] === undefined ? [] : [path],
  )
  expect(offenders.toSorted()).toEqual(excepted.toSorted())
})

test('the only deadline of tests is the one for tests that hang, and no test is retried', () => {
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

test('the README documents the first level of tests, and continuous integration runs both levels', () => {
  const ci = readFileSync(join(root, '.ci/run'), 'utf8').split('\n')
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('npm ci && npm test\n')
  for (const command of ['npm ci', 'npm run test:all']) expect(ci).toContain(command)
})
