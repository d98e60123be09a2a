/**
 * Counters of one thread in shared memory. Only this thread writes the cells. When metrics are requested, the
 * main thread reads and sums the cells of all threads. To count means to add to an array element: this does
 * not allocate memory, send messages or lock.
 *
 * The main thread reads cells while other threads write them. For example, the sum of a histogram can include
 * one request more than its count. Scrapes of any service have this inaccuracy. Aligned 64-bit numbers are
 * read and written atomically on all supported platforms.
 *
 * The cells are in the order of the metrics in `thread-metrics.ts`. Metrics whose number of cells is known
 * only at runtime are last. A metric has cells for each combination of its label values. A counter or a gauge
 * has one cell. A histogram has one cell per bound, one for values above the last bound, and one for the sum.
 */
import {
  THREAD_METRICS,
  type ThreadMetricName,
  type ThreadMetricRow,
  type EndpointKind,
  type HistogramName,
  type LabelOf,
  type LateValues,
  type MetricKind,
  OUTCOMES,
  STATUSES,
} from './thread-metrics.ts'

/**
 * Data with which another thread can read the counters. Send it to that thread after all endpoints are
 * registered.
 */
export interface ThreadCountersHandle {
  readonly cells: Float64Array
  /** Operation ID of each endpoint, by its number. Number 0 represents requests without a route. */
  readonly endpoints: string[]
  /** Purpose of each endpoint, by its number. */
  readonly endpointKinds: EndpointKind[]
  readonly endpointsMax: number
  readonly limits: readonly string[]
}

/** A metric in the form in which @prometheus-io/client sums the metrics of several registries. */
export interface CountedMetric {
  readonly name: string
  readonly help: string
  readonly type: MetricKind
  readonly aggregator: 'sum'
  readonly values: {
    readonly value: number
    readonly labels: Readonly<Record<string, string | number>>
    readonly metricName?: string
  }[]
}

type RequestOutcome = (typeof OUTCOMES)[number]

/** Counts of completed requests, summed over several threads. */
export interface RequestSums {
  readonly ended: Readonly<Record<EndpointKind, Record<RequestOutcome, number>>>
  /** Number of decisions with a successful response in each bucket of the latency metric. */
  readonly latencies: number[]
}

export function noRequests(): RequestSums {
  const none = (): Record<RequestOutcome, number> => ({ answered: 0, refused: 0, failed: 0, aborted: 0 })
  return {
    ended: { decisions: none(), management: none(), other: none() },
    latencies: Array<number>(LATENCY_BOUNDS.length + 1).fill(0),
  }
}

const STATUS_MAX = 599
/** Label value for requests that match no route. */
const NO_ENDPOINT = 'none'

/** Offset of each status within the cells of an endpoint. */
const PLACE_OF_STATUS = new Uint8Array(STATUS_MAX + 1).fill(STATUSES.indexOf('other'))
PLACE_OF_STATUS[0] = STATUSES.indexOf('aborted')
for (const [place, status] of STATUSES.entries()) {
  if (Number(status) > 0) PLACE_OF_STATUS[Number(status)] = place
}

const ROWS = Object.entries(THREAD_METRICS) as readonly (readonly [ThreadMetricName, ThreadMetricRow])[]

function isSizedLate({ by = {} }: ThreadMetricRow): boolean {
  return Object.values(by).some(values => values === 'endpoints' || values === 'limits')
}

/** Returns the offset of a label value within the cells of a metric that has a single label. */
function placeOf(name: ThreadMetricName, label: string): number {
  const { by }: ThreadMetricRow = THREAD_METRICS[name]
  const [values] = Object.values(by ?? {})
  return (values as readonly string[]).indexOf(label)
}

/** Returns the number of cells per combination of label values. */
function cellsOf({ bounds }: ThreadMetricRow): number {
  return bounds ? bounds.length + 2 : 1
}

/** Returns the offset of the first cell of each metric, and the total number of cells. */
function layoutOf(limitCount: number, endpointsMax: number) {
  const sizes: Readonly<Record<LateValues, number>> = {
    endpoints: 1 + endpointsMax,
    limits: limitCount,
    thread: 1,
  }
  const at: Partial<Record<ThreadMetricName, number>> = {}
  let count = 0
  const isLate = ([, row]: (typeof ROWS)[number]) => isSizedLate(row)
  for (const [name, row] of [...ROWS.filter(each => !isLate(each)), ...ROWS.filter(isLate)]) {
    at[name] = count
    const labels = Object.values(row.by ?? {})
    count += labels.reduce(
      (cells, values) => cells * (typeof values === 'string' ? sizes[values] : values.length),
      cellsOf(row),
    )
  }
  return { at: at as Readonly<Record<ThreadMetricName, number>>, count }
}

/**
 * Offsets of the metrics that change with every request or decision. These metrics are stored first, so their
 * offsets are the same in all threads.
 */
const { requestsInFlight: IN_FLIGHT, checks: ALLOWED } = layoutOf(0, 0).at
const DENIED = ALLOWED + 1
const LATENCY_BOUNDS = THREAD_METRICS.requestSeconds.bounds
const LATENCY_CELLS = cellsOf(THREAD_METRICS.requestSeconds)
const STATUS_CELLS = STATUSES.length

export class ThreadCounters {
  /** See `DecisionObserver`: decisions are counted without their checks. */
  readonly readsChecks = false
  readonly handle: ThreadCountersHandle
  readonly #cells: Float64Array
  readonly #at: Readonly<Record<ThreadMetricName, number>>
  readonly #requestsAt: number
  readonly #requestSecondsAt: number

  /**
   * Creates counters with the value 0. `limits`: names of the counted limits. `endpointsMax`: maximum number
   * of endpoints.
   */
  static create(limits: readonly string[], endpointsMax: number): ThreadCounters {
    const { count } = layoutOf(limits.length, endpointsMax)
    const cells = new Float64Array(new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT))
    return new ThreadCounters({
      cells,
      endpoints: [NO_ENDPOINT],
      endpointKinds: ['other'],
      limits,
      endpointsMax,
    })
  }

  /** Wraps the counters of another thread in order to read them. */
  constructor(handle: ThreadCountersHandle) {
    this.handle = handle
    this.#cells = handle.cells
    this.#at = layoutOf(handle.limits.length, handle.endpointsMax).at
    this.#requestsAt = this.#at.requests
    this.#requestSecondsAt = this.#at.requestSeconds
  }

  /** Adds to a counter. If the metric has a label, adds to the cell for `label`. */
  add<Name extends ThreadMetricName>(name: Name, by: number, label?: LabelOf<Name>): void {
    this.#cells[this.#at[name] + (label === undefined ? 0 : placeOf(name, label))]! += by
  }

  /** Sets a gauge. Also used for a counter whose value is counted by another component. */
  set(name: ThreadMetricName, value: number, place = 0): void {
    this.#cells[this.#at[name] + place] = value
  }

  /** Adds a value to a histogram. */
  observe(name: HistogramName, value: number): void {
    this.#observe(this.#at[name], THREAD_METRICS[name].bounds, value)
  }

  /**
   * Returns the number under which an endpoint is counted. An unknown operation ID is registered. Returns 0
   * for null, or if all numbers are in use.
   */
  endpoint(operationId: string | null, kind: EndpointKind): number {
    const { endpoints, endpointKinds, endpointsMax } = this.handle
    if (operationId === null) return 0
    const known = endpoints.indexOf(operationId)
    if (known > 0) return known
    if (endpoints.length > endpointsMax) return 0
    endpointKinds.push(kind)
    return endpoints.push(operationId) - 1
  }

  began(): void {
    this.#cells[IN_FLIGHT]! += 1
  }

  /** Counts a completed request. `status` is 0 if the client disconnected before the response. */
  ended(endpoint: number, status: number, elapsedMs: number): void {
    const cells = this.#cells
    cells[IN_FLIGHT]! -= 1
    cells[this.#requestsAt + endpoint * STATUS_CELLS + PLACE_OF_STATUS[status]!]! += 1
    const outcome = status === 0 ? 3 : status < 400 ? 0 : status < 500 ? 1 : 2
    const row = this.#requestSecondsAt + (endpoint * OUTCOMES.length + outcome) * LATENCY_CELLS
    this.#observe(row, LATENCY_BOUNDS, elapsedMs / 1_000)
  }

  /** Counts a connection that was opened (1) or closed (-1). */
  connected(change: 1 | -1): void {
    this.add('connections', change)
  }

  limitReached(limit: string): void {
    const index = this.handle.limits.indexOf(limit)
    if (index >= 0) this.#cells[this.#at.limitReached + index]! += 1
  }

  /** Counts the decisions on a question. O(decisions). */
  decided(verdicts: Uint8Array, asked: { readonly isSingle: boolean; readonly nonUserCount: number }): void {
    if (asked.isSingle) {
      this.#cells[verdicts[0] === 1 ? ALLOWED : DENIED]! += 1
      return
    }
    let allowed = 0
    for (let i = 0; i < verdicts.length; i++) allowed += verdicts[i]!
    const count = verdicts.length - asked.nonUserCount
    this.#cells[ALLOWED]! += allowed
    this.#cells[DENIED]! += count - allowed
    if (count > 0) this.observe('batchChecks', count)
  }

  planned({ kind, seconds }: { readonly kind: LabelOf<'plans'>; readonly seconds: number }): void {
    this.add('plans', 1, kind)
    this.observe('planSeconds', seconds)
  }

  #observe(row: number, bounds: readonly number[], value: number): void {
    const cells = this.#cells
    let at = 0
    while (at < bounds.length && value > bounds[at]!) at += 1
    cells[row + at]! += 1
    cells[row + bounds.length + 1]! += value
  }

  /**
   * Returns the current value of a counter or a gauge. If the metric has a label, returns the value of the
   * cell for `label`.
   */
  read<Name extends ThreadMetricName>(name: Name, label?: LabelOf<Name>): number {
    return this.#cells[this.#at[name] + (label === undefined ? 0 : placeOf(name, label))]!
  }

  /** Returns the number of event-loop delays in each bucket of the delay metric. */
  loopDelays(): number[] {
    const from = this.#at.loopDelaySeconds
    const { length } = THREAD_METRICS.loopDelaySeconds.bounds
    return Array.from(this.#cells.subarray(from, from + length + 1))
  }

  /**
   * Adds two things to the sums: the numbers of requests by kind and outcome, and the latencies of successful
   * decisions. O(endpoints).
   */
  addRequestsTo({ ended, latencies }: RequestSums): void {
    const cells = this.#cells
    let from = this.#requestSecondsAt
    for (const kind of this.handle.endpointKinds) {
      for (const outcome of OUTCOMES) {
        let count = 0
        for (let bucket = 0; bucket <= LATENCY_BOUNDS.length; bucket += 1) count += cells[from + bucket]!
        ended[kind][outcome] += count
        if (count > 0 && kind === 'decisions' && outcome === 'answered') {
          for (let bucket = 0; bucket < latencies.length; bucket += 1)
            latencies[bucket]! += cells[from + bucket]!
        }
        from += LATENCY_CELLS
      }
    }
  }

  /** Returns all metrics with their current values. Endpoints without requests are omitted. */
  metrics(thread: string): CountedMetric[] {
    return ROWS.map(([name, row]) => ({
      name: row.name,
      help: row.help,
      type: row.kind,
      aggregator: 'sum',
      values: this.#values(this.#at[name], row, thread),
    }))
  }

  #values(from: number, row: ThreadMetricRow, thread: string): CountedMetric['values'] {
    const { by = {}, bounds } = row
    const size = cellsOf(row)
    const isSparse = Object.values(by).includes('endpoints')
    const values: CountedMetric['values'] = []
    for (const { place, labels } of this.#combinations(Object.entries(by), thread)) {
      const at = from + place * size
      if (isSparse && this.#cells.subarray(at, at + size).every(count => count === 0)) continue
      if (bounds) values.push(...this.#histogram(row.name, bounds, at, labels))
      else values.push({ value: this.#cells[at]!, labels })
    }
    return values
  }

  /**
   * Yields all combinations of label values, each with its offset within the cells of a metric. The first
   * label varies slowest.
   */
  *#combinations(
    by: readonly (readonly [label: string, values: readonly string[] | LateValues])[],
    thread: string,
    outer: { readonly place: number; readonly labels: Readonly<Record<string, string>> } = {
      place: 0,
      labels: {},
    },
  ): Iterable<{ readonly place: number; readonly labels: Readonly<Record<string, string>> }> {
    const [first, ...others] = by
    if (!first) {
      yield outer
      return
    }
    const [label, known] = first
    const { endpoints, limits } = this.handle
    const values = typeof known === 'object' ? known : { endpoints, limits, thread: [thread] }[known]
    for (const [index, value] of values.entries()) {
      const place = outer.place * values.length + index
      yield* this.#combinations(others, thread, { place, labels: { ...outer.labels, [label]: value } })
    }
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
