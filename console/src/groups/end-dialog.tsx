/**
 * Changes when something ends that is granted already. Where somebody else changed that meanwhile, nothing is written: what is there now is
 * shown, and whoever still wants the change presses once more.
 */
import { useState } from 'react'
import { ActionDialog } from '../parts/dialogs.tsx'
import { Problem } from '../interface/problem.ts'
import { EndInput } from '../parts/ends.tsx'
import { useWrite } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'
import type { End } from './group-calls.ts'
import { saidOf, useUntil } from './said.ts'
import { takeBack } from './take-back.ts'

export function EndDialog({
  what,
  end: present,
  read,
  onChange,
}: {
  /** What ends, as part of a sentence: `the membership of alice`. */
  readonly what: string
  readonly end: End
  /** When it ends by now; undefined: it is gone. */
  readonly read: () => Promise<End | undefined>
  readonly onChange: (end: End) => Promise<unknown>
}) {
  const texts = useTexts().groups
  const write = useWrite()
  const until = useUntil()
  const [end, setEnd] = useState(present)
  const [seen, setSeen] = useState<End | undefined>(present)
  const [isChanged, setIsChanged] = useState(false)
  const change = async (): Promise<void> => {
    const now = await read()
    if (now !== seen) {
      setSeen(now)
      setIsChanged(true)
      throw Problem.stale()
    }
    await write({
      make: () => onChange(end),
      said: texts.endChanged(what, until(end)),
      undo: seen === undefined ? undefined : () => takeBack(end, read, () => onChange(seen)),
    })
  }
  return (
    <ActionDialog
      trigger={texts.changeEnd}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      triggerLabel={texts.changeEndOf(what)}
      title={texts.changeEnd}
      sentence={texts.endSentence(what, until(end))}
      submit={texts.change}
      onOpen={() => {
        setEnd(present)
        setSeen(present)
        setIsChanged(false)
      }}
      isSaidBeside={problem => saidOf(problem, 'expires_at') !== null}
      onSubmit={change}
    >
      {problem => (
        <>
          <EndInput initial={present} onChange={setEnd} problem={saidOf(problem, 'expires_at')} />
          {isChanged ? (
            <p className="note warn">
              {seen === undefined ? texts.endGone(what) : texts.endNow(what, until(seen))}
            </p>
          ) : null}
        </>
      )}
    </ActionDialog>
  )
}
