/** Link that skips the navigation, for keyboard users. */
import { useTexts } from '../texts/texts.tsx'

export function SkipLink() {
  return (
    <a className="action skip" href="#content" onClick={skipTo}>
      {useTexts().shell.skip}
    </a>
  )
}

/**
 * Moves the focus by code. The link cannot be followed, because a change of the fragment would open another
 * page.
 */
function skipTo(event: { preventDefault(): void }): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}
