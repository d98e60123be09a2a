/** Dialogs that grant a level, revoke a grant, and remove a member or a group. */
import { useState } from 'react'
import { ActionDialog } from '../parts/dialogs.tsx'
import { focusHeading, useFocusAfterRemoval } from '../parts/focus.ts'
import { notify } from '../parts/toasts.tsx'
import { useManaged } from '../session/held.ts'
import { useTexts } from '../texts/texts.tsx'
import {
  emptyDraft,
  type GrantDraft,
  isComplete,
  levelName,
  objectName,
  permissionOf,
} from './grant-draft.ts'
import { GrantFields, isAboutGrant } from './grant-fields.tsx'
import type { Permission } from './member-reads.ts'

export function GrantDialog({
  name,
  sentence,
  message,
  onGrant,
  onClose,
}: {
  readonly name: string
  readonly sentence: (name: string, level: string, object: string) => string
  readonly message: string
  readonly onGrant: (permission: Permission) => Promise<unknown>
  readonly onClose: () => void
}) {
  const texts = useTexts().members
  const managed = useManaged('admin')
  const [draft, setDraft] = useState<GrantDraft>(emptyDraft(managed))
  return (
    <ActionDialog
      needs="admin"
      trigger={texts.grant}
      triggerLook={{ isSmall: true }}
      triggerLabel={texts.grantOf(name)}
      title={texts.grantOf(name)}
      sentence={sentence(name, levelName(draft.level, texts), objectName(draft, texts))}
      submit={texts.grant}
      isReady={isComplete(draft)}
      onOpen={() => setDraft(emptyDraft(managed))}
      onClose={onClose}
      isShownAtField={problem => isAboutGrant(problem, draft)}
      onSubmit={async () => {
        await onGrant(permissionOf(draft))
        notify(message)
      }}
    >
      {problem => <GrantFields {...{ draft, onChange: setDraft, managed, problem }} />}
    </ActionDialog>
  )
}

/** Asks whether to revoke or remove something, which cannot be undone. */
export function RemovalDialog({
  trigger,
  label,
  sentence,
  message,
  onRemove,
  onClose,
}: {
  readonly trigger: string
  readonly label: string
  readonly sentence: string
  readonly message: string
  readonly onRemove: () => Promise<unknown>
  readonly onClose: () => void
}) {
  useFocusAfterRemoval(focusHeading)
  return (
    <ActionDialog
      needs="admin"
      trigger={trigger}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      triggerLabel={label}
      title={label}
      sentence={sentence}
      submit={trigger}
      isDanger
      onClose={onClose}
      onSubmit={async () => {
        await onRemove()
        notify(message)
      }}
    />
  )
}
