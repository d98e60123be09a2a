/** List of the plots. For each sample, a plot has one value per line. A null value is drawn as a gap. */
import type { operationsEn } from '../../texts/operations.en.ts'
import type { Sample } from './recent.ts'

/** A line of a plot. Lines differ by color and by dashes, because color alone is not accessible. */
export interface Line {
  readonly name: string
  readonly tone: 'accent' | 'allow' | 'deny' | 'warn'
  readonly isDashed: boolean
  readonly read: (sample: Sample) => number | null
}

type PlotName = keyof typeof operationsEn.recent.plots

export interface PlotKind {
  readonly name: PlotName
  readonly unit: 'perSecond' | 'ms' | 'none'
  readonly isLogarithmic?: boolean
  readonly lines: readonly Line[]
}

const solid = (name: string, tone: Line['tone'], read: Line['read']): Line => ({
  name,
  tone,
  isDashed: false,
  read,
})
const dashed = (name: string, tone: Line['tone'], read: Line['read']): Line => ({
  ...solid(name, tone, read),
  isDashed: true,
})

export const PLOTS: readonly PlotKind[] = [
  {
    name: 'requests',
    unit: 'perSecond',
    lines: [
      solid('decisions', 'accent', ({ requests_per_second }) => requests_per_second?.decisions ?? null),
      dashed('management', 'warn', ({ requests_per_second }) => requests_per_second?.management ?? null),
    ],
  },
  {
    name: 'latency',
    unit: 'ms',
    isLogarithmic: true,
    lines: [
      solid('p50', 'accent', ({ latency_ms }) => latency_ms?.p50 ?? null),
      dashed('p99', 'warn', ({ latency_ms }) => latency_ms?.p99 ?? null),
    ],
  },
  {
    name: 'checks',
    unit: 'perSecond',
    lines: [
      solid('allow', 'allow', ({ checks_per_second }) => checks_per_second?.allow ?? null),
      dashed('deny', 'deny', ({ checks_per_second }) => checks_per_second?.deny ?? null),
    ],
  },
  {
    name: 'refusals',
    unit: 'perSecond',
    lines: [
      solid('refused', 'warn', ({ refused_per_second }) => refused_per_second),
      dashed('failed', 'deny', ({ failed_per_second }) => failed_per_second),
    ],
  },
  {
    name: 'delays',
    unit: 'ms',
    lines: [
      solid('main', 'accent', ({ loop_delay_p99_ms }) => loop_delay_p99_ms.main),
      dashed('http', 'warn', ({ loop_delay_p99_ms }) => loop_delay_p99_ms.http),
    ],
  },
  {
    name: 'connections',
    unit: 'none',
    lines: [
      solid('connections', 'accent', ({ connections }) => connections),
      dashed('inFlight', 'warn', ({ in_flight }) => in_flight),
    ],
  },
  {
    name: 'commits',
    unit: 'perSecond',
    lines: [solid('commits', 'accent', ({ commits_per_second }) => commits_per_second)],
  },
  {
    name: 'staleness',
    unit: 'ms',
    lines: [solid('stale', 'deny', ({ stale_ms }) => stale_ms)],
  },
]
