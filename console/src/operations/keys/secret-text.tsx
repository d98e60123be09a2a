/** A secret that is read once: it is on the screen, in nothing that is kept, and gone when its dialog closes. */
import { useRef, useState } from 'react'
import { Action } from '../../parts/action.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function SecretText({ secret }: { readonly secret: string }) {
  const texts = useTexts().operations.keys
  const [said, setSaid] = useState<string | null>(null)
  const shown = useRef<HTMLElement>(null)
  const copy = async (): Promise<void> => {
    try {
      // There is none where the page came without TLS.
      await navigator.clipboard.writeText(secret)
      setSaid(texts.copied)
    } catch {
      getSelection()?.selectAllChildren(shown.current!)
      setSaid(texts.notCopied)
    }
  }
  return (
    <div className="stack">
      <p>
        <strong>{texts.secretOnce}</strong>
      </p>
      {/* No field: what has the focus first is what copies it. */}
      <p className="secret">
        <span className="heard">{texts.secret}: </span>
        <code ref={shown}>{secret}</code>
      </p>
      <div className="row">
        <Action onPress={() => void copy()} autoFocus>
          {texts.copySecret}
        </Action>
        <span className="small" aria-live="polite">
          {said}
        </span>
      </div>
    </div>
  )
}
