/**
 * Polling interval for states without notification: polling without a pause would take the core from the
 * observed process.
 */
const PAUSE_MS = 10

export function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, PAUSE_MS))
}
