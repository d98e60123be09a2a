/** Renders charts as SVG text, identical on every machine. */
import * as echarts from 'echarts'

/**
 * The part of the library that this file uses. TypeScript cannot resolve the types of the library, because
 * they import files without extensions.
 */
interface Charts {
  init(
    element: null,
    theme: null,
    options: {
      readonly renderer: 'svg'
      readonly ssr: true
      readonly width: number
      readonly height: number
    },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void }
}

const { init } = echarts as unknown as Charts

/** `option` is the ECharts option object with axes, series and legend. */
export function svgOf(option: object, size: { readonly width: number; readonly height: number }): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size })
  try {
    chart.setOption(option)
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}
