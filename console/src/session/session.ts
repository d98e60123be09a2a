/**
 * The session of this tab. It is either an API key that the user typed, or the session of a member, whose
 * cookie the browser holds for all tabs.
 *
 * The key is kept in memory and in the session storage of this tab, so that a reload does not end the
 * session. It is removed when the user signs out or closes the tab. It is never in an address or in
 * persistent storage. Scripts cannot read the cookie of a member. The console sends it together with the CSRF
 * token from `GET /v2/session`.
 */
import { useSyncExternalStore } from 'react'
import type { Account } from './account.ts'

const STORED = 'verdict.key'

/**
 * Reason why a session ended. `asked`: the user signed out. `refused`: the service rejected the key, or the
 * session of the member expired or was ended.
 */
type SignOutReason = 'asked' | 'refused'

export type Session =
  /** The console has not received yet whether the browser has the session of a member. */
  | { readonly kind: 'unknown'; readonly problem: unknown }
  | {
      readonly kind: 'none'
      /** Reason why the last session ended; null if there was none. */
      readonly endedBy: SignOutReason | null
      /** Whether the last session was that of a member. */
      readonly wasMember: boolean
      /** Address at which the issuer ends its own session; null if it offers none. */
      readonly endSessionUrl: string | null
    }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'member'; readonly account: Account }

const UNKNOWN: Session = { kind: 'unknown', problem: null }

let session: Session = stored()
const listeners = new Set<() => void>()

export function currentSession(): Session {
  return session
}

export function signInWithKey(key: string): void {
  sessionStorage.setItem(STORED, key)
  change({ kind: 'key', key })
}

/** Starts or updates the session of a member. A key that was typed in this tab before is removed. */
export function signInAsMember(account: Account): void {
  sessionStorage.removeItem(STORED)
  change({ kind: 'member', account })
}

/** Ends the session in this tab, and removes the key. The cookie of a member is ended by the service. */
export function forgetSession(endedBy: SignOutReason | null, endSessionUrl: string | null = null): void {
  sessionStorage.removeItem(STORED)
  if (session.kind === 'none' && endedBy !== 'asked') return
  change({ kind: 'none', endedBy, wasMember: session.kind === 'member', endSessionUrl })
}

/** The request for the session failed, so it remains unknown. */
export function failToStart(problem: unknown): void {
  change({ kind: 'unknown', problem })
}

/** Identifies the caller of the service. Data of one caller must not be shown to another. */
export function callerOf(of: Session): string | null {
  if (of.kind === 'key') return of.key
  return of.kind === 'member' ? of.account.session_id : null
}

export function useSession(): Session {
  return useSyncExternalStore(listen, () => session)
}

/** Account of the member who is signed in; null for keys. */
export function useAccount(): Account | null {
  const current = useSession()
  return current.kind === 'member' ? current.account : null
}

function stored(): Session {
  const key = sessionStorage.getItem(STORED)
  return key === null ? UNKNOWN : { kind: 'key', key }
}

function change(changed: Session): void {
  session = changed
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
