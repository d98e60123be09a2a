/** Dialog that changes the expiration time of an existing grant. */
import { useState } from 'react'
import type { End, Grant } from '../interface/granted.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { EndInput } from '../parts/ends.tsx'
import { useWrite } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'
import { granting, ConflictNote, useSeen } from './granting.tsx'
import { fieldErrorOf, useUntil } from './field-errors.ts'

export function EndDialog({
  what,
  end: present,
  grant,
}: {
  /** Name of the grant within a sentence: `the membership of alice`. */
  readonly what: string
  readonly end: End
  readonly grant: Grant
}) {
  const texts = useTexts().groups
  const write = useWrite()
  const until = useUntil()
  const seen = useSeen()
  // Expiration time when the dialog was opened. If another user changes it in the meantime, this value stays,
  // because the user of the dialog has not seen the new one.
  const [shown, setShown] = useState(present)
  const [end, setEnd] = useState(present)
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={texts.changeEnd}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      triggerLabel={texts.changeEndOf(what)}
      title={texts.changeEnd}
      sentence={texts.endSentence(what, until(end))}
      submit={texts.change}
      onOpen={() => {
        setShown(present)
        setEnd(present)
        seen.forget()
      }}
      isShownAtField={problem => fieldErrorOf(problem, 'expires_at') !== null}
      onSubmit={() =>
        seen.noting(
          what,
          write({
            ...granting(grant, end, seen.endOf(what, shown)),
            message: texts.endChanged(what, until(end)),
          }),
        )
      }
    >
      {problem => (
        <>
          <EndInput initial={shown} onChange={setEnd} problem={fieldErrorOf(problem, 'expires_at')} />
          <ConflictNote seen={seen} what={what} gone="endGone" />
        </>
      )}
    </ActionDialog>
  )
}
