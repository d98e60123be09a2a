/** Whether a load test measured its own client. */

/** From here on the client and not the service may be what was measured. */
const BUSY_PERCENT_MAX = 90

/** How busy the client's thread was, as a part of the time, how many processors it took, and whether the figures are therefore its own. */
export function clientText(busy: number, cpus: number): string {
  const percent = Math.round(busy * 100)
  const told = `client: its thread was busy for ${percent} % of the time, and took ${cpus.toFixed(1)} processors\n`
  if (percent < BUSY_PERCENT_MAX) return told
  return `${told}THE CLIENT WAS THE LIMIT: the service can do more. Run several of these at once, on other machines.\n`
}
