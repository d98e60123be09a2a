/**
 * Selects the subject of audit log entries. The user first selects a kind of entity and then one entity of
 * that kind.
 */
import { Choice, KeyInput } from '../../parts/fields.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { isSubject, SUBJECTS, subjectsLike } from './subjects.ts'

const ANYTHING = 'anything'

export function SubjectInput({
  kind,
  name,
  onKind,
  onName,
}: {
  /** Selected kind. Empty if the entries can be about any kind. */
  readonly kind: string
  readonly name: string
  readonly onKind: (kind: string) => void
  readonly onName: (name: string) => void
}) {
  const labels = useTexts().access.audit
  const environment = useCurrentEnvironment()
  const chosen = isSubject(kind) ? kind : null
  return (
    <>
      <Choice
        label={labels.about}
        value={chosen ?? ANYTHING}
        onChange={id => {
          onKind(id === ANYTHING ? '' : id)
          onName('')
        }}
        options={[
          { id: ANYTHING, text: labels.anything },
          ...SUBJECTS.map(id => ({ id, text: labels.subjects[id] })),
        ]}
      />
      {chosen === null ? null : (
        <KeyInput
          key={chosen}
          label={labels.named[chosen]}
          value={name}
          onChange={onName}
          queryKey={environment.key('any', 'audit', 'subjects', chosen)}
          load={subjectsLike(environment, chosen)}
        />
      )}
    </>
  )
}
