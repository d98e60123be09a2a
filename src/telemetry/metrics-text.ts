/**
 * Creates the text of a scrape. The module is loaded at the first scrape, because loading the metrics library
 * takes as long as loading all code that the service needs to start.
 */
import { AggregatorRegistry, Counter, Gauge, Registry } from '@prometheus-io/client'
import {
  type MetricSources,
  OF_ENVIRONMENTS,
  SCRAPE_METRICS,
  type ScrapeMetricRow,
} from './scrape-metrics.ts'
import type { ThreadCounters } from './thread-counters.ts'

export class MetricsText {
  readonly #registry = new Registry()

  /**
   * If `namesEnvironments` is false, each metric has one value for all environments together, and the text
   * contains no keys of environments and projects.
   */
  constructor(sources: MetricSources, namesEnvironments: boolean) {
    for (const row of SCRAPE_METRICS) {
      if (row.isPresent?.(sources) === false) continue
      if (namesEnvironments) this.#sample(row, sources)
      else if (row.ofAll !== 'nothing') this.#sample(withoutNames(row), sources)
    }
  }

  /** Returns the text. It contains the sums over the counters of these threads, and the sampled values. */
  async of(threads: readonly (readonly [name: string, counters: ThreadCounters])[]): Promise<string> {
    const counted = threads.map(([name, counters]) => counters.metrics(name))
    const own = await this.#registry.getMetricsAsJSON()
    return AggregatorRegistry.aggregate([...counted, own]).metrics()
  }

  #sample({ name, kind, help, labels, values }: ScrapeMetricRow, sources: MetricSources): void {
    const collect = (): void => {
      metric.reset()
      for (const [of, value] of values(sources)) metric.inc(of, value)
    }
    const options = { name, help, labelNames: labels, registers: [], collect }
    const metric = kind === 'counter' ? new Counter(options) : new Gauge(options)
    this.#registry.registerMetric(metric)
  }
}

/**
 * Converts a row so that it has one value for all environments together. If the row has other labels, it has
 * one such value for each combination of their values.
 */
function withoutNames(row: ScrapeMetricRow): ScrapeMetricRow {
  const { ofAll } = row
  if (ofAll === undefined) return row
  const labels = row.labels.filter(label => !OF_ENVIRONMENTS.includes(label))
  const values = (sources: MetricSources): ReturnType<ScrapeMetricRow['values']> => {
    const together = new Map<string, number>()
    for (const [of, value] of row.values(sources)) {
      const kept = JSON.stringify(labels.map(label => [label, of[label]]))
      const before = together.get(kept)
      together.set(
        kept,
        before === undefined ? value : ofAll === 'sum' ? before + value : Math.max(before, value),
      )
    }
    return Array.from(together, ([kept, value]) => [
      Object.fromEntries(JSON.parse(kept) as [string, string][]),
      value,
    ])
  }
  return { ...row, labels, values }
}
