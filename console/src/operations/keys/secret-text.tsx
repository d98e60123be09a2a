/** Shows a secret only once. The console does not store the secret, and removes it when the dialog closes. */
import { useRef } from 'react'
import { CopyAction } from '../../parts/copy-action.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function SecretText({ secret }: { readonly secret: string }) {
  const texts = useTexts().operations.keys
  const shown = useRef<HTMLElement>(null)
  return (
    <div className="stack">
      <p>
        <strong>{texts.secretOnce}</strong>
      </p>
      {/* The secret is not in an input field, so that the copy button gets the initial focus. */}
      <p className="secret">
        <span className="heard">{texts.secret}: </span>
        <code ref={shown}>{secret}</code>
      </p>
      <CopyAction
        text={secret}
        label={texts.copySecret}
        copied={texts.copied}
        notCopied={texts.notCopied}
        onRefused={() => getSelection()?.selectAllChildren(shown.current!)}
        autoFocus
      />
    </div>
  )
}
