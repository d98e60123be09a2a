/**
 * Where one is: the part of the address behind `#`. Its parts are escaped, since keys may hold anything, and routes hand
 * them on as they are in the address.
 *
 * A page with edits is not left before its reader was asked. A link waits for that. Back and Forward do not: the browser has gone by then, so
 * it is sent back to where the page stands. For that each entry of the history holds its number.
 */
import { useSyncExternalStore } from 'react'
import { holdsEdits, leave } from './leaving.ts'

/** Words of the console where a key could stand. They begin with `~`, which `escaped` leaves in no key. */
export const NEW = '~new'
export const USERS = '~users'

/** The address of what is on the screen. */
let shown = addressNow()
/** The number of its entry. */
let entry = numberNow() ?? 0
const listeners = new Set<() => void>()

history.replaceState({ entry }, '')
addEventListener('popstate', moved)

interface Going {
  /** In place of the present entry of the history. */
  readonly replace?: boolean
}

/** The address as it is, and how to go to another one. */
export function useAddress(): [string, (address: string, going?: Going) => void] {
  return [useSyncExternalStore(listen, () => shown), goTo]
}

/**
 * Where the router reads the address. It decodes what it is given: with each `%` escaped once more it comes to the address as it is, and
 * nothing is decoded twice. Else the key `50%25` would lead to the page of `50%`.
 */
export function useEscapedAddress(): ReturnType<typeof useAddress> {
  const [address, go] = useAddress()
  return [address.replaceAll('%', '%25'), go]
}

/** As links have it. */
export function hashOf(address: string): string {
  return `#${address}`
}

/** What stands for a key, or for anything else, between two `/` of an address. Half a surrogate has no escaped form. */
export function escaped(part: string): string {
  return encodeURIComponent(part.toWellFormed()).replaceAll('~', '%7E')
}

/** A part as it was before it was put into an address. One that nobody escaped is taken as it is. */
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

/** The browser has gone elsewhere in its history, or to an address that somebody typed, which is an entry behind the present one. */
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

/** The number of the entry of the history at which the browser is; null: it is new. */
function numberNow(): number | null {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null && 'entry' in state ? Number(state.entry) : null
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
