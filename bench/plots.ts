/**
 * Draws plots of the results on this machine: latency by load, cost of a check by the size of a bulk and by
 * the number of facts, and the comparison with other products. If a plot has no results, its file is not
 * changed.
 *
 *     npm run bench -- plots
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { svgOf } from './lib/charts.ts'
import { RESULTS } from './lib/measure.ts'

const PLOTS = new URL('../docs/plots/', import.meta.url)
const SIZE = { width: 640, height: 320 }
/** The bottom margin has space for the axis title and the legend. */
const GRID = { left: 70, right: 30, top: 40, bottom: 80 }

interface Axis {
  readonly name: string
  readonly isLogarithmic: boolean
}

interface Line {
  readonly name: string
  readonly points: readonly (readonly [number, number])[]
}

function chart(title: string, axes: { readonly x: Axis; readonly y: Axis }, lines: readonly Line[]): object {
  const axis = ({ name, isLogarithmic }: Axis) => ({
    type: isLogarithmic ? ('log' as const) : ('value' as const),
    name,
    nameLocation: 'middle' as const,
    nameGap: 32,
  })
  return {
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 'center', textStyle: { fontSize: 14 } },
    legend: { top: 'auto', bottom: 6 },
    grid: GRID,
    xAxis: axis(axes.x),
    yAxis: { ...axis(axes.y), nameGap: 48, ...(axes.y.isLogarithmic ? decadesOf(lines) : { min: 0 }) },
    series: lines.map(({ name, points }) => ({ type: 'line', name, data: points.map(point => [...point]) })),
  }
}

/**
 * Range of whole powers of ten that contains all values. It is set explicitly, because a logarithmic axis
 * starts at 1 by default.
 */
function decadesOf(lines: readonly Line[]) {
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value))
  return {
    min: 10 ** Math.floor(Math.log10(Math.min(...values))),
    max: 10 ** Math.ceil(Math.log10(Math.max(...values))),
  }
}

/** Results of a bench. Null if the bench was never run on this machine. */
function results<Raw>(name: string): Raw | null {
  const file = new URL(`${name}.json`, RESULTS)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { raw: Raw }).raw : null
}

function draw(name: string, option: object): void {
  mkdirSync(PLOTS, { recursive: true })
  writeFileSync(new URL(`${name}.svg`, PLOTS), svgOf(option, SIZE))
}

interface Percentiles {
  readonly requestsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

function drawPlots(): void {
  const measured = results<{ rungs: Record<string, Percentiles> }>('latency')
  if (measured) {
    const rungs = Object.values(measured.rungs)
    const peak = Math.max(...rungs.map(({ requestsPerSecond }) => requestsPerSecond))
    // Only loads up to the peak are drawn. Beyond the peak, more connections only increase the latency.
    const rising = rungs.slice(0, rungs.findIndex(({ requestsPerSecond }) => requestsPerSecond === peak) + 1)
    const line = (name: 'p50' | 'p99' | 'p999'): Line => ({
      name,
      points: rising.map(of => [Math.round(of.requestsPerSecond / 1_000), of[name]]),
    })
    const axes = {
      x: { name: 'thousands of decisions a second, one core', isLogarithmic: false },
      y: { name: 'ms, one at a time a connection', isLogarithmic: true },
    }
    draw('latency', chart('Latency of /allowed against load', axes, [line('p50'), line('p99'), line('p999')]))
  }
  const bulk = results<{ nsPerCheck: Record<string, number> }>('bulk')
  if (bulk) {
    const points = Object.entries(bulk.nsPerCheck).map(
      ([size, ns]) => [Number(size), Math.round(ns)] as const,
    )
    const axes = {
      x: { name: 'checks in a bulk', isLogarithmic: true },
      y: { name: 'ns a check, over HTTP', isLogarithmic: false },
    }
    draw(
      'bulk',
      chart('Cost of a check against the size of the bulk', axes, [{ name: '/allowed/bulk', points }]),
    )
  }
  const facts = results<{ sizes: { facts: number; singleNs: number; stagedNs: number }[] }>('facts')
  if (facts) {
    const axes = {
      x: { name: 'facts', isLogarithmic: true },
      y: { name: 'ns a check, in the engine', isLogarithmic: false },
    }
    const line = (name: string, of: 'singleNs' | 'stagedNs'): Line => ({
      name,
      points: facts.sizes.map(size => [size.facts, Math.round(size[of])]),
    })
    draw(
      'facts',
      chart('Cost of a check against the number of facts', axes, [
        line('one by one', 'singleNs'),
        line('in bulks', 'stagedNs'),
      ]),
    )
  }
}

drawPlots()
