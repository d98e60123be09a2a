/** Button that copies a text and then shows whether copying succeeded. */
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
  /** Text of the button; absent: a default. */
  readonly label?: string
  /** Text after a successful copy. */
  readonly copied: string
  /** Text after a failure. By default, it advises the user to copy the text manually. */
  readonly notCopied?: string
  /**
   * Called if the clipboard is not available, for example on pages without TLS. It should select the text, so
   * that the user can copy it manually.
   */
  readonly onRefused?: () => void
  readonly autoFocus?: boolean
}) {
  const texts = useTexts().parts
  const [outcome, setOutcome] = useState<string | null>(null)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setOutcome(copied)
    } catch {
      setOutcome(notCopied ?? texts.notCopied)
      onRefused?.()
    }
  }
  return (
    <span className="copying">
      <Action onPress={() => void copy()} autoFocus={autoFocus}>
        {label ?? texts.copy}
      </Action>
      <span className="small" aria-live="polite">
        {outcome}
      </span>
    </span>
  )
}
