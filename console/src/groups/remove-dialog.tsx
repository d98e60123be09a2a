/** Takes something out of a list. */
import { ActionDialog } from '../parts/dialogs.tsx'
import { useWrite, type Write } from '../parts/writes.ts'
import { useTexts } from '../texts/texts.tsx'

export function RemoveDialog({
  label,
  sentence,
  onGone,
  ...removal
}: Required<Write> & { readonly label: string; readonly sentence: string; readonly onGone: () => void }) {
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
        await write(removal)
        // Behind the dialog, which gives the focus back to its button if that is there.
        requestAnimationFrame(() => requestAnimationFrame(onGone))
      }}
    />
  )
}
