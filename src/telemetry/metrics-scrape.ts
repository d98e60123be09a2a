/**
 * The metrics of the process, as `/metrics` tells them: what the threads count (`counted-metrics.ts`), added up, and what the main
 * thread knows of environments and the process (`sampled-metrics.ts`). Made anew for each scrape; nothing is computed in between.
 */
import type { MetricsText } from './metrics-text.ts'
import type { MetricSources } from './sampled-metrics.ts'
import { ThreadCounters, type ThreadCountersHandle } from './thread-counters.ts'

export class Metrics {
  readonly #sources: MetricSources
  readonly #namesEnvironments: boolean
  readonly #threads: (readonly [name: string, counters: ThreadCounters])[] = []
  #text: Promise<MetricsText> | null = null

  /** `namesEnvironments`: whether a scrape may tell the keys of environments and projects. */
  constructor(sources: MetricSources, { namesEnvironments }: { readonly namesEnvironments: boolean }) {
    this.#sources = sources
    this.#namesEnvironments = namesEnvironments
  }

  /** Adds what a thread counts from now on. */
  addThread(name: string, handle: ThreadCountersHandle): void {
    this.#threads.push([name, new ThreadCounters(handle)])
  }

  /** What each thread counts, that of the main thread first. */
  get threads(): readonly (readonly [name: string, counters: ThreadCounters])[] {
    return this.#threads
  }

  /** Everything, in the text format of Prometheus. O(endpoints called + environments). */
  async text(): Promise<string> {
    this.#text ??= import('./metrics-text.ts').then(
      ({ MetricsText }) => new MetricsText(this.#sources, this.#namesEnvironments),
    )
    return (await this.#text).of(this.#threads)
  }
}
