/** Configures uPlot for one plot. Colors come from the page: those of the legend, the text and the lines. */
import uPlot from 'uplot'
import type { SpokenFigures } from '../spoken-figures.ts'
import type { PlotKind } from './plot-list.ts'
import { type Sample, SHOWN_MS } from './recent.ts'

export const HEIGHT_PX = 170
/** Width per character of the axis labels, and the space next to them. */
const LETTER_PX = 7
const MARGIN_PX = 14
const SECONDS_SHOWN_MAX = SHOWN_MS / 1_000
/** Minimum time range, for a node that has just started. */
const SECONDS_SHOWN_MIN = 120
const MINUTE_SECONDS = 60
const DASHES = [6, 4]
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif'

export interface Colors {
  readonly ink: string
  readonly grid: string
  /** Color of each line. */
  readonly lines: readonly string[]
}

export function columnsOf({ lines }: PlotKind, samples: readonly Sample[]): uPlot.AlignedData {
  const times = samples.map(({ at }) => new Date(at).getTime() / 1_000)
  return [times, ...lines.map(({ read }) => samples.map(read))]
}

/** `onCursor` receives the index of the sample under the cursor; null if there is none. */
export function optionsOf(
  plot: PlotKind,
  {
    colors,
    width,
    figures,
    onCursor,
  }: {
    readonly colors: Colors
    readonly width: number
    readonly figures: SpokenFigures
    readonly onCursor: (index: number | null) => void
  },
): uPlot.Options {
  const axis = {
    stroke: colors.ink,
    font: FONT,
    grid: { stroke: colors.grid, width: 1 },
    ticks: { show: false },
  }
  return {
    width,
    height: HEIGHT_PX,
    padding: [10, 12, 0, 0],
    legend: { show: false },
    // Synchronizes the cursor of all plots.
    cursor: { y: false, drag: { x: false, y: false }, sync: { key: 'operations' } },
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)] },
    scales: {
      x: { time: true, range: lastMinutes },
      y: plot.isLogarithmic ? { distr: 3, range: logarithmicRange } : { range: rangeFromZero },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 75,
        values: (_, times, _axis, _space, apart) =>
          times.map(time => (apart < MINUTE_SECONDS ? figures.clock : figures.hour)(time * 1_000)),
      },
      {
        ...axis,
        size: (_, values) =>
          MARGIN_PX + LETTER_PX * Math.max(2, ...(values ?? []).map(({ length }) => length)),
        space: 32,
        ...(plot.isLogarithmic && {
          grid: { ...axis.grid, filter: (_, values) => values.map(ifPowerOfTen) },
        }),
        // The value is null for grid lines without a label.
        values: (_, values: readonly (number | null)[]) =>
          values.map(value => (value === null ? '' : figures.brief(value))),
      },
    ],
    series: [
      {},
      ...plot.lines.map(({ isDashed }, index) => ({
        stroke: colors.lines[index]!,
        width: 2,
        points: { fill: colors.lines[index]!, size: 5, filter: alone },
        ...(isDashed && { dash: DASHES }),
      })),
    ],
  }
}

/** The last minutes up to the last sample. For a single sample, uPlot would choose a range of one day. */
function lastMinutes({ data: [times] }: uPlot): uPlot.Range.MinMax {
  const end = times.at(-1) ?? 0
  const span = Math.min(Math.max(end - (times[0] ?? end), SECONDS_SHOWN_MIN), SECONDS_SHOWN_MAX)
  return [end - span, end]
}

function rangeFromZero(_: uPlot, _from: number | null, to: number | null): uPlot.Range.MinMax {
  return [0, to !== null && to > 0 ? to * 1.1 : 1]
}

/** Range from one power of 10 to another. */
function logarithmicRange(_: uPlot, from: number | null, to: number | null): uPlot.Range.MinMax {
  return from === null || to === null || from <= 0 ? [0.1, 10] : uPlot.rangeLog(from, to, 10, true)
}

/**
 * Points to draw if samples are too dense for points: a sample between two gaps has no line, so it gets a
 * point.
 */
function alone({ data }: uPlot, series: number, isShown: boolean): number[] | null {
  if (isShown) return null
  const values = data[series]!
  return Array.from(values.keys()).filter(
    index =>
      values[index] !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null,
  )
}

/**
 * Draws grid lines only at powers of 10. The positions of other lines on a logarithmic axis are hard to read.
 */
function ifPowerOfTen(value: number): number | null {
  const power = Math.log10(value)
  return Math.abs(power - Math.round(power)) < 1e-9 ? value : null
}
