/**
 * Dialog that gives a key a new secret and shows this secret. The previous secret stays valid for the time
 * that the user selects.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { Choice } from '../../parts/fields.tsx'
import { useSpoken } from '../../texts/texts.tsx'
import { type ApiKey, KEYS, useKeyName } from './keys.ts'
import { KeySecret } from './key-secret.tsx'

const OVERLAPS = [0, 600, 3_600, 86_400, 604_800, 2_592_000] as const
type Overlap = (typeof OVERLAPS)[number]
const HOUR: Overlap = 3_600

export function RotateKey({ apiKey }: { readonly apiKey: ApiKey }) {
  const { texts, moment } = useSpoken()
  const labels = texts.operations.keys
  const name = useKeyName(apiKey)
  const queries = useQueryClient()
  const [overlap, setOverlap] = useState<Overlap>(HOUR)
  const { id, object_type, former_secret_valid_until: former } = apiKey
  // An organization key might be the key of the session. If its previous secret became invalid immediately,
  // the session would end before the user has read the new secret.
  const isMaybeOwn = object_type === 'org'
  return (
    <ActionDialog
      needs="admin"
      trigger={labels.rotate}
      triggerLabel={labels.rotateLabel(name)}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      title={labels.rotateTitle(name)}
      sentence={
        <>
          {overlap === 0 ? labels.rotateAtOnce(name) : labels.rotateSentence(name, labels.overlaps[overlap])}
          {former === undefined ? null : ` ${labels.formerEnds(moment(former))}`}
        </>
      }
      submit={labels.rotate}
      onOpen={() => setOverlap(HOUR)}
      onClose={() => void queries.invalidateQueries({ queryKey: [KEYS] })}
      onSubmit={() =>
        answerOf(
          service.POST('/v2/api-key/{api_key_id}/rotate-secret', {
            params: { path: { api_key_id: id } },
            body: { overlap_seconds: overlap },
          }),
        )
      }
      outcome={{
        title: labels.rotatedTitle,
        content: ({ secret }) => <KeySecret secret={secret ?? ''} />,
        close: labels.close,
      }}
    >
      {() => (
        <Choice
          label={labels.overlap}
          {...(isMaybeOwn ? { description: labels.ownOverlap } : {})}
          value={String(overlap)}
          onChange={chosen => setOverlap(Number(chosen) as Overlap)}
          options={OVERLAPS.filter(seconds => seconds > 0 || !isMaybeOwn).map(seconds => ({
            id: String(seconds),
            text: labels.overlaps[seconds],
          }))}
        />
      )}
    </ActionDialog>
  )
}
