/**
 * Protects unsaved edits: the user is asked before the page that contains them is left. For a navigation
 * within the console, the console shows a dialog. If the user leaves the console, the browser shows its own
 * dialog.
 */
import { useEffect, useId, useSyncExternalStore } from 'react'

/** Components that contain unsaved edits. */
const holders = new Set<string>()

/**
 * Navigation that is performed if the user agrees to discard the edits. Null if the user is not being asked.
 */
let asked: (() => void) | null = null
const listeners = new Set<() => void>()

/** Marks this page as one with unsaved edits while `isEdited` is true. */
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
      // If no edits are left, the user need not be asked any more.
      setAsked(null)
    }
  }, [isEdited, id])
}

/**
 * Forgets all unsaved edits, because they were saved or are no longer needed. The page can then be left
 * without a dialog.
 */
export function forgetEdits(): void {
  holders.clear()
  removeEventListener('beforeunload', askByBrowser)
}

export function holdsEdits(): boolean {
  return holders.size > 0
}

/** Calls `go`. If there are unsaved edits, calls it only after the user has agreed to discard them. */
export function leave(go: () => void): void {
  if (holdsEdits()) setAsked(go)
  else go()
}

/** The question that the user must answer. Null if there is none. */
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
