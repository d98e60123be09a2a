/**
 * The text of a scrape. Loaded at the first one, with the library that makes it, which would take as long at a start as all the code that
 * begins to serve.
 */
import { AggregatorRegistry, Counter, Gauge, Registry } from '@prometheus-io/client'
import { type MetricSources, SAMPLED_METRICS, type SampledRow } from './sampled-metrics.ts'
import type { ThreadCounters } from './thread-counters.ts'

export class MetricsText {
  readonly #registry = new Registry()

  constructor(sources: MetricSources) {
    for (const row of SAMPLED_METRICS) this.#sample(row, sources)
  }

  /** What these threads have counted, and what is sampled now. */
  async of(threads: readonly (readonly [name: string, counters: ThreadCounters])[]): Promise<string> {
    const counted = threads.map(([name, counters]) => counters.metrics(name))
    const own = await this.#registry.getMetricsAsJSON()
    return AggregatorRegistry.aggregate([...counted, own]).metrics()
  }

  #sample({ name, kind, help, labels, values }: SampledRow, sources: MetricSources): void {
    const collect = (): void => {
      metric.reset()
      for (const [of, value] of values(sources)) metric.inc(of, value)
    }
    const options = { name, help, labelNames: labels, registers: [], collect }
    const metric = kind === 'counter' ? new Counter(options) : new Gauge(options)
    this.#registry.registerMetric(metric)
  }
}
