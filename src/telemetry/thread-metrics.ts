/**
 * Metrics that threads count, one row per metric. A row determines the cells in shared memory and the output
 * of `/metrics`. `npm run documents` creates a line in docs/monitoring.md and a graph in the dashboard from
 * each row. `scrape-metrics.ts` contains the metrics that the main thread samples when they are scraped.
 */

export type MetricKind = 'counter' | 'gauge' | 'histogram'

/** Properties of every metric. */
export interface MetricRow {
  readonly name: string
  readonly kind: MetricKind
  /**
   * Description in `/metrics` and docs/monitoring.md: a sentence without a capital letter at its beginning
   * and without a period.
   */
  readonly help: string
}

/**
 * Kinds of labels whose values are not known before a thread starts: the endpoints of the thread, the limits
 * that it counts, or its name.
 */
export type LateValues = 'endpoints' | 'limits' | 'thread'

export interface ThreadMetricRow extends MetricRow {
  /** Values of each label. If a metric has a label for endpoints, `/metrics` omits its values of zero. */
  readonly by?: Readonly<Record<string, readonly string[] | LateValues>>
  /** Upper bounds of the buckets in ascending order. Only for histograms. */
  readonly bounds?: readonly number[]
}

const LATENCY_BOUNDS_SECONDS = [
  25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
const DELAY_BOUNDS_SECONDS = [1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 5]
const COMMIT_BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const BATCH_BOUNDS = [1, 10, 100, 1_000, 10_000, 100_000]

/**
 * Purpose of an endpoint. `decisions`: decisions and lists of an environment. `management`: management API.
 * `other`: all other endpoints.
 */
export type EndpointKind = 'decisions' | 'management' | 'other'

/** Outcomes of requests. `aborted`: the connection ended before the response. */
export const OUTCOMES = ['answered', 'refused', 'failed', 'aborted'] as const
/**
 * Values of the label `status`. `aborted`: the connection ended before the response, so there is no status.
 * `other`: the status is not in this list.
 */
export const STATUSES = 'aborted 200 201 204 304 400 401 403 404 405 408 409 413 422 429 500 503 other'.split(
  ' ',
)

/** Threads whose pauses an HTTP thread reports. The main thread reports only its own. */
export const PAUSING = ['own', 'pool', 'body'] as const

export const THREAD_METRICS = {
  requestsInFlight: {
    name: 'verdict_http_requests_in_flight',
    kind: 'gauge',
    help: 'requests that are being received, processed or answered',
  },
  connections: { name: 'verdict_http_connections', kind: 'gauge', help: 'open connections' },
  requests: {
    name: 'verdict_http_requests_total',
    kind: 'counter',
    help: 'requests; `endpoint` is the operation in `/openapi.json` (`…Opa`: on `OPA_PORT`; `none`: no route), `status` can be `aborted` (the client disconnected)',
    by: { endpoint: 'endpoints', status: STATUSES },
  },
  requestSeconds: {
    name: 'verdict_http_request_duration_seconds',
    kind: 'histogram',
    help: 'time from the request headers to the response; `outcome` is `answered`, `refused` (4xx), `failed` (5xx) or `aborted`',
    by: { endpoint: 'endpoints', outcome: OUTCOMES },
    bounds: LATENCY_BOUNDS_SECONDS,
  },
  checks: {
    name: 'verdict_checks_total',
    kind: 'counter',
    help: 'checks; each check of a bulk or batch counts',
    by: { decision: ['allow', 'deny'] },
  },
  batchChecks: {
    name: 'verdict_batch_checks',
    kind: 'histogram',
    help: 'checks per bulk or batch',
    bounds: BATCH_BOUNDS,
  },
  plans: {
    name: 'verdict_plans_total',
    kind: 'counter',
    help: 'plans of `/allowed/plan`; `refused`: no filter is exact (422)',
    by: { kind: ['always_allowed', 'always_denied', 'conditional', 'refused'] },
  },
  planSeconds: {
    name: 'verdict_plan_duration_seconds',
    kind: 'histogram',
    help: 'time from the request of a plan to its result',
    bounds: LATENCY_BOUNDS_SECONDS,
  },
  limitReached: {
    name: 'verdict_limit_reached_total',
    kind: 'counter',
    help: 'requests and connections rejected at a limit (docs/limits.md)',
    by: { limit: 'limits' },
  },
  commits: {
    name: 'verdict_commits_total',
    kind: 'counter',
    help: 'commits: `done`, `failed`, or retried after a conflicting concurrent write (`conflict`)',
    by: { outcome: ['done', 'conflict', 'failed'] },
  },
  commitSeconds: {
    name: 'verdict_commit_duration_seconds',
    kind: 'histogram',
    help: 'time from sending a commit to the store until it was durable',
    bounds: COMMIT_BOUNDS_SECONDS,
  },
  decisionLogRecords: {
    name: 'verdict_decision_log_records_total',
    kind: 'counter',
    help: 'records of the decision log that were `written` or `dropped`',
    by: { result: ['written', 'dropped'] },
  },
  spans: {
    name: 'verdict_spans_total',
    kind: 'counter',
    help: 'spans: `sent`, `dropped` (the queue was full) or `failed` (rejected by the collector)',
    by: { result: ['sent', 'dropped', 'failed'] },
  },
  changeStreams: { name: 'verdict_change_streams', kind: 'gauge', help: 'open change streams' },
  changeEvents: {
    name: 'verdict_change_events_total',
    kind: 'counter',
    help: 'events sent to change-stream clients, counted per client',
  },
  changeBytes: {
    name: 'verdict_change_bytes_total',
    kind: 'counter',
    help: 'bytes sent to change-stream clients',
  },
  changeStreamEnds: {
    name: 'verdict_change_stream_ends_total',
    kind: 'counter',
    help: 'ended change streams: client disconnected (`left`), too slow (`slow`), key not valid (`key`), node stopping (`closing`)',
    by: { reason: ['left', 'slow', 'key', 'closing'] },
  },
  changeResets: {
    name: 'verdict_change_resets_total',
    kind: 'counter',
    help: 'change-stream clients that received a `reset` event',
  },
  loopDelaySeconds: {
    name: 'verdict_event_loop_delay_seconds',
    kind: 'histogram',
    help: 'delay with which a timer fires, measured ten times per second',
    by: { thread: 'thread' },
    bounds: DELAY_BOUNDS_SECONDS,
  },
  longestPauseSeconds: {
    name: 'verdict_longest_pause_seconds',
    kind: 'gauge',
    help: 'longest time in the last 10 to 20 s for which the thread itself (`own`), or a pool or body thread that works for it, processed no events',
    by: { of: PAUSING, thread: 'thread' },
  },
  poolJobs: {
    name: 'verdict_pool_jobs',
    kind: 'gauge',
    help: 'jobs of pool threads, waiting or running: large bulks, large bodies, searches, long lists, explanations',
  },
  poolThreads: {
    name: 'verdict_pool_threads',
    kind: 'gauge',
    help: 'running pool threads, including those that read large bodies',
  },
  poolBusySeconds: {
    name: 'verdict_pool_busy_seconds_total',
    kind: 'counter',
    help: 'busy time of all pool threads; their utilization is the rate divided by the number of pool threads',
  },
  heapBytes: {
    name: 'verdict_thread_heap_bytes',
    kind: 'gauge',
    help: 'JavaScript heap in use, without indexes',
    by: { thread: 'thread' },
  },
} as const satisfies Readonly<Record<string, ThreadMetricRow>>

type Rows = typeof THREAD_METRICS
export type ThreadMetricName = keyof Rows
export type HistogramName = {
  [Name in ThreadMetricName]: Rows[Name]['kind'] extends 'histogram' ? Name : never
}[ThreadMetricName]
/** Label values of a metric that has a single label with a fixed list of values. */
export type LabelOf<Name extends ThreadMetricName> = Rows[Name] extends { readonly by: infer By }
  ? By[keyof By] extends readonly (infer Value extends string)[]
    ? Value
    : never
  : never
