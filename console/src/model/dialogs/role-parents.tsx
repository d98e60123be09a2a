/** Which roles a role extends: it has all that they have. */
import { useState } from 'react'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { Choice } from '../../parts/fields.tsx'
import { useWrite } from '../../parts/writes.ts'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { ModelRole } from '../model-reads.ts'
import { setExtends } from '../model-writes.ts'

export function RoleParents({
  type,
  role,
  roles,
}: {
  readonly type: string
  readonly role: ModelRole
  readonly roles: readonly ModelRole[]
}) {
  const texts = useTexts().model.graph
  const { path } = usePlace()
  const write = useWrite()
  const others = roles.filter(({ key }) => key !== role.key).map(({ key }) => key)
  const [parent, setParent] = useState<string | null>(null)
  const [first] = others
  if (first === undefined) return null
  const chosen = parent ?? first
  const isExtended = role.extends.includes(chosen)
  const at = { type, role: role.key, parent: chosen }
  return (
    <ActionDialog
      trigger={texts.parents.open}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      triggerLabel={texts.parents.label(role.key)}
      title={texts.parents.title(role.key)}
      sentence={isExtended ? texts.parents.removes(role.key, chosen) : texts.parents.adds(role.key, chosen)}
      submit={isExtended ? texts.remove : texts.add}
      onOpen={() => setParent(null)}
      onSubmit={() =>
        write({
          make: () => setExtends(path, { ...at, extend: !isExtended }),
          said: isExtended ? texts.parents.removed(role.key, chosen) : texts.parents.added(role.key, chosen),
          undo: () => setExtends(path, { ...at, extend: isExtended }),
        })
      }
    >
      {() => (
        <Choice
          label={texts.parents.choose(role.key)}
          value={chosen}
          onChange={setParent}
          options={others.map(key => ({
            id: key,
            note: role.extends.includes(key) ? texts.parents.isNow : undefined,
          }))}
        />
      )}
    </ActionDialog>
  )
}
