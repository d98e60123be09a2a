/** Keeps the focus on the page when the element that had it is removed. */
import { useEffect, useRef } from 'react'

/**
 * Calls `moveFocus` when the component was removed from the page together with the focus, for example when a
 * dialog deleted the row that contains the button of the dialog.
 */
export function useFocusAfterRemoval(moveFocus: () => void): void {
  const latest = useRef(moveFocus)
  useEffect(() => {
    latest.current = moveFocus
  })
  useEffect(
    () => () => {
      // A closed dialog returns the focus to its button in the next frame, if the button still exists.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          if (document.activeElement === document.body) latest.current()
        }),
      )
    },
    [],
  )
}

/** Moves the focus to the top of the page. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>('h1')?.focus()
}
