/** Charts as SVG text, the same on every machine. */
import * as echarts from 'echarts'

/** The part of the library that is used: its own types name files without their endings, which TypeScript does not find. */
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

/** `option` is what ECharts calls so: axes, series, legend. */
export function svgOf(option: object, size: { readonly width: number; readonly height: number }): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...size })
  try {
    chart.setOption(option)
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}
