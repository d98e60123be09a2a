/**
 * Dialog that revokes a key together with its previous secret. This cannot be undone, which the dialog
 * states.
 */
import { useQueryClient } from '@tanstack/react-query'
import { answerOf, service } from '../../interface/client.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { focusHeading, useFocusAfterRemoval } from '../../parts/focus.ts'
import { notify } from '../../parts/toasts.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { type ApiKey, KEYS, useKeyName, useOpenedNames } from './keys.ts'

export function RevokeKey({ apiKey }: { readonly apiKey: ApiKey }) {
  const texts = useTexts().operations.keys
  const name = useKeyName(apiKey)
  const { project, environment } = useOpenedNames(apiKey)
  const queries = useQueryClient()
  useFocusAfterRemoval(focusHeading)
  const reach = {
    org: texts.reach.org,
    project: texts.reach.project(project ?? ''),
    env: texts.reach.env(`${project} / ${environment}`),
  }[apiKey.object_type]
  const revoke = async (): Promise<void> => {
    const path = { api_key_id: apiKey.id }
    await answerOf(service.DELETE('/v2/api-key/{api_key_id}', { params: { path } }))
    notify(texts.revoked(name))
    void queries.invalidateQueries({ queryKey: [KEYS] })
  }
  return (
    <ActionDialog
      needs="admin"
      trigger={texts.revoke}
      triggerLabel={texts.revokeLabel(name)}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      title={texts.revokeTitle(name)}
      sentence={
        <>
          {texts.revokeSentence(name, reach)}
          {apiKey.object_type === 'org' ? ` ${texts.revokeOwn}` : null}
        </>
      }
      submit={texts.revoke}
      isDanger
      onSubmit={revoke}
    />
  )
}
