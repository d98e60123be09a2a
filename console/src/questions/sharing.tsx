/** A link to the question, for somebody else. It holds no key: whoever opens it signs in. */
import { useState } from 'react'
import { Action } from '../parts/action.tsx'
import { TextInput } from '../parts/fields.tsx'
import { say } from '../parts/toasts.tsx'
import { useTexts } from '../texts/texts.tsx'

/** Browsers give pages without TLS no clipboard: the link is shown then, to be copied by hand. */
export function Sharing() {
  const texts = useTexts().questions
  const [shown, setShown] = useState<string | null>(null)
  const copy = async (): Promise<void> => {
    const { href } = globalThis.location
    try {
      await navigator.clipboard.writeText(href)
      say(texts.linkCopied)
    } catch {
      setShown(href)
    }
  }
  if (shown !== null) {
    return <TextInput label={texts.link} value={shown} onChange={() => {}} isReadOnly autoFocus />
  }
  return <Action onPress={() => void copy()}>{texts.copyLink}</Action>
}
