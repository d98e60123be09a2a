/** A search that stopped before its page was full says so: there may be more. */
import { useTexts } from '../texts/texts.tsx'

export function CutShortNote() {
  return (
    <p className="note warn" role="status">
      {useTexts().access.cutShort}
    </p>
  )
}
