/** In each plot, every point of every line is inside the axes, and texts do not overlap. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const PLOTS = fileURLToPath(new URL('../../docs/plots', import.meta.url))

type Point = readonly [x: number, y: number]

/** Returns the points of each path of straight lines with a matching stroke. */
function paths(svg: string, stroke: RegExp): Point[][] {
  return [...svg.matchAll(/<path d="(M[\d. L-]+)" fill="none"([^>]*)>/g)]
    .filter(([, , attributes]) => stroke.test(attributes!))
    .map(([, d]) =>
      [...d!.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const),
    )
}

test.each(readdirSync(PLOTS))('the lines of %s are inside the axes, and its texts do not overlap', name => {
  const svg = readFileSync(join(PLOTS, name), 'utf8')
  const axes = paths(svg, /stroke="#54555a" stroke-linecap="round"/).flat()
  const inside = (of: 0 | 1, { min, max }: Record<'min' | 'max', (...values: number[]) => number>) => {
    const values = axes.map(point => point[of])
    return [min(...values) - 1, max(...values) + 1] as const
  }
  const [[left, right], [top, bottom]] = [inside(0, Math), inside(1, Math)]
  expect([right - left > 300, bottom - top > 150]).toEqual([true, true])
  const lines = paths(svg, /stroke-width="2"/)
  expect(lines.length).toBeGreaterThanOrEqual(1)
  const outside = lines.flat().filter(([x, y]) => x < left || x > right || y < top || y > bottom)
  expect(outside).toEqual([])
  // The title is the only text above the axes.
  const texts = [
    ...svg.matchAll(/<text [^>]*transform="translate\(([\d.]+) ([\d.]+)\)"[^>]*>([^<]+)<\/text>/g),
  ]
  const title = texts.find(([, , y]) => Number(y) < top)
  expect(title?.[3]).toMatch(/^(Latency|Cost|Decisions|Checks)/)
  const above = texts.filter(([, , y]) => Number(y) < top)
  expect(above.map(([, , , text]) => text)).toEqual([title![3]])
})
