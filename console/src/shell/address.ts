/**
 * The address within the console: the fragment after `#`. Its parts are escaped, because keys can contain any
 * character, and routes receive them as they are in the address.
 *
 * A page with unsaved edits asks before it is left. Links wait for the response. Back and Forward cannot
 * wait, because the browser has already navigated; they are reverted to the displayed page first. For that
 * purpose, each history entry stores its number.
 */
import { useSyncExternalStore } from 'react'
import { holdsEdits, leave } from './leaving.ts'

/**
 * Words of the console in positions where a key can be. They start with `~`, which `escaped` never leaves in
 * a key.
 */
export const NEW = '~new'
export const USERS = '~users'

/** Address of the displayed page. */
let shown = addressNow()
/** Number of the history entry of the displayed page. */
let entry = numberNow() ?? 0
const listeners = new Set<() => void>()

history.replaceState({ entry }, '')
addEventListener('popstate', moved)

interface Going {
  /** Replaces the current history entry instead of adding one. */
  readonly replace?: boolean
}

/** The current address, and a function that navigates to another one. */
export function useAddress(): [string, (address: string, going?: Going) => void] {
  return [useSyncExternalStore(listen, () => shown), goTo]
}

/**
 * Address for the router. The router decodes its input, so each `%` is escaped once more and nothing is
 * decoded twice. Otherwise the key `50%25` would lead to the page of `50%`.
 */
export function useEscapedAddress(): ReturnType<typeof useAddress> {
  const [address, go] = useAddress()
  return [address.replaceAll('%', '%25'), go]
}

/** Address in the form of a link target. */
export function hashOf(address: string): string {
  return `#${address}`
}

/** Escapes a key or another part for an address. Lone surrogates have no escaped form and are replaced. */
export function escaped(part: string): string {
  return encodeURIComponent(part.toWellFormed()).replaceAll('~', '%7E')
}

/** Unescapes a part of an address. A part that is not valid escaped text is returned unchanged. */
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
 * Handles navigation by the browser: through the history, or to an address that the user typed, which becomes
 * the next entry.
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

/** Number of the current history entry; null if the entry is new. */
function numberNow(): number | null {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null && 'entry' in state ? Number(state.entry) : null
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
