/** Dialog that removes a part of the model. A sentence states what is deleted with it. */
import { useLocation } from 'wouter'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { useWrite } from '../../parts/writes.ts'
import { useTexts } from '../../texts/texts.tsx'

export function RemovePart<Removed>({
  label,
  title,
  sentence,
  message,
  leadsTo,
  remove,
  undo,
}: {
  /** Name of the button for screen readers. */
  readonly label: string
  readonly title: string
  readonly sentence: string
  readonly message: string
  /** Address that is opened after the removal. Needed if the page was about the removed part. */
  readonly leadsTo?: string
  /** Removes the part and returns the data that `undo` needs. */
  readonly remove: () => Promise<Removed>
  /**
   * Restores the part. Absent if the removal cannot be undone. The sentence of the dialog must then state
   * this.
   */
  readonly undo?: (removed: Removed) => Promise<unknown>
}) {
  const texts = useTexts().model.graph
  const write = useWrite()
  const [, go] = useLocation()
  return (
    <ActionDialog
      needs="write"
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
            // Leaves the page of the part first. Otherwise the queries of the page would request the removed
            // part again.
            if (leadsTo !== undefined) go(leadsTo)
          },
          message,
          undo: undo && (() => undo(removed!)),
        })
      }}
    />
  )
}
