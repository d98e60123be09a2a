/** The slow-request log: one line per slow request, up to a rate limit. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { RequestWatch, type SlowRequest } from '#http/edge/request-watch.ts'
import { KEPT_REQUEST_ID_LENGTH_MAX } from '#model/limits.ts'
import { countingObserver } from './edge-server.ts'
import { SlowRequestLog } from '#telemetry/slow-request-log.ts'

/** A log with a stopped clock, and the lines that were written to it. */
function slowRequestLog() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line) as Record<string, unknown>) })
  let elapsedMs = 5_000
  const slow = new SlowRequestLog(log, () => elapsedMs)
  let count = 0
  return {
    lines,
    write(requests: number): void {
      for (let request = 0; request < requests; request += 1) {
        const requestId = `request-${++count}`
        slow.write({ requestId, operation: 'isAllowed', environment: 'e1', status: 200, elapsedMs: 1_234.5 })
      }
    },
    wait: (milliseconds: number): unknown => (elapsedMs += milliseconds),
  }
}

test('the slow-request log has one line for each slow request, up to ten per second', () => {
  const log = slowRequestLog()
  log.write(10)
  expect(log.lines).toHaveLength(10)
  expect(log.lines[0]).toMatchObject({
    msg: 'slow request',
    requestId: 'request-1',
    operation: 'isAllowed',
    environment: 'e1',
    status: 200,
    elapsedMs: 1_235,
  })
  for (const line of log.lines) expect(line).not.toHaveProperty('omitted')
})

test('the slow-request log omits requests over ten per second, and the next line has the number of omitted requests', () => {
  const log = slowRequestLog()
  log.write(25)
  expect(log.lines.map(({ requestId }) => requestId).at(-1)).toBe('request-10')
  expect(log.lines).toHaveLength(10)
  log.wait(999)
  log.write(1)
  expect(log.lines).toHaveLength(10)
  log.wait(1)
  log.write(2)
  expect(log.lines.slice(10)).toMatchObject([
    { requestId: 'request-27', omitted: 16 },
    { requestId: 'request-28' },
  ])
  expect(log.lines.at(-1)).not.toHaveProperty('omitted')
})

/** A watch for which every request is slow, and the requests that it reported. */
function slowWatch() {
  const logged: SlowRequest[] = []
  const { observer } = countingObserver()
  const watch = new RequestWatch([], observer, { ms: 0, onSlow: request => logged.push(request) })
  return { watch, logged }
}

test('a slow request has the environment of its key, or null for other keys', () => {
  const { watch, logged } = slowWatch()
  const project = {
    organizationId: 'o1',
    projectId: 'p1',
    projectKey: 'shop',
    keyId: 'k1',
    level: 'read',
  } as const
  const environment = { ...project, kind: 'environment', environmentId: 'e1', environmentKey: 'dev' } as const
  for (const principal of [environment, { ...project, kind: 'project' } as const, null])
    watch.end(watch.begin(), null, 200, { requestId: 'r1', principal })
  expect(logged.map(request => request.environment)).toEqual(['e1', null, null])
})

test('the slow-request log truncates request ids', () => {
  const { watch, logged } = slowWatch()
  for (const length of [KEPT_REQUEST_ID_LENGTH_MAX, 15_000])
    watch.end(watch.begin(), null, 200, { requestId: 'i'.repeat(length), principal: null })
  const kept = 'i'.repeat(KEPT_REQUEST_ID_LENGTH_MAX)
  expect(logged.map(({ requestId }) => requestId)).toEqual([kept, kept])
})
