/**
 * How long to wait before another attempt: twice as long each time, up to a longest pause. Each pause is shortened by a
 * random part, so that nodes that were stopped by the same event do not come back together.
 */
export function pauseMs(attempt: number, shortestMs: number, longestMs: number): number {
  const longest = Math.min(longestMs, shortestMs * 2 ** Math.min(attempt, 20))
  return longest * (0.5 + Math.random() / 2)
}
