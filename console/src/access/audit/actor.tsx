/**
 * The author of a change: a member, an API key, shown with its name if the session can read the key, or the
 * service itself. If the client claimed an actor, the text states which key claimed it (administration.md
 * N9).
 */
import { useTexts } from '../../texts/texts.tsx'
import { useKeyName } from './keys.ts'
import type { Entry } from './entry-summary.ts'

const SHORT_ID_LENGTH = 8

export function Actor({ entry }: { readonly entry: Entry }) {
  const labels = useTexts().access.audit
  const { actor, api_key_id: id, request_id: request } = entry
  // An older node does not send the member.
  if (!actor) {
    if (id !== null) return <Key id={id} unnamed={labels.keyNumber} />
    return <span>{request === '' ? labels.service : labels.adminKey}</span>
  }
  if (actor.kind === 'member') {
    return (
      <span title={actor.subject}>
        <bdi className="key">{actor.name ?? actor.subject}</bdi>{' '}
        <span className="soft small">{labels.signedInAt(hostOf(actor.issuer))}</span>
      </span>
    )
  }
  return (
    <span>
      <bdi className="key">{labels.claimed(actor.name, actor.on_behalf_of.join(', '))}</bdi>{' '}
      <span className="soft small">
        {id === null ? (
          labels.claimedByAdminKey
        ) : (
          <>
            {labels.claimedByKey} <Key id={id} unnamed="…" />
          </>
        )}
      </span>
    </span>
  )
}

/** The host of the issuer, which is shorter than its address. */
function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer
}

/** `unnamed`: text before the end of the id, if the name of the key is not known. */
function Key({ id, unnamed }: { readonly id: string; readonly unnamed: string }) {
  const name = useKeyName(id)
  if (name !== null) return <span title={id}>{name}</span>
  return (
    <span title={id}>
      {unnamed} <span className="mono">{id.slice(-SHORT_ID_LENGTH)}</span>
    </span>
  )
}
