/** Dialogs that grant a level, revoke a grant, and remove a member or a group. */
import { ActionDialog } from '../parts/dialogs.tsx'
import { focusHeading, useFocusAfterRemoval } from '../parts/focus.ts'
import { notify } from '../parts/toasts.tsx'
import { useTexts } from '../texts/texts.tsx'
import { GrantFormDialog } from './grant-form-dialog.tsx'
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
  return (
    <GrantFormDialog
      trigger={texts.grant}
      triggerLook={{ isSmall: true }}
      triggerLabel={texts.grantOf(name)}
      title={texts.grantOf(name)}
      sentence={(level, object) => sentence(name, level, object)}
      submit={texts.grant}
      onClose={onClose}
      onSubmit={async permission => {
        await onGrant(permission)
        notify(message)
      }}
    />
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
