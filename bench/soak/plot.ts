/** Plots a soak test: requests, latency and memory over time, and the times of the disturbances. */
import { writeFileSync } from 'node:fs'
import { svgOf } from '../lib/charts.ts'

export interface Course {
  /** Times are in seconds since the start. */
  readonly requests: readonly (readonly [at: number, value: number])[]
  readonly latencyMsP99: readonly (readonly [at: number, value: number])[]
  readonly memoryMiB: readonly (readonly [at: number, value: number])[]
  readonly kills: readonly { readonly at: number; readonly what: string }[]
}

const SIZE = { width: 1_000, height: 720 }

export function plotSoak(course: Course, title: string, file: URL): void {
  const panels = [
    { name: 'requests a second', data: course.requests },
    { name: 'latency p99, ms', data: course.latencyMsP99 },
    { name: 'memory of the service, MiB', data: course.memoryMiB },
  ]
  const marks = course.kills.map(({ at, what }) => ({ xAxis: at, name: what }))
  const option = {
    animation: false,
    title: { text: title, left: 'center' },
    grid: panels.map((_, index) => ({ left: 70, right: 30, top: 60 + index * 220, height: 160 })),
    xAxis: panels.map((_, index) => ({
      type: 'value',
      gridIndex: index,
      name: index === panels.length - 1 ? 'seconds' : '',
    })),
    yAxis: panels.map(({ name }, index) => ({ type: 'value', gridIndex: index, name, min: 0 })),
    series: panels.map(({ name, data }, index) => ({
      name,
      type: 'line',
      showSymbol: false,
      xAxisIndex: index,
      yAxisIndex: index,
      data,
      markLine: {
        symbol: 'none',
        label: { show: false },
        lineStyle: { color: '#c33', type: 'dashed' },
        data: marks,
      },
    })),
  }
  writeFileSync(file, svgOf(option, SIZE))
}
