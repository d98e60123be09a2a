/**
 * The address within the console, which is the fragment after `#`. Its parts are escaped, because keys can
 * contain any character. Routes receive the escaped parts.
 *
 * If a page has unsaved edits, the user is asked before the page is left. A link is followed only after the
 * user has agreed. After Back and Forward, the browser has already navigated, so the console first returns to
 * the displayed page. For this purpose, each history entry stores its number.
 */
import { useSyncExternalStore } from 'react'
import { holdsEdits, leave } from './leaving.ts'

/**
 * Words of the console at positions of an address where a key is also possible. They start with `~`, which an
 * escaped key never contains.
 */
export const NEW = '~new'
export const USERS = '~users'

/** Address of the displayed page. */
let shown = addressNow()
/** Number of the history entry that belongs to the displayed page. */
let entry = numberNow() ?? 0
const listeners = new Set<() => void>()

history.replaceState({ entry }, '')
addEventListener('popstate', moved)

interface Going {
  /** Whether to replace the current history entry. By default, a new entry is added. */
  readonly replace?: boolean
}

/** The current address, and a function that navigates to another address. */
export function useAddress(): [string, (address: string, going?: Going) => void] {
  return [useSyncExternalStore(listen, () => shown), goTo]
}

/**
 * Address for the router. The router decodes its input, so each `%` is escaped once more. Otherwise keys
 * would be decoded twice, and the key `50%25` would lead to the page of `50%`.
 */
export function useEscapedAddress(): ReturnType<typeof useAddress> {
  const [address, go] = useAddress()
  return [address.replaceAll('%', '%25'), go]
}

/** Converts an address to the form of a link target. */
export function hashOf(address: string): string {
  return `#${address}`
}

/** Escapes a key or another part of an address. A lone surrogate has no escaped form and is replaced. */
export function escaped(part: string): string {
  return encodeURIComponent(part.toWellFormed()).replaceAll('~', '%7E')
}

/** Unescapes a part of an address. If the part is not valid, it is returned unchanged. */
export function partOf(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function goTo(address: string, { replace = false }: Going = {}): void {
  const go = (): void => {
    const number = replace ? entry : entry + 1
    history[replace ? 'replaceState' : 'pushState']({ entry: number }, '', hashOf(address))
    show(addressNow(), number)
  }
  if (isSamePage(address)) go()
  else leave(go)
}

/**
 * Handles a navigation by the browser. The user went through the history or typed an address. A typed address
 * becomes a new history entry.
 */
function moved(): void {
  const address = addressNow()
  const known = numberNow()
  const number = known ?? entry + 1
  if (known === null) history.replaceState({ entry: number }, '')
  const steps = number - entry
  if (!holdsEdits() || isSamePage(address) || steps === 0) return show(address, number)
  history.go(-steps)
  leave(() => history.go(steps))
}

function isSamePage(address: string): boolean {
  return address === shown
}

function show(address: string, number: number): void {
  shown = address
  entry = number
  for (const listener of listeners) listener()
}

function addressNow(): string {
  return `/${location.hash.replace(/^#?\/?/, '')}`
}

/** Number of the current history entry. Null if the entry is new. */
function numberNow(): number | null {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null && 'entry' in state ? Number(state.entry) : null
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
