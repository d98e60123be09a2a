/**
 * Button that copies a link to the check. The link does not contain the API key, so its recipient must sign
 * in.
 */
import { useState } from 'react'
import { CopyAction } from '../parts/copy-action.tsx'
import { TextInput } from '../parts/fields.tsx'
import { useTexts } from '../texts/texts.tsx'

export function Sharing() {
  const texts = useTexts().questions
  const [shown, setShown] = useState<string | null>(null)
  const { href } = globalThis.location
  if (shown !== null) {
    return <TextInput label={texts.link} value={shown} onChange={() => {}} isReadOnly autoFocus />
  }
  return (
    <CopyAction
      text={href}
      label={texts.copyLink}
      copied={texts.linkCopied}
      onRefused={() => setShown(href)}
    />
  )
}
