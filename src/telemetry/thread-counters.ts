/**
 * What one thread counts: cells in shared memory which that thread alone writes, and the main thread reads and adds up when
 * somebody asks for metrics. Counting is an addition to a number in an array: nothing is allocated, sent or locked.
 *
 * Cells are read while they are written: a sum may be one request ahead of its count, as in any scrape. Aligned numbers of
 * 64 bits are read and written whole on the machines this runs on.
 *
 *   │ few single cells │ limits │ batch sizes │ loop delays │ statuses × endpoint │ latencies × outcome × endpoint │
 *
 * Of histograms: a cell for each bound, one for what is beyond the last, and the sum.
 */

/** What another thread needs to read the counters: to be posted as it is, once all endpoints have their numbers. */
export interface ThreadCountersHandle {
  readonly cells: Float64Array
  /** By their numbers; the first stands for none. */
  readonly endpoints: string[]
  readonly endpointsMax: number
  readonly limits: readonly string[]
}

/** A metric in the form in which @prometheus-io/client adds up those of several registries. */
export interface CountedMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly aggregator: 'sum'
  readonly values: {
    readonly value: number
    readonly labels: Readonly<Record<string, string | number>>
    readonly metricName?: string
  }[]
}

const LATENCY_BOUNDS_SECONDS = [
  25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
const DELAY_BOUNDS_SECONDS = [1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 5]
const BATCH_BOUNDS = [1, 10, 100, 1_000, 10_000, 100_000]

/** By status: `aborted` are requests whose callers went away, or were sent away, before there was an answer. */
const OUTCOMES = ['answered', 'refused', 'failed', 'aborted'] as const
const STATUSES = [0, 200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503] as const
const STATUS_MAX = 599
/** Requests that no route was found for. */
const NO_ENDPOINT = 'none'

const IN_FLIGHT = 0
const CONNECTIONS = 1
const ALLOWED = 2
const DENIED = 3
const HEAP_BYTES = 4
const LOGGED = 5
const NOT_LOGGED = 6
const POOL_JOBS = 7
const POOL_THREADS = 8
const POOL_BUSY_SECONDS = 9
const SINGLE_CELLS = 10

const LATENCY_CELLS = LATENCY_BOUNDS_SECONDS.length + 2
const DELAY_CELLS = DELAY_BOUNDS_SECONDS.length + 2
const BATCH_CELLS = BATCH_BOUNDS.length + 2
/** One more, for the statuses that are not in the table. */
const STATUS_CELLS = STATUSES.length + 1

/** The cell of a status within those of an endpoint. */
const CELL_OF_STATUS = new Uint8Array(STATUS_MAX + 1).fill(STATUSES.length)
for (const [index, status] of STATUSES.entries()) CELL_OF_STATUS[status] = index

/** Questions of a bulk or a batch; of those in bytes some may be nobody's, which are no decisions (`packed-queries.ts`). */
type AskedAtOnce = readonly unknown[] | { readonly nobodysCount: number }

export class ThreadCounters {
  readonly handle: ThreadCountersHandle
  readonly #cells: Float64Array
  readonly #limitsAt = SINGLE_CELLS
  readonly #batchesAt: number
  readonly #delaysAt: number
  readonly #statusesAt: number
  readonly #latenciesAt: number

  /** Counters at zero, for the limits of these names and at most so many endpoints. */
  static create(limits: readonly string[], endpointsMax: number): ThreadCounters {
    const perEndpoint = STATUS_CELLS + OUTCOMES.length * LATENCY_CELLS
    const fixed = SINGLE_CELLS + limits.length + BATCH_CELLS + DELAY_CELLS
    const count = fixed + (1 + endpointsMax) * perEndpoint
    const cells = new Float64Array(new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT))
    return new ThreadCounters({ cells, endpoints: [NO_ENDPOINT], limits, endpointsMax })
  }

  /** The counters that another thread keeps, to be read. */
  constructor(handle: ThreadCountersHandle) {
    this.handle = handle
    this.#cells = handle.cells
    this.#batchesAt = this.#limitsAt + handle.limits.length
    this.#delaysAt = this.#batchesAt + BATCH_CELLS
    this.#statusesAt = this.#delaysAt + DELAY_CELLS
    this.#latenciesAt = this.#statusesAt + (1 + handle.endpointsMax) * STATUS_CELLS
  }

  /** The number under which an endpoint is counted, a new one if need be; that of none for null, and when all are taken. */
  endpoint(operationId: string | null): number {
    const { endpoints, endpointsMax } = this.handle
    if (operationId === null) return 0
    const known = endpoints.indexOf(operationId)
    if (known > 0) return known
    return endpoints.length > endpointsMax ? 0 : endpoints.push(operationId) - 1
  }

  began(): void {
    this.#cells[IN_FLIGHT]! += 1
  }

  /** `status` 0: nobody was there any more to be answered. */
  ended(endpoint: number, status: number, elapsedMs: number): void {
    const cells = this.#cells
    cells[IN_FLIGHT]! -= 1
    cells[this.#statusesAt + endpoint * STATUS_CELLS + CELL_OF_STATUS[status]!]! += 1
    const outcome = status === 0 ? 3 : status < 400 ? 0 : status < 500 ? 1 : 2
    const row = this.#latenciesAt + (endpoint * OUTCOMES.length + outcome) * LATENCY_CELLS
    this.#observe(row, LATENCY_BOUNDS_SECONDS, elapsedMs / 1_000)
  }

  /** A connection came (1) or went (-1). */
  connected(change: 1 | -1): void {
    this.#cells[CONNECTIONS]! += change
  }

  limitReached(limit: string): void {
    const index = this.handle.limits.indexOf(limit)
    if (index >= 0) this.#cells[this.#limitsAt + index]! += 1
  }

  decided(isAllowed: boolean): void {
    this.#cells[isAllowed ? ALLOWED : DENIED]! += 1
  }

  /** O(decisions). */
  decidedAll(decisions: ArrayLike<boolean | number>, _environmentId: string, asked: AskedAtOnce): void {
    this.#decidedAll(decisions, 'nobodysCount' in asked ? asked.nobodysCount : 0)
  }

  /** Of questions, or one, that are decided later: who counts the decisions then. */
  asked(
    _environmentId: string,
    asked: AskedAtOnce | { readonly user: string },
  ): (decisions: ArrayLike<boolean | number>) => void {
    if ('user' in asked) return decisions => this.decided(Boolean(decisions[0]))
    const nobodysCount = 'nobodysCount' in asked ? asked.nobodysCount : 0
    return decisions => this.#decidedAll(decisions, nobodysCount)
  }

  #decidedAll(decisions: ArrayLike<boolean | number>, nobodysCount: number): void {
    let allowed = 0
    for (let i = 0; i < decisions.length; i++) if (decisions[i]) allowed += 1
    const count = decisions.length - nobodysCount
    this.#cells[ALLOWED]! += allowed
    this.#cells[DENIED]! += count - allowed
    if (count > 0) this.#observe(this.#batchesAt, BATCH_BOUNDS, count)
  }

  loopDelayed(delayMs: number): void {
    this.#observe(this.#delaysAt, DELAY_BOUNDS_SECONDS, delayMs / 1_000)
  }

  heapUsed(bytes: number): void {
    this.#cells[HEAP_BYTES] = bytes
  }

  /** Records of the decision log: how many went there, how many found no room. */
  logged(written: number, dropped: number): void {
    this.#cells[LOGGED]! += written
    this.#cells[NOT_LOGGED]! += dropped
  }

  /** The pool beside the thread, as it is now. */
  pool(figures: { readonly jobs: number; readonly threads: number; readonly busySeconds: number }): void {
    this.#cells[POOL_JOBS] = figures.jobs
    this.#cells[POOL_THREADS] = figures.threads
    this.#cells[POOL_BUSY_SECONDS] = figures.busySeconds
  }

  #observe(row: number, bounds: readonly number[], value: number): void {
    const cells = this.#cells
    let at = 0
    while (at < bounds.length && value > bounds[at]!) at += 1
    cells[row + at]! += 1
    cells[row + bounds.length + 1]! += value
  }

  /** What has been counted so far; endpoints that nobody has called are left out. */
  metrics(thread: string): CountedMetric[] {
    const cells = this.#cells
    return [
      gauge('verdict_http_requests_in_flight', 'Requests that are being received, decided or answered.', [
        { value: cells[IN_FLIGHT]!, labels: {} },
      ]),
      gauge('verdict_http_connections', 'Open connections.', [{ value: cells[CONNECTIONS]!, labels: {} }]),
      counter('verdict_http_requests_total', 'Requests, by endpoint and status.', this.#requests()),
      {
        ...histogram('verdict_http_request_duration_seconds', LATENCY_HELP),
        values: this.#latencies(),
      },
      counter('verdict_checks_total', 'Checks, by decision; those of bulks one by one.', [
        { value: cells[ALLOWED]!, labels: { decision: 'allow' } },
        { value: cells[DENIED]!, labels: { decision: 'deny' } },
      ]),
      {
        ...histogram('verdict_batch_checks', 'Checks in a bulk or a batch.'),
        values: this.#histogram('verdict_batch_checks', BATCH_BOUNDS, this.#batchesAt, {}),
      },
      counter(
        'verdict_limit_reached_total',
        'Requests and connections turned away at a limit.',
        this.handle.limits.map((limit, index) => ({
          value: cells[this.#limitsAt + index]!,
          labels: { limit },
        })),
      ),
      counter('verdict_decision_log_records_total', 'Records of the decision log, by what became of them.', [
        { value: cells[LOGGED]!, labels: { result: 'written' } },
        { value: cells[NOT_LOGGED]!, labels: { result: 'dropped' } },
      ]),
      {
        ...histogram(
          'verdict_event_loop_delay_seconds',
          'How late a timer was that is due ten times a second.',
        ),
        values: this.#histogram('verdict_event_loop_delay_seconds', DELAY_BOUNDS_SECONDS, this.#delaysAt, {
          thread,
        }),
      },
      gauge('verdict_pool_jobs', 'Large bulks and searches that wait or are under way.', [
        { value: cells[POOL_JOBS]!, labels: {} },
      ]),
      gauge('verdict_pool_threads', 'Threads of the pools that have started.', [
        { value: cells[POOL_THREADS]!, labels: {} },
      ]),
      counter('verdict_pool_busy_seconds_total', 'Time the threads of the pools have worked, all together.', [
        { value: cells[POOL_BUSY_SECONDS]!, labels: {} },
      ]),
      gauge('verdict_thread_heap_bytes', 'JavaScript heap in use, by thread; the indexes are not in it.', [
        { value: cells[HEAP_BYTES]!, labels: { thread } },
      ]),
    ]
  }

  #requests(): CountedMetric['values'] {
    const values: CountedMetric['values'] = []
    for (const [index, endpoint] of this.handle.endpoints.entries()) {
      for (let at = 0; at < STATUS_CELLS; at++) {
        const value = this.#cells[this.#statusesAt + index * STATUS_CELLS + at]!
        const status = at === 0 ? 'aborted' : (STATUSES[at] ?? 'other')
        if (value > 0) values.push({ value, labels: { endpoint, status: String(status) } })
      }
    }
    return values
  }

  #latencies(): CountedMetric['values'] {
    const name = 'verdict_http_request_duration_seconds'
    return this.handle.endpoints.flatMap((endpoint, index) =>
      OUTCOMES.flatMap((outcome, at) => {
        const row = this.#latenciesAt + (index * OUTCOMES.length + at) * LATENCY_CELLS
        const isAny = this.#cells.subarray(row, row + LATENCY_CELLS - 1).some(count => count > 0)
        return isAny ? this.#histogram(name, LATENCY_BOUNDS_SECONDS, row, { endpoint, outcome }) : []
      }),
    )
  }

  #histogram(
    name: string,
    bounds: readonly number[],
    row: number,
    labels: Readonly<Record<string, string>>,
  ): CountedMetric['values'] {
    let count = 0
    const buckets = [...bounds, '+Inf'].map((le, at) => {
      count += this.#cells[row + at]!
      return { metricName: `${name}_bucket`, value: count, labels: { le, ...labels } }
    })
    const sum = this.#cells[row + bounds.length + 1]!
    return [
      ...buckets,
      { metricName: `${name}_sum`, value: sum, labels },
      { metricName: `${name}_count`, value: count, labels },
    ]
  }
}

const LATENCY_HELP =
  'From the head of a request until its answer was handed to the socket, by endpoint and outcome.'

function counter(name: string, help: string, values: CountedMetric['values']): CountedMetric {
  return { name, help, type: 'counter', aggregator: 'sum', values }
}

function gauge(name: string, help: string, values: CountedMetric['values']): CountedMetric {
  return { name, help, type: 'gauge', aggregator: 'sum', values }
}

function histogram(name: string, help: string): Omit<CountedMetric, 'values'> {
  return { name, help, type: 'histogram', aggregator: 'sum' }
}
