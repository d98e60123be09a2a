/** Note that a search stopped before its page was full. More results might exist. */
import { useTexts } from '../texts/texts.tsx'

export function CutShortNote() {
  return (
    <p className="note warn" role="status">
      {useTexts().access.cutShort}
    </p>
  )
}
