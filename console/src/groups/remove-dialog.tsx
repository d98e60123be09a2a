/** Takes something out of a list. */
import { ActionDialog } from '../parts/dialogs.tsx'
import { useWrite, type Write } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'
import type { End } from './group-calls.ts'
import { takeBack } from './take-back.ts'

export function RemoveDialog({
  label,
  sentence,
  onGone,
  read,
  undo,
  ...removal
}: Omit<Write, 'undo'> & {
  readonly label: string
  readonly sentence: string
  readonly onGone: () => void
  readonly undo: () => Promise<unknown>
  /** When it ends by now; undefined: it is gone. */
  readonly read: () => Promise<End | undefined>
}) {
  const texts = useTexts().groups
  const write = useWrite()
  return (
    <ActionDialog
      trigger={texts.remove}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      triggerLabel={label}
      title={label}
      sentence={sentence}
      submit={texts.remove}
      isDanger
      onSubmit={async () => {
        await write({ ...removal, undo: () => takeBack(undefined, read, undo) })
        // Behind the dialog, which gives the focus back to its button if that is there.
        requestAnimationFrame(() => requestAnimationFrame(onGone))
      }}
    />
  )
}
