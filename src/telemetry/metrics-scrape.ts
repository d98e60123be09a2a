/**
 * The metrics of the process, as `/metrics` tells them: what the threads count (`counted-metrics.ts`), added up, and what the main
 * thread knows of environments and the process (`sampled-metrics.ts`). Made anew for each scrape; nothing is computed in between.
 */
import { AggregatorRegistry, Counter, Gauge, Registry } from '@prometheus-io/client'
import { type MetricSources, SAMPLED_METRICS, type SampledRow } from './sampled-metrics.ts'
import { ThreadCounters, type ThreadCountersHandle } from './thread-counters.ts'

export class Metrics {
  readonly #registry = new Registry()
  readonly #threads: (readonly [name: string, counters: ThreadCounters])[] = []

  constructor(sources: MetricSources) {
    for (const row of SAMPLED_METRICS) this.#sample(row, sources)
  }

  /** Adds what a thread counts from now on. */
  addThread(name: string, handle: ThreadCountersHandle): void {
    this.#threads.push([name, new ThreadCounters(handle)])
  }

  /** Everything, in the text format of Prometheus. O(endpoints called + environments). */
  async text(): Promise<string> {
    const counted = this.#threads.map(([name, counters]) => counters.metrics(name))
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
