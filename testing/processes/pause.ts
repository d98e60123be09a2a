/** Pause between two polls. Without it, polling would use the core of the observed process. */
const PAUSE_MS = 10

export function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, PAUSE_MS))
}
