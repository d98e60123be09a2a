/**
 * Edits that are not saved yet. Whoever would leave the page that holds them, by whichever way, is asked first: by a dialog of the console
 * where the way is within it, by the browser where the page itself would go.
 */
import { useEffect, useId, useSyncExternalStore } from 'react'

/** The pages, or parts of one, that hold edits. */
const holders = new Set<string>()

/** How to leave, where it was asked for and nobody has answered yet. */
let asked: (() => void) | null = null
const listeners = new Set<() => void>()

/** Says while `isEdited` that this page holds what is not saved. */
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
      // There is nothing to ask about any more.
      setAsked(null)
    }
  }, [isEdited, id])
}

/** What was edited is saved, or of no use any more: nobody is asked before the page is left. */
export function forgetEdits(): void {
  holders.clear()
  removeEventListener('beforeunload', askByBrowser)
}

export function holdsEdits(): boolean {
  return holders.size > 0
}

/** Leaves at once, or when the reader has said that the edits may go. */
export function leave(go: () => void): void {
  if (holdsEdits()) setAsked(go)
  else go()
}

/** The question that is to be answered; null: there is none. */
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
