/** Between two looks at what nobody tells of: looking without pause would take the core from what is waited for. */
const PAUSE_MS = 10

export function pause(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, PAUSE_MS))
}
