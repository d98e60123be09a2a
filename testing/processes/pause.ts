/** Polling interval: without a pause, polling would take the core from the observed process. */
const PAUSE_MS = 10

export function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, PAUSE_MS))
}
