/** Shows a secret only once. The console does not store the secret, and removes it when the dialog closes. */
import { useRef } from 'react'
import { CopyAction } from './copy-action.tsx'

export function SecretText({
  secret,
  once,
  name,
  copy,
  copied,
  notCopied,
}: {
  readonly secret: string
  /** States that the secret is not shown again. */
  readonly once: string
  /** Name of the secret for screen readers. */
  readonly name: string
  readonly copy: string
  readonly copied: string
  readonly notCopied: string
}) {
  const shown = useRef<HTMLElement>(null)
  return (
    <div className="stack">
      <p>
        <strong>{once}</strong>
      </p>
      {/* The secret is not in an input field, so that the copy button gets the initial focus. */}
      <p className="secret">
        <span className="heard">{name}: </span>
        <code ref={shown}>{secret}</code>
      </p>
      <CopyAction
        text={secret}
        label={copy}
        copied={copied}
        notCopied={notCopied}
        onRefused={() => getSelection()?.selectAllChildren(shown.current!)}
        autoFocus
      />
    </div>
  )
}
