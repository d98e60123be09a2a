/**
 * Dialog that edits a part of the model with optimistic concurrency control. The dialog reads the part when
 * it opens, and writes it only if it has not changed in the meantime. After a conflict, the dialog shows the
 * current values next to the typed values, and the user can save again.
 */
import { type ReactNode, useRef, useState } from 'react'
import { Problem } from '../../interface/problem.ts'
import type { ActionLook } from '../../parts/action.tsx'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useWrite } from '../../parts/writes.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { Editable, Tagged } from '../model-edits.ts'

/** Values of the fields, and further information that the fields show. */
export interface Edit<Draft> {
  readonly draft: Draft
  readonly set: (fields: Partial<Draft>) => void
  /** Whether the current values have been loaded. The fields are read-only until then. */
  readonly isRead: boolean
  /** Current values if another user has changed the part. Null if there was no conflict. */
  readonly now: Draft | null
  /** The last error. */
  readonly problem: Problem | null
}

export function EditPart<Thing, Draft, Change>({
  trigger,
  look = { kind: 'quiet', isSmall: true },
  label,
  title,
  sentence,
  message,
  editable,
  blank,
  draftOf,
  changeOf,
  children,
}: {
  readonly trigger?: string
  readonly look?: ActionLook
  /** Name of the button for screen readers. */
  readonly label: string
  readonly title: string
  readonly sentence: string | ((draft: Draft) => string)
  readonly message: string
  readonly editable: Editable<Thing, Change>
  /** Values of the fields until the part has been loaded. */
  readonly blank: Draft
  readonly draftOf: (thing: Thing) => Draft
  /** Request body for the draft; null if the draft is not valid. */
  readonly changeOf: (draft: Draft) => Change | null
  readonly children: (edit: Edit<Draft>) => ReactNode
}) {
  const texts = useTexts().model.graph.edit
  const write = useWrite()
  const [read, setRead] = useState<Tagged<Thing> | null>(null)
  const [unread, setUnread] = useState<unknown>(null)
  const [draft, setDraft] = useState(blank)
  /** Identifies the dialog that was opened last. A response that belongs to an earlier dialog is ignored. */
  const opened = useRef<symbol | null>(null)
  const open = async (): Promise<void> => {
    const dialog = Symbol('dialog')
    opened.current = dialog
    setRead(null)
    setUnread(null)
    setDraft(blank)
    try {
      const answer = await editable.load()
      if (opened.current !== dialog) return
      setRead(answer)
      setDraft(draftOf(answer.value))
    } catch (problem) {
      if (opened.current === dialog) setUnread(problem)
    }
  }
  const change = changeOf(draft)
  const save = async (): Promise<void> => {
    if (read === null || change === null) return
    const before = changeOf(draftOf(read.value))
    let written: string | null = null
    try {
      await write({
        make: async () => {
          written = await editable.change(change, read.tag)
        },
        message,
        // The undo requires the tag of this write, so that it does not overwrite later changes by other
        // users.
        undo: before === null ? undefined : () => editable.change(before, written),
      })
    } catch (problem) {
      if (problem instanceof Problem && problem.isStale) setRead(await editable.load())
      throw problem
    }
  }
  return (
    <ActionDialog
      needs="write"
      trigger={trigger ?? texts.open}
      triggerLook={look}
      triggerLabel={label}
      title={title}
      sentence={typeof sentence === 'string' ? sentence : sentence(draft)}
      submit={texts.save}
      isReady={read !== null && change !== null}
      onOpen={() => void open()}
      onSubmit={save}
    >
      {refused => {
        const problem = refused instanceof Problem ? refused : null
        return (
          <>
            <ProblemNote error={unread} />
            {children({
              draft,
              set: fields => setDraft(now => ({ ...now, ...fields })),
              isRead: read !== null,
              now: problem?.isStale === true && read !== null ? draftOf(read.value) : null,
              problem,
            })}
          </>
        )
      }}
    </ActionDialog>
  )
}
