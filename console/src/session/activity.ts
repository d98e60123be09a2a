/**
 * Distinguishes requests that an action of the user causes from requests that the console sends by itself.
 * Only the former extend the session of a member: an open page that polls must not keep a session alive after
 * the user has left.
 */

/** Time after an action within which requests count as caused by it. */
const CAUSED_MS = 2000
/** Screen readers press buttons by `click` events alone. */
const ACTIONS = ['keydown', 'pointerdown', 'click', 'wheel', 'popstate'] as const

/** The user opened the page, which is an action. */
let actedAt = Date.now()
let usedAt = Date.now()
const listeners = new Set<() => void>()

for (const action of ACTIONS) addEventListener(action, act, { passive: true, capture: true })

function act(): void {
  actedAt = Date.now()
  for (const listener of listeners) listener()
}

/**
 * Headers for a request of a member that is sent now. `X-Background` states that no action of the user caused
 * it.
 */
export function causeHeaders(): { readonly 'X-Background'?: '1' } {
  if (Date.now() - actedAt > CAUSED_MS) return { 'X-Background': '1' }
  usedAt = Date.now()
  return {}
}

/** Time of the last request of this tab that extended the session. */
export function lastUse(): number {
  return usedAt
}

/** Calls `listener` at each action of the user. Returns a function that stops this. */
export function onAction(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
