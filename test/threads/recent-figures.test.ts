/** Figures of the last minutes, summed over the counters of all threads. */
import { expect, test } from 'vitest'
import { FiguresRecorder } from '#telemetry/recent-figures.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'

const FIVE_SECONDS = 5_000
const MINUTE = 60_000

/** Counters of the main thread and of `httpThreads` HTTP threads, a clock, and figures of all counters. */
function figures(httpThreads = 2) {
  const clock = { elapsedMs: 1_000, stalenessMs: 0 }
  const main = ThreadCounters.create([], 0)
  const http = Array.from({ length: httpThreads }, () => {
    const counters = ThreadCounters.create([], 8)
    return {
      counters,
      decision: counters.endpoint('isAllowed', 'decisions'),
      management: counters.endpoint('createUser', 'management'),
      other: counters.endpoint('healthy', 'other'),
    }
  })
  const threads = [
    ['main', main] as const,
    // The main thread reads the counters through handles.
    ...http.map(({ counters }, index) => [`http-${index + 1}`, new ThreadCounters(counters.handle)] as const),
  ]
  const recent = new FiguresRecorder({
    threads: () => threads,
    stalenessMs: () => clock.stalenessMs,
    now: () => Date.UTC(2026, 0, 1) + clock.elapsedMs,
    elapsedMs: () => clock.elapsedMs,
  })
  const take = (afterMs = FIVE_SECONDS) => {
    clock.elapsedMs += afterMs
    recent.take()
    return recent.samples().at(-1)!
  }
  return { clock, main, http, recent, take }
}

type Counted = ReturnType<typeof figures>['http'][number]

function ended(thread: Counted, endpoint: number, status: number, times: number, ms = 1): void {
  for (let time = 0; time < times; time += 1) {
    thread.counters.began()
    thread.counters.ended(endpoint, status, ms)
  }
}

test('requests of all threads are reported per second by type', () => {
  const { http, take } = figures()
  const [one, two] = http as [Counted, Counted]
  ended(one, one.decision, 200, 50)
  ended(two, two.decision, 200, 25)
  ended(two, two.management, 200, 10)
  ended(one, one.other, 200, 5)
  ended(one, 0, 404, 5)
  ended(one, one.decision, 401, 5)
  ended(two, two.management, 503, 20)
  // A request without a response is counted, but not as refused or failed.
  ended(two, two.decision, 0, 5)
  expect(take()).toMatchObject({
    requests_per_second: { decisions: 17, management: 6, other: 2 },
    refused_per_second: 2,
    failed_per_second: 4,
  })
})

test('the rates of a sample are computed over its actual interval, even if it is late', () => {
  const { http, take } = figures(1)
  const [one] = http as [Counted]
  ended(one, one.decision, 200, 10)
  expect(take().requests_per_second?.decisions).toBe(2)
  expect(take().requests_per_second?.decisions).toBe(0)
  // The sample is late because the main thread was busy.
  ended(one, one.decision, 200, 10)
  expect(take(20_000).requests_per_second?.decisions).toBe(0.5)
  expect(take(0).requests_per_second?.decisions).toBe(0)
})

test('checks and commits are reported per second, and open connections and requests as they are', () => {
  const { main, http, take, clock } = figures()
  const [one, two] = http as [Counted, Counted]
  one.counters.decided(Uint8Array.of(1, 1, 0), { isSingle: false, nonUserCount: 0 })
  two.counters.decided(Uint8Array.of(1), { isSingle: true, nonUserCount: 0 })
  two.counters.decided(Uint8Array.of(0), { isSingle: true, nonUserCount: 0 })
  main.add('commits', 10, 'done')
  main.add('commits', 5, 'failed')
  one.counters.connected(1)
  two.counters.connected(1)
  two.counters.began()
  clock.stalenessMs = 1_234.5
  expect(take(1_000)).toMatchObject({
    checks_per_second: { allow: 3, deny: 2 },
    commits_per_second: 10,
    connections: 2,
    in_flight: 1,
    stale_ms: 1_235,
  })
})

test('latency covers answered decisions, and is estimated as in Prometheus', () => {
  const { http, take } = figures()
  const [one, two] = http as [Counted, Counted]
  expect(take().latency_ms).toBe(null)
  // These latencies are between 0.5 and 1 ms, and between 5 and 10 ms.
  ended(one, one.decision, 200, 60, 0.6)
  ended(two, two.decision, 200, 40, 7)
  ended(one, one.management, 200, 1_000, 50)
  ended(one, one.decision, 503, 1_000, 50)
  // Rank 50 of 60 is in the first bucket, and rank 99 - 60 = 39 of 40 is in the second.
  expect(take().latency_ms).toEqual({ p50: 0.917, p99: 9.875 })
  // Above the last bound, the estimate is the last bound.
  ended(one, one.decision, 200, 1, 60_000)
  expect(take().latency_ms).toEqual({ p50: 10_000, p99: 10_000 })
})

test('the largest event-loop delay of all HTTP threads is reported next to that of the main thread', () => {
  const { main, http, take } = figures()
  const [one, two] = http as [Counted, Counted]
  main.observe('loopDelaySeconds', 0.0005)
  one.counters.observe('loopDelaySeconds', 0.0005)
  two.counters.observe('loopDelaySeconds', 0.2)
  expect(take().loop_delay_p99_ms).toEqual({ main: 0.99, http: 248.5 })
})

test('samples cover the last fifteen minutes', () => {
  const { recent, take, clock } = figures()
  for (let sample = 0; sample < 200; sample += 1) take()
  expect(recent.samples()).toHaveLength(180)
  const moments = recent.samples().map(({ at }) => at)
  expect(moments).toEqual(moments.toSorted((left, right) => left - right))
  // The process was paused.
  clock.elapsedMs += 10 * MINUTE
  expect(recent.samples()).toHaveLength(61)
})

test('figures of threads without counters are reported as null', () => {
  const { main, take } = figures(0)
  main.add('commits', 5, 'done')
  expect(take()).toEqual({
    at: expect.any(Number),
    requests_per_second: null,
    refused_per_second: null,
    failed_per_second: null,
    checks_per_second: null,
    latency_ms: null,
    commits_per_second: 1,
    loop_delay_p99_ms: { main: 0, http: null },
    in_flight: null,
    connections: null,
    stale_ms: 0,
  })
})
