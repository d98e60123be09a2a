/**
 * Guards unsaved edits: the user is asked before the page that holds them is left. Navigation within the
 * console shows a dialog of the console; leaving the console shows that of the browser.
 */
import { useEffect, useId, useSyncExternalStore } from 'react'

/** Components that hold edits. */
const holders = new Set<string>()

/** Pending navigation that waits for the user's choice. */
let asked: (() => void) | null = null
const listeners = new Set<() => void>()

/** While `isEdited` is true, marks this page as holding unsaved edits. */
export function useEdits(isEdited: boolean): void {
  const id = useId()
  useEffect(() => {
    if (!isEdited) return
    holders.add(id)
    addEventListener('beforeunload', askByBrowser)
    return () => {
      holders.delete(id)
      if (holders.size > 0) return
      removeEventListener('beforeunload', askByBrowser)
      // Without edits, the pending question is obsolete.
      setAsked(null)
    }
  }, [isEdited, id])
}

/**
 * Forgets all unsaved edits, because they were saved or are obsolete. The page can then be left without a
 * question.
 */
export function forgetEdits(): void {
  holders.clear()
  removeEventListener('beforeunload', askByBrowser)
}

export function holdsEdits(): boolean {
  return holders.size > 0
}

/** Navigates immediately, or after the user agrees to discard the edits. */
export function leave(go: () => void): void {
  if (holdsEdits()) setAsked(go)
  else go()
}

/** The pending question; null if there is none. */
export function useLeaveQuestion(): { readonly stay: () => void; readonly discard: () => void } | null {
  const go = useSyncExternalStore(listen, () => asked)
  if (go === null) return null
  return {
    stay: () => setAsked(null),
    discard: () => {
      setAsked(null)
      forgetEdits()
      go()
    },
  }
}

function setAsked(go: (() => void) | null): void {
  asked = go
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function askByBrowser(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
