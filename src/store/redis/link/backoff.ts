/**
 * Computes pauses between attempts: each is twice as long as the previous one, up to a maximum. Each pause is
 * shortened by a random part, so that nodes that were stopped by the same event do not return at the same
 * time.
 */
export function backoffMs(attempt: number, shortestMs: number, longestMs: number): number {
  const longest = Math.min(longestMs, shortestMs * 2 ** Math.min(attempt, 20))
  return longest * (0.5 + Math.random() / 2)
}
