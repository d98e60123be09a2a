/** A secret that is read once: it is on the screen, in nothing that is kept, and gone when its dialog closes. */
import { useState } from 'react'
import { Action } from '../../parts/action.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function SecretText({ secret }: { readonly secret: string }) {
  const texts = useTexts().operations.keys
  const [said, setSaid] = useState<string | null>(null)
  const copy = async (): Promise<void> => {
    try {
      // There is none where the page came without TLS.
      await navigator.clipboard.writeText(secret)
      setSaid(texts.copied)
    } catch {
      setSaid(texts.notCopied)
    }
  }
  return (
    <div className="stack">
      <p>
        <strong>{texts.secretOnce}</strong>
      </p>
      <div className="secret">
        <TextInput label={texts.secret} value={secret} onChange={() => {}} isReadOnly />
        <Action onPress={() => void copy()} autoFocus>
          {texts.copySecret}
        </Action>
      </div>
      <p className="small" aria-live="polite">
        {said}
      </p>
    </div>
  )
}
