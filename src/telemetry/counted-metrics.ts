/**
 * What threads count: one row a metric. From a row follow its cells in shared memory, what `/metrics` says, and by
 * `npm run documents` its line in docs/operations.md and a graph in the dashboard. What the main thread looks up at a scrape has its rows
 * in `sampled-metrics.ts`.
 */

export type MetricKind = 'counter' | 'gauge' | 'histogram'

/** What every metric says of itself. */
export interface MetricRow {
  readonly name: string
  readonly kind: MetricKind
  /** As `/metrics` and docs/operations.md say it: a sentence without capital and dot. */
  readonly help: string
}

/** Values of a label that are known only when a thread starts: its endpoints, the limits it counts, its own name. */
export type LateValues = 'endpoints' | 'limits' | 'thread'

export interface CountedRow extends MetricRow {
  /** The values of each label. Of a metric by endpoint, what is zero is left out of the answer. */
  readonly by?: Readonly<Record<string, readonly string[] | LateValues>>
  /** Of a histogram, and of nothing else: the upper bounds of its buckets, ascending. */
  readonly bounds?: readonly number[]
}

const LATENCY_BOUNDS_SECONDS = [
  25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
const DELAY_BOUNDS_SECONDS = [1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 5]
const COMMIT_BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const BATCH_BOUNDS = [1, 10, 100, 1_000, 10_000, 100_000]

/** What endpoints are for: those that an environment's key asks for decisions and lists, those that manage, and the rest. */
export type EndpointKind = 'decisions' | 'management' | 'other'

/** By status: `aborted` are requests whose callers went away, or were sent away, before there was an answer. */
export const OUTCOMES = ['answered', 'refused', 'failed', 'aborted'] as const
/** `aborted` stands for no status, `other` for those that are not in the list. */
export const STATUSES = 'aborted 200 201 204 304 400 401 403 404 405 408 409 413 422 429 500 503 other'.split(
  ' ',
)

export const COUNTED_METRICS = {
  requestsInFlight: {
    name: 'verdict_http_requests_in_flight',
    kind: 'gauge',
    help: 'requests being received, decided or answered',
  },
  connections: { name: 'verdict_http_connections', kind: 'gauge', help: 'open connections' },
  requests: {
    name: 'verdict_http_requests_total',
    kind: 'counter',
    help: 'requests; the endpoint as in `/openapi.json`, `isAllowedOpa` and others that end in `Opa` on `OPA_PORT`, `none` without a route; status `aborted`: the caller was gone first',
    by: { endpoint: 'endpoints', status: STATUSES },
  },
  requestSeconds: {
    name: 'verdict_http_request_duration_seconds',
    kind: 'histogram',
    help: 'from the head of a request until its answer was handed to the socket; outcome `answered`, `refused` (4xx), `failed` (5xx), `aborted`',
    by: { endpoint: 'endpoints', outcome: OUTCOMES },
    bounds: LATENCY_BOUNDS_SECONDS,
  },
  checks: {
    name: 'verdict_checks_total',
    kind: 'counter',
    help: 'checks, those of bulks and batches one by one',
    by: { decision: ['allow', 'deny'] },
  },
  batchChecks: {
    name: 'verdict_batch_checks',
    kind: 'histogram',
    help: 'checks in a bulk or a batch',
    bounds: BATCH_BOUNDS,
  },
  limitReached: {
    name: 'verdict_limit_reached_total',
    kind: 'counter',
    help: 'requests and connections turned away at a limit, see below',
    by: { limit: 'limits' },
  },
  commits: {
    name: 'verdict_commits_total',
    kind: 'counter',
    help: 'commits: `done`, lost to another writer and tried again (`conflict`), `failed`',
    by: { outcome: ['done', 'conflict', 'failed'] },
  },
  commitSeconds: {
    name: 'verdict_commit_duration_seconds',
    kind: 'histogram',
    help: 'from sending a commit to the store until it was durable',
    bounds: COMMIT_BOUNDS_SECONDS,
  },
  decisionLogRecords: {
    name: 'verdict_decision_log_records_total',
    kind: 'counter',
    help: 'records of the decision log, by what became of them: `written` or `dropped`',
    by: { result: ['written', 'dropped'] },
  },
  spans: {
    name: 'verdict_spans_total',
    kind: 'counter',
    help: 'spans of traced requests, by what became of them: `sent`, `dropped` (the queue was full), `failed` (the collector did not take them)',
    by: { result: ['sent', 'dropped', 'failed'] },
  },
  changeStreams: { name: 'verdict_change_streams', kind: 'gauge', help: 'open streams of changes' },
  changeEvents: {
    name: 'verdict_change_events_total',
    kind: 'counter',
    help: 'events sent to readers of changes, each as often as it was sent',
  },
  changeBytes: {
    name: 'verdict_change_bytes_total',
    kind: 'counter',
    help: 'bytes sent to readers of changes',
  },
  changeStreamEnds: {
    name: 'verdict_change_stream_ends_total',
    kind: 'counter',
    help: 'streams of changes that have ended: the reader left (`left`), did not keep up (`slow`), had a key that is not valid any more (`key`), or was sent elsewhere (`closing`)',
    by: { reason: ['left', 'slow', 'key', 'closing'] },
  },
  changeResets: {
    name: 'verdict_change_resets_total',
    kind: 'counter',
    help: 'readers of changes that were told to load everything anew',
  },
  loopDelaySeconds: {
    name: 'verdict_event_loop_delay_seconds',
    kind: 'histogram',
    help: 'how late a timer was that is due ten times a second',
    by: { thread: 'thread' },
    bounds: DELAY_BOUNDS_SECONDS,
  },
  poolJobs: {
    name: 'verdict_pool_jobs',
    kind: 'gauge',
    help: 'large bulks and bodies, searches, long lists and explanations that wait or are under way',
  },
  poolThreads: {
    name: 'verdict_pool_threads',
    kind: 'gauge',
    help: 'threads of the pools that have started, those that read large bodies included',
  },
  poolBusySeconds: {
    name: 'verdict_pool_busy_seconds_total',
    kind: 'counter',
    help: 'time the threads of the pools have worked, all together: its rate by their number is their utilisation',
  },
  heapBytes: {
    name: 'verdict_thread_heap_bytes',
    kind: 'gauge',
    help: 'JavaScript heap in use; indexes are not in it',
    by: { thread: 'thread' },
  },
} as const satisfies Readonly<Record<string, CountedRow>>

type Rows = typeof COUNTED_METRICS
export type CountedName = keyof Rows
export type HistogramName = {
  [Name in CountedName]: Rows[Name]['kind'] extends 'histogram' ? Name : never
}[CountedName]
/** The label of a metric that has one with few values. */
export type LabelOf<Name extends CountedName> = Rows[Name] extends { readonly by: infer By }
  ? By[keyof By] extends readonly (infer Value extends string)[]
    ? Value
    : never
  : never
