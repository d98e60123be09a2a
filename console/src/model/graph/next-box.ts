/** Finds the box to which an arrow key moves the focus. */
import type { PlacedBox } from './placed.ts'

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
}

/**
 * Weight of the distance perpendicular to the direction of the key. A box to the side counts as farther away
 * than a box straight ahead.
 */
const ASIDE = 2

/** `ordered` contains the boxes in reading order. Returns null if there is no box in the direction. */
export function nextBox(
  ordered: readonly PlacedBox[],
  from: string | undefined,
  key: string,
): PlacedBox | null {
  if (key === 'Home') return ordered[0] ?? null
  if (key === 'End') return ordered.at(-1) ?? null
  const direction = DIRECTIONS[key]
  const start = ordered.find(box => box.key === from)
  if (direction === undefined || start === undefined) return null
  const [dx, dy] = direction
  let best: PlacedBox | null = null
  let nearest = Number.POSITIVE_INFINITY
  for (const box of ordered) {
    const x = box.x + box.width / 2 - start.x - start.width / 2
    const y = box.y + box.height / 2 - start.y - start.height / 2
    const ahead = x * dx + y * dy
    if (ahead <= 1) continue
    const distance = ahead + ASIDE * Math.abs(x * dy - y * dx)
    if (distance < nearest) [best, nearest] = [box, distance]
  }
  return best
}
