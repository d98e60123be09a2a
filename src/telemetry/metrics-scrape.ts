/**
 * Metrics of the process as `/metrics` returns them: the sums of the counters of all threads
 * (`counted-metrics.ts`) and the values that the main thread samples (`sampled-metrics.ts`). Each scrape
 * builds the text from scratch; nothing is computed between scrapes.
 */
import type { MetricsText } from './metrics-text.ts'
import type { MetricSources } from './sampled-metrics.ts'
import { ThreadCounters, type ThreadCountersHandle } from './thread-counters.ts'

export class Metrics {
  readonly #sources: MetricSources
  readonly #namesEnvironments: boolean
  readonly #threads: (readonly [name: string, counters: ThreadCounters])[] = []
  #text: Promise<MetricsText> | null = null

  /** `namesEnvironments`: whether a scrape may contain the keys of environments and projects. */
  constructor(sources: MetricSources, { namesEnvironments }: { readonly namesEnvironments: boolean }) {
    this.#sources = sources
    this.#namesEnvironments = namesEnvironments
  }

  /** Includes the counters of a thread in later scrapes. */
  addThread(name: string, handle: ThreadCountersHandle): void {
    this.#threads.push([name, new ThreadCounters(handle)])
  }

  /** Counters of each thread; the main thread is first. */
  get threads(): readonly (readonly [name: string, counters: ThreadCounters])[] {
    return this.#threads
  }

  /** All metrics in the Prometheus text format. O(endpoints called + environments). */
  async text(): Promise<string> {
    this.#text ??= import('./metrics-text.ts').then(
      ({ MetricsText }) => new MetricsText(this.#sources, this.#namesEnvironments),
    )
    return (await this.#text).of(this.#threads)
  }
}
