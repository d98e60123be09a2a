/**
 * The session, which consists of the API key that the user typed. The key is kept in memory and in the
 * session storage of this tab, so that a reload does not end the session. It is removed when the user signs
 * out or closes the tab. It is never in an address or in persistent storage.
 */
import { useSyncExternalStore } from 'react'

const STORED = 'verdict.key'

type SignOutReason = 'asked' | 'refused'

interface Session {
  readonly key: string | null
  /** Reason why the last session ended; null if there was none. */
  readonly endedBy: SignOutReason | null
}

let session: Session = { key: sessionStorage.getItem(STORED), endedBy: null }
const listeners = new Set<() => void>()

export function currentKey(): string | null {
  return session.key
}

export function signIn(key: string): void {
  sessionStorage.setItem(STORED, key)
  change({ key, endedBy: null })
}

/**
 * Ends the session and removes the key. The reason `refused` means that the service no longer accepts the
 * key.
 */
export function signOut(reason: SignOutReason): void {
  sessionStorage.removeItem(STORED)
  if (session.key !== null) change({ key: null, endedBy: reason })
}

export function useSession(): Session {
  return useSyncExternalStore(listen, () => session)
}

function change(changed: Session): void {
  session = changed
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
