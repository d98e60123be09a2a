/**
 * Paths of the lines between boxes. A line leaves a box at its left or right side, runs straight past the
 * boxes of a column, and bends between columns.
 */
import type { Link } from './graph-model.ts'
import type { PlacedBox, Point } from './placed.ts'

interface Ends {
  readonly from: PlacedBox
  readonly to: PlacedBox
}

export const LABEL_LINE = 17
/** Vertical position at which relations leave and enter a box, measured from its upper edge. */
const PORT_Y = 22
/** Distance between parallel lines. */
const ASIDE = 5
/** Space for the arrowhead. */
const ARROW = 2

export function linkPath(ends: Ends, points: readonly Point[], columns: ReadonlyMap<number, number>): string {
  return pathOf(ends, points, columns, { fromY: PORT_Y, toY: PORT_Y, aside: 0 })
}

/** Line from one role to another. If boxes have no rows for roles, all derivations share one line. */
export function derivedPath(
  { derivations }: Link,
  ends: Ends,
  points: readonly Point[],
  columns: ReadonlyMap<number, number>,
  isDetailed: boolean,
): readonly string[] {
  if (!isDetailed)
    return derivations.length === 0
      ? []
      : [pathOf(ends, points, columns, { fromY: PORT_Y + ASIDE, toY: PORT_Y + ASIDE, aside: ASIDE })]
  return derivations.map(({ from, to }, index) =>
    pathOf(ends, points, columns, {
      fromY: rowY(ends.from, from.role),
      toY: rowY(ends.to, to.role),
      aside: (index + 1) * ASIDE,
    }),
  )
}

function rowY({ rows }: PlacedBox, role: string): number {
  const row = rows.find(each => each.role === role)
  return row === undefined ? PORT_Y : row.y + 12
}

function pathOf(
  { from, to }: Ends,
  points: readonly Point[],
  columns: ReadonlyMap<number, number>,
  { fromY, toY, aside }: { readonly fromY: number; readonly toY: number; readonly aside: number },
): string {
  const isForward = to.x > from.x
  const start = { x: isForward ? from.x + from.width : from.x, y: from.y + fromY }
  const end = { x: isForward ? to.x - ARROW : to.x + to.width + ARROW, y: to.y + toY }
  let path = `M${round(start)}`
  let last: Point = start
  for (const { x, y } of points.slice(1, -1)) {
    const half = columns.get(Math.round(x)) ?? 0
    const sign = isForward ? 1 : -1
    const enter = { x: x - sign * half, y: y + aside }
    path += bend(last, enter)
    last = { x: x + sign * half, y: y + aside }
    if (half > 0) path += `L${round(last)}`
  }
  return path + bend(last, end)
}

function bend(from: Point, to: Point): string {
  const middle = (from.x + to.x) / 2
  return `C${round({ x: middle, y: from.y })} ${round({ x: middle, y: to.y })} ${round(to)}`
}

function round({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`
}
