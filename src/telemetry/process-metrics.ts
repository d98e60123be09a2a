/**
 * Metrics of the process as `/metrics` returns them. They consist of the sums over the counters of all
 * threads (`thread-metrics.ts`) and of values that the main thread samples (`scrape-metrics.ts`). Each
 * scrape creates the whole text; nothing is computed between scrapes.
 */
import type { MetricsText } from './metrics-text.ts'
import type { MetricSources } from './scrape-metrics.ts'
import { ThreadCounters, type ThreadCountersHandle } from './thread-counters.ts'

export class Metrics {
  readonly #sources: MetricSources
  readonly #namesEnvironments: boolean
  readonly #threads: (readonly [name: string, counters: ThreadCounters])[] = []
  #text: Promise<MetricsText> | null = null

  /** `namesEnvironments`: whether the metrics can contain the keys of environments and projects. */
  constructor(sources: MetricSources, { namesEnvironments }: { readonly namesEnvironments: boolean }) {
    this.#sources = sources
    this.#namesEnvironments = namesEnvironments
  }

  /** Adds the counters of a thread, so that later scrapes include them. */
  addThread(name: string, handle: ThreadCountersHandle): void {
    this.#threads.push([name, new ThreadCounters(handle)])
  }

  /** Counters of each thread, beginning with the main thread. */
  get threads(): readonly (readonly [name: string, counters: ThreadCounters])[] {
    return this.#threads
  }

  /** Returns all metrics in the Prometheus text format. O(endpoints called + environments). */
  async text(): Promise<string> {
    this.#text ??= import('./metrics-text.ts').then(
      ({ MetricsText }) => new MetricsText(this.#sources, this.#namesEnvironments),
    )
    return (await this.#text).of(this.#threads)
  }
}
