/**
 * The author of a change: either an API key, shown with its name if the session can read the key, or the
 * service itself.
 */
import { useTexts } from '../../texts/texts.tsx'
import { useKeyName } from './keys.ts'
import type { Entry } from './entry-summary.ts'

const SHORT_ID_LENGTH = 8

export function Actor({ entry: { api_key_id: id, request_id: request } }: { readonly entry: Entry }) {
  const labels = useTexts().access.audit
  const name = useKeyName(id)
  if (id === null) return <span>{request === '' ? labels.service : labels.adminKey}</span>
  if (name !== null) return <span title={id}>{name}</span>
  return (
    <span title={id}>
      {labels.keyNumber} <span className="mono">{id.slice(-SHORT_ID_LENGTH)}</span>
    </span>
  )
}
