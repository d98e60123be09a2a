/**
 * Recent activity of this node, for pages of the console. There is one sample for every five seconds of the
 * last fifteen minutes. The main thread computes the samples from the counters of all threads. `/metrics`
 * uses the same counters.
 */
import { THREAD_METRICS, type EndpointKind } from './thread-metrics.ts'
import { noRequests, type RequestSums, type ThreadCounters } from './thread-counters.ts'

const EVERY_MS = 5_000
export const INTERVAL_SECONDS = EVERY_MS / 1_000
/** Number of samples in fifteen minutes. */
const SAMPLES_MAX = 180
const KEPT_MS = SAMPLES_MAX * EVERY_MS

const LATENCY_BOUNDS = THREAD_METRICS.requestSeconds.bounds
const DELAY_BOUNDS = THREAD_METRICS.loopDelaySeconds.bounds

/** Activity in one interval. Rates are per second. A field is null if the node does not count its value. */
export interface FiguresSample {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly requests_per_second: Readonly<Record<EndpointKind, number>> | null
  readonly refused_per_second: number | null
  readonly failed_per_second: number | null
  readonly checks_per_second: { readonly allow: number; readonly deny: number } | null
  /**
   * Latencies of decisions in milliseconds. Null if no decision was made in the interval, or if the node does
   * not count them.
   */
  readonly latency_ms: { readonly p50: number; readonly p99: number } | null
  readonly commits_per_second: number
  readonly loop_delay_p99_ms: { readonly main: number; readonly http: number | null }
  readonly in_flight: number | null
  readonly connections: number | null
  readonly stale_ms: number
}

export interface RecentSources {
  /** Counters of each thread, beginning with the main thread. HTTP threads can be added later. */
  threads(): readonly (readonly [name: string, counters: ThreadCounters])[]
  stalenessMs(): number
  /** Milliseconds since 1970. */
  now(): number
  /** Returns the milliseconds of a clock that never goes backward. */
  elapsedMs(): number
}

/** Values of all counters at one moment. */
interface CounterReading {
  readonly elapsedMs: number
  readonly requests: RequestSums
  readonly allowed: number
  readonly denied: number
  readonly commits: number
  /** Numbers of event-loop delays per bucket, by thread name. */
  readonly loopDelays: ReadonlyMap<string, readonly number[]>
}

export class FiguresRecorder {
  readonly #sources: RecentSources
  #timer: NodeJS.Timeout | null = null
  #last: CounterReading
  /** Samples in the order of their times. */
  readonly #samples: { readonly elapsedMs: number; readonly sample: FiguresSample }[] = []

  constructor(sources: RecentSources) {
    this.#sources = sources
    this.#last = this.#read()
  }

  /** Takes samples until `close` is called. Does not keep the process alive. */
  begin(): void {
    this.#timer = setInterval(() => this.take(), EVERY_MS).unref()
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
  }

  /** Returns the samples of the last fifteen minutes, in ascending order of time. */
  samples(): FiguresSample[] {
    const from = this.#sources.elapsedMs() - KEPT_MS
    return this.#samples.filter(({ elapsedMs }) => elapsedMs >= from).map(({ sample }) => sample)
  }

  /** Takes a sample of the activity since the previous sample. */
  take(): void {
    const reading = this.#read()
    const sample = this.#sampleOf(reading, this.#last)
    this.#last = reading
    this.#samples.push({ elapsedMs: reading.elapsedMs, sample })
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift()
  }

  #read(): CounterReading {
    const threads = this.#sources.threads()
    const requests = noRequests()
    for (const [, counters] of threads) counters.addRequestsTo(requests)
    return {
      elapsedMs: this.#sources.elapsedMs(),
      requests,
      allowed: this.#sum(counters => counters.read('checks', 'allow')),
      denied: this.#sum(counters => counters.read('checks', 'deny')),
      commits: this.#sum(counters => counters.read('commits', 'done')),
      loopDelays: new Map(threads.map(([name, counters]) => [name, counters.loopDelays()])),
    }
  }

  #sum(read: (counters: ThreadCounters) => number): number {
    return this.#sources.threads().reduce((sum, [, counters]) => sum + read(counters), 0)
  }

  #sampleOf(now: CounterReading, before: CounterReading): FiguresSample {
    const seconds = (now.elapsedMs - before.elapsedMs) / 1_000
    // The rate is 0 if the interval is empty.
    const rate = (count: number): number => (seconds > 0 ? rounded(count / seconds) : 0)
    const [[main], ...http] = this.#sources.threads() as [
      [string, ThreadCounters],
      ...[string, ThreadCounters][],
    ]
    const isCounted = http.length > 0
    const ended = (kind: EndpointKind, ...outcomes: (keyof RequestSums['ended'][EndpointKind])[]): number =>
      outcomes.reduce(
        (sum, outcome) => sum + now.requests.ended[kind][outcome] - before.requests.ended[kind][outcome],
        0,
      )
    const all = (kind: EndpointKind): number => ended(kind, 'answered', 'refused', 'failed', 'aborted')
    const ofAllKinds = (outcome: 'refused' | 'failed'): number =>
      ended('decisions', outcome) + ended('management', outcome) + ended('other', outcome)
    const delay = (thread: string): number =>
      quantileMs(0.99, DELAY_BOUNDS, since(now.loopDelays.get(thread)!, before.loopDelays.get(thread))) ?? 0
    const latencies = since(now.requests.latencies, before.requests.latencies)
    const latency = (quantile: number): number | null => quantileMs(quantile, LATENCY_BOUNDS, latencies)
    const [p50, p99] = [latency(0.5), latency(0.99)]
    return {
      at: this.#sources.now(),
      requests_per_second: isCounted
        ? {
            decisions: rate(all('decisions')),
            management: rate(all('management')),
            other: rate(all('other')),
          }
        : null,
      refused_per_second: isCounted ? rate(ofAllKinds('refused')) : null,
      failed_per_second: isCounted ? rate(ofAllKinds('failed')) : null,
      checks_per_second: isCounted
        ? { allow: rate(now.allowed - before.allowed), deny: rate(now.denied - before.denied) }
        : null,
      latency_ms: p50 !== null && p99 !== null ? { p50, p99 } : null,
      commits_per_second: rate(now.commits - before.commits),
      loop_delay_p99_ms: {
        main: delay(main),
        http: isCounted ? Math.max(...http.map(([name]) => delay(name))) : null,
      },
      in_flight: isCounted ? this.#sum(counters => counters.read('requestsInFlight')) : null,
      connections: isCounted ? this.#sum(counters => counters.read('connections')) : null,
      stale_ms: Math.round(this.#sources.stalenessMs()),
    }
  }
}

function since(now: readonly number[], before: readonly number[] | undefined): number[] {
  return now.map((count, bucket) => count - (before?.[bucket] ?? 0))
}

/**
 * Estimates a quantile in milliseconds from the counts of buckets, like `histogram_quantile` of Prometheus.
 * The estimate assumes that values are evenly distributed within a bucket, and that values above the highest
 * bound equal this bound. Null if all counts are 0.
 */
function quantileMs(quantile: number, bounds: readonly number[], counts: readonly number[]): number | null {
  const rank = quantile * counts.reduce((sum, count) => sum + count, 0)
  if (rank === 0) return null
  let below = 0
  for (const [bucket, upper] of bounds.entries()) {
    const count = counts[bucket]!
    if (below + count >= rank) {
      const lower = bounds[bucket - 1] ?? 0
      return rounded((lower + ((upper - lower) * (rank - below)) / count) * 1_000)
    }
    below += count
  }
  return rounded(bounds.at(-1)! * 1_000)
}

/** Rounds to three decimal places. The values are estimates, so more digits would not be meaningful. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
