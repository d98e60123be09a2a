/** Counters of a thread: each value is reported under its own name and labels. */
import { expect, test } from 'vitest'
import { THREAD_METRICS, type ThreadMetricName, type HistogramName } from '#telemetry/thread-metrics.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'

const NAMES = Object.keys(THREAD_METRICS) as ThreadMetricName[]
const LIMITS = ['body', 'rate', 'pool']

function counters() {
  const counted = ThreadCounters.create(LIMITS, 4)
  const endpoints = ['isAllowed', 'createUser'].map(name => counted.endpoint(name, 'other'))
  return { counted, endpoints, told: () => new ThreadCounters(counted.handle).metrics('http-1') }
}

/** Values that are not zero, with their labels. */
function counts(told: ReturnType<ThreadCounters['metrics']>) {
  return told.flatMap(({ name, values }) =>
    values.filter(({ value }) => value !== 0).map(({ value, labels }) => ({ name, value, ...labels })),
  )
}

test.each(NAMES)('the metric %s has its own cells', name => {
  const { counted, told } = counters()
  if (THREAD_METRICS[name].kind === 'histogram') counted.observe(name as HistogramName, 1)
  else counted.add(name, 1)
  const found = counts(told())
  expect(found.length).toBeGreaterThan(0)
  expect(new Set(found.map(count => count.name))).toEqual(new Set([THREAD_METRICS[name].name]))
})

test('each combination of labels has its own cells, including the first and last cell of a metric', () => {
  const { counted, endpoints, told } = counters()
  counted.add('commits', 2, 'failed')
  counted.add('decisionLogRecords', 3, 'written')
  counted.set('heapBytes', 4)
  counted.limitReached('pool')
  for (const endpoint of endpoints) {
    counted.began()
    counted.ended(endpoint, 200 + endpoint, 1)
  }
  counted.ended(0, 0, 1)
  const found = counts(told()).filter(({ name }) => !name.includes('duration'))
  expect(found).toEqual(
    expect.arrayContaining([
      { name: 'verdict_commits_total', value: 2, outcome: 'failed' },
      { name: 'verdict_decision_log_records_total', value: 3, result: 'written' },
      { name: 'verdict_thread_heap_bytes', value: 4, thread: 'http-1' },
      { name: 'verdict_limit_reached_total', value: 1, limit: 'pool' },
      { name: 'verdict_http_requests_total', value: 1, endpoint: 'none', status: 'aborted' },
      { name: 'verdict_http_requests_total', value: 1, endpoint: 'isAllowed', status: '201' },
      { name: 'verdict_http_requests_total', value: 1, endpoint: 'createUser', status: 'other' },
    ]),
  )
  // Two requests began, three ended.
  expect(found.filter(({ name }) => name === 'verdict_http_requests_in_flight')).toEqual([
    { name: 'verdict_http_requests_in_flight', value: -1 },
  ])
  expect(found).toHaveLength(8)
})

test('requests to endpoints above the limit are counted without an endpoint', () => {
  const { counted } = counters()
  const more = ['a', 'b', 'c', 'd'].map(name => counted.endpoint(name, 'other'))
  expect(more).toEqual([3, 4, 0, 0])
})
