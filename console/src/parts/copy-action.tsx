/** Copies a text, and says beside itself whether it did. */
import { useState } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { Action } from './action.tsx'

export function CopyAction({
  text,
  label,
  copied,
  notCopied,
  onRefused,
  autoFocus = false,
}: {
  readonly text: string
  /** Absent: that it copies. */
  readonly label?: string
  /** What is said then. */
  readonly copied: string
  /** Absent: that one has to do it by hand. */
  readonly notCopied?: string
  /** Browsers give pages without TLS no clipboard: brings the text before whoever copies it by hand. */
  readonly onRefused?: () => void
  readonly autoFocus?: boolean
}) {
  const texts = useTexts().parts
  const [said, setSaid] = useState<string | null>(null)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid(copied)
    } catch {
      setSaid(notCopied ?? texts.notCopied)
      onRefused?.()
    }
  }
  return (
    <span className="copying">
      <Action onPress={() => void copy()} autoFocus={autoFocus}>
        {label ?? texts.copy}
      </Action>
      <span className="small" aria-live="polite">
        {said}
      </span>
    </span>
  )
}
