/** Frame of the dialogs with a grant: the fields of the grant, and further fields before them. */
import { type ComponentProps, type ReactNode, useState } from 'react'
import { ActionDialog } from '../parts/dialogs.tsx'
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

type DialogProps<Result> = ComponentProps<typeof ActionDialog<Result>>

export function GrantFormDialog<Result>({
  sentence,
  isReady = true,
  isShownAtField = () => false,
  onOpen,
  onSubmit,
  children,
  ...dialog
}: Omit<DialogProps<Result>, 'needs' | 'sentence' | 'onSubmit'> & {
  readonly sentence: (level: string, object: string) => string
  readonly onSubmit: (permission: Permission) => Promise<Result>
  /** Fields before those of the grant. */
  readonly children?: (problem: unknown) => ReactNode
}) {
  const texts = useTexts().members
  const managed = useManaged('admin')
  const [draft, setDraft] = useState<GrantDraft>(emptyDraft(managed))
  return (
    <ActionDialog
      {...dialog}
      needs="admin"
      sentence={sentence(levelName(draft.level, texts), objectName(draft, texts))}
      isReady={isReady && isComplete(draft)}
      onOpen={() => {
        setDraft(emptyDraft(managed))
        onOpen?.()
      }}
      isShownAtField={problem => isShownAtField(problem) || isAboutGrant(problem, draft)}
      onSubmit={() => onSubmit(permissionOf(draft))}
    >
      {problem => (
        <>
          {children?.(problem)}
          <GrantFields {...{ draft, onChange: setDraft, managed, problem }} />
        </>
      )}
    </ActionDialog>
  )
}
