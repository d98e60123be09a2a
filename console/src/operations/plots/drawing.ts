/**
 * Configures uPlot for one plot. The colors are those of elements on the page: the legend, the text and the
 * lines.
 */
import uPlot from 'uplot'
import type { SpokenFigures } from '../spoken-figures.ts'
import type { PlotKind } from './plot-list.ts'
import { type Sample, SHOWN_MS } from './recent.ts'

export const HEIGHT_PX = 170
/** Width of one character of an axis label in pixels, and the margin next to labels. */
const LETTER_PX = 7
const MARGIN_PX = 14
const SECONDS_SHOWN_MAX = SHOWN_MS / 1_000
/** Minimum time range of a plot in seconds, for a node that has just started. */
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

/** `onCursor` receives the index of the sample under the cursor, or null if there is none. */
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
        // For a grid line without a label, the value is null.
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

/**
 * Time range that ends with the last sample. It is set explicitly, because uPlot would choose a range of one
 * day for a single sample.
 */
function lastMinutes({ data: [times] }: uPlot): uPlot.Range.MinMax {
  const end = times.at(-1) ?? 0
  const span = Math.min(Math.max(end - (times[0] ?? end), SECONDS_SHOWN_MIN), SECONDS_SHOWN_MAX)
  return [end - span, end]
}

function rangeFromZero(_: uPlot, _from: number | null, to: number | null): uPlot.Range.MinMax {
  return [0, to !== null && to > 0 ? to * 1.1 : 1]
}

/** Range that begins and ends at a power of 10. */
function logarithmicRange(_: uPlot, from: number | null, to: number | null): uPlot.Range.MinMax {
  return from === null || to === null || from <= 0 ? [0.1, 10] : uPlot.rangeLog(from, to, 10, true)
}

/**
 * Samples that are drawn as points although the other samples are too dense for points. A sample between two
 * gaps needs a point, because no line leads to it.
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
 * Keeps only the grid lines at powers of 10. On a logarithmic axis, the positions of other lines are hard to
 * read.
 */
function ifPowerOfTen(value: number): number | null {
  const power = Math.log10(value)
  return Math.abs(power - Math.round(power)) < 1e-9 ? value : null
}
