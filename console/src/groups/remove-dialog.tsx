/** Dialog that removes an entry from a list. */
import { useState } from 'react'
import type { End, Grant } from '../interface/granted.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { useFocusAfterRemoval } from '../parts/focus.ts'
import { useWrite } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'
import { ConflictNote, useSeen } from './granting.tsx'

export function RemoveDialog({
  what,
  label,
  sentence,
  message,
  end,
  grant,
  onGone,
}: {
  /** Name of the entry within a sentence: `the membership of alice`. */
  readonly what: string
  readonly label: string
  readonly sentence: string
  readonly message: string
  readonly end: End
  readonly grant: Grant
  readonly onGone: () => void
}) {
  const texts = useTexts().groups
  const write = useWrite()
  const seen = useSeen()
  useFocusAfterRemoval(onGone)
  const [shown, setShown] = useState(end)
  const present = seen.endOf(what, shown)
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={texts.remove}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      triggerLabel={label}
      title={label}
      sentence={sentence}
      submit={texts.remove}
      isDanger
      isReady={present !== undefined}
      onOpen={() => {
        setShown(end)
        seen.forget()
      }}
      onSubmit={async () => {
        if (present === undefined) return
        const removal = write({
          make: () => grant.drop(present),
          message,
          undo: () => grant.put(present, undefined),
        })
        await seen.noting(what, removal)
      }}
      // If the dialog has no content to read first, its button gets the focus.
      {...(seen.reported.has(what) && { children: () => <ConflictNote seen={seen} what={what} /> })}
    />
  )
}
