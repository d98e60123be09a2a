/** Dialog that changes the access level of a key. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { notify } from '../../parts/toasts.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { type ApiKey, KEYS, useKeyName } from './keys.ts'
import { LevelChoice } from './level-choice.tsx'

export function SetLevel({ apiKey }: { readonly apiKey: ApiKey }) {
  const texts = useTexts().operations.keys
  const name = useKeyName(apiKey)
  const queries = useQueryClient()
  const { id, object_type: kind, access_level: present } = apiKey
  const [level, setLevel] = useState(present)
  return (
    <ActionDialog
      needs="admin"
      trigger={texts.setLevel}
      triggerLabel={texts.setLevelOf(name)}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      title={texts.setLevelOf(name)}
      sentence={texts.setLevelSentence(name, texts.levels[level])}
      submit={texts.setLevel}
      isReady={level !== present}
      onOpen={() => setLevel(present)}
      onSubmit={async () => {
        const params = { path: { api_key_id: id } }
        await answerOf(service.PATCH('/v2/api-key/{api_key_id}', { params, body: { access_level: level } }))
        notify(texts.levelSet(name, texts.levels[level]))
        await queries.invalidateQueries({ queryKey: [KEYS] })
      }}
    >
      {() => <LevelChoice kind={kind} value={level} onChange={setLevel} />}
    </ActionDialog>
  )
}
