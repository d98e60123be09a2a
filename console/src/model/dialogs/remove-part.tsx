/** Takes a part of the model away, after a sentence that says what goes with it. */
import { useLocation } from 'wouter'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { useWrite } from '../../parts/writes.ts'
import { useTexts } from '../../texts/texts.tsx'

export function RemovePart<Removed>({
  label,
  title,
  sentence,
  said,
  leadsTo,
  remove,
  undo,
}: {
  /** What the button is called by those who hear. */
  readonly label: string
  readonly title: string
  readonly sentence: string
  readonly said: string
  /** Where to go when the thing that the page is about is gone. */
  readonly leadsTo?: string
  /** Answers what `undo` needs to know of it. */
  readonly remove: () => Promise<Removed>
  /** Absent: there is no way back, and the sentence says so. */
  readonly undo?: (removed: Removed) => Promise<unknown>
}) {
  const texts = useTexts().model.graph
  const write = useWrite()
  const [, go] = useLocation()
  return (
    <ActionDialog
      trigger={leadsTo === undefined ? <span aria-hidden="true">✕</span> : texts.remove}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      triggerLabel={label}
      title={title}
      sentence={sentence}
      submit={texts.remove}
      isDanger
      onSubmit={() => {
        let removed: Removed | null = null
        return write({
          make: async () => {
            removed = await remove()
            // What is not there any more is not asked for again.
            if (leadsTo !== undefined) go(leadsTo)
          },
          said,
          undo: undo && (() => undo(removed!)),
        })
      }}
    />
  )
}
