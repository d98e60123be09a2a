/** Changes when something ends that is granted already. */
import { useState } from 'react'
import { ActionDialog } from '../parts/dialogs.tsx'
import { EndInput } from '../parts/ends.tsx'
import { useWrite } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'
import type { End } from './group-calls.ts'
import { saidOf, useUntil } from './said.ts'

export function EndDialog({
  what,
  end: present,
  onChange,
}: {
  /** What ends, as part of a sentence: `the membership of alice`. */
  readonly what: string
  readonly end: End
  readonly onChange: (end: End) => Promise<unknown>
}) {
  const texts = useTexts().groups
  const write = useWrite()
  const until = useUntil()
  const [end, setEnd] = useState(present)
  return (
    <ActionDialog
      trigger={texts.changeEnd}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      triggerLabel={texts.changeEndOf(what)}
      title={texts.changeEnd}
      sentence={texts.endSentence(what, until(end))}
      submit={texts.change}
      onOpen={() => setEnd(present)}
      isSaidBeside={problem => saidOf(problem, 'expires_at') !== null}
      onSubmit={() =>
        write({
          make: () => onChange(end),
          said: texts.endChanged(what, until(end)),
          undo: () => onChange(present),
        })
      }
    >
      {problem => <EndInput initial={present} onChange={setEnd} problem={saidOf(problem, 'expires_at')} />}
    </ActionDialog>
  )
}
