/** For those who come by keyboard: past the navigation. */
import { useTexts } from '../texts/texts.tsx'

export function SkipLink() {
  return (
    <a className="action skip" href="#content" onClick={skipTo}>
      {useTexts().shell.skip}
    </a>
  )
}

/** Addresses are behind `#`: a link to a part of the page would be one to another page. */
function skipTo(event: { preventDefault(): void }): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}
