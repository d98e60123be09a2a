/** Detects whether a load test measured its own client instead of the service. */

/** Utilization from which the client is considered the bottleneck, and not the service. */
const BUSY_PERCENT_MAX = 90

/** Returns a text that states how busy the client thread was and whether this limited the results. */
export function clientText(busy: number, cpus: number): string {
  const percent = Math.round(busy * 100)
  const told = `client: its thread was busy for ${percent} % of the time, and took ${cpus.toFixed(1)} processors\n`
  if (percent < BUSY_PERCENT_MAX) return told
  return `${told}THE CLIENT WAS THE LIMIT: the service can do more. Run several of these at once, on other machines.\n`
}
