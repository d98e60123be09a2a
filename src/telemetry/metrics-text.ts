/**
 * The text of a scrape. Loaded at the first one, with the library that makes it, which would take as long at a start as all the code that
 * begins to serve.
 */
import { AggregatorRegistry, Counter, Gauge, Registry } from '@prometheus-io/client'
import { type MetricSources, OF_ENVIRONMENTS, SAMPLED_METRICS, type SampledRow } from './sampled-metrics.ts'
import type { ThreadCounters } from './thread-counters.ts'

export class MetricsText {
  readonly #registry = new Registry()

  /** `namesEnvironments`: otherwise a metric has one value for all environments, without their keys and those of projects. */
  constructor(sources: MetricSources, namesEnvironments: boolean) {
    for (const row of SAMPLED_METRICS) {
      if (namesEnvironments) this.#sample(row, sources)
      else if (row.ofAll !== 'nothing') this.#sample(withoutNames(row), sources)
    }
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

/** The row with one value for all environments, or for each of its other labels. */
function withoutNames(row: SampledRow): SampledRow {
  const { ofAll } = row
  if (ofAll === undefined) return row
  const labels = row.labels.filter(label => !OF_ENVIRONMENTS.includes(label))
  const values = (sources: MetricSources): ReturnType<SampledRow['values']> => {
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
