/**
 * Who is signed in: the key that the user typed. It is in the memory of this tab and in its session storage, so that a reload keeps it;
 * a sign-out, and the end of the tab, forget it. It is in no address and in nothing that lasts.
 */
import { useSyncExternalStore } from 'react'

const STORED = 'verdict.key'

type SignOutReason = 'asked' | 'refused'

interface Session {
  readonly key: string | null
  /** Why nobody is signed in any more; null: nobody was. */
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

/** Forgets the key. `refused`: the service does not take it any more. */
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
