/**
 * Edits a part of the model. It is read when the dialog opens, and written only over what was read: who comes second sees what is there now
 * beside what was typed, and saves again if that is meant.
 */
import { type ReactNode, useRef, useState } from 'react'
import { Problem } from '../../interface/problem.ts'
import type { ActionLook } from '../../parts/action.tsx'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useWrite } from '../../parts/writes.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { Editable, Tagged } from '../model-edits.ts'

/** What is in the fields, and what there is to say beside each. */
export interface Edit<Draft> {
  readonly draft: Draft
  readonly set: (fields: Partial<Draft>) => void
  /** Whether the fields have what is there: before, nothing is typed into them. */
  readonly isRead: boolean
  /** What another one has written meanwhile; null: nobody has. */
  readonly now: Draft | null
  /** What was refused last. */
  readonly problem: Problem | null
}

export function EditPart<Thing, Draft, Change>({
  trigger,
  look = { kind: 'quiet', isSmall: true },
  label,
  title,
  sentence,
  said,
  editable,
  blank,
  draftOf,
  changeOf,
  children,
}: {
  readonly trigger?: string
  readonly look?: ActionLook
  /** What the button is called by those who hear. */
  readonly label: string
  readonly title: string
  readonly sentence: string | ((draft: Draft) => string)
  readonly said: string
  readonly editable: Editable<Thing, Change>
  /** What is in the fields before anything is read. */
  readonly blank: Draft
  readonly draftOf: (thing: Thing) => Draft
  /** What is sent; null: what is typed is nothing to be sent. */
  readonly changeOf: (draft: Draft) => Change | null
  readonly children: (edit: Edit<Draft>) => ReactNode
}) {
  const texts = useTexts().model.graph.edit
  const write = useWrite()
  const [read, setRead] = useState<Tagged<Thing> | null>(null)
  const [unread, setUnread] = useState<unknown>(null)
  const [draft, setDraft] = useState(blank)
  /** The dialog that was opened last: what was read for another one is not for its fields. */
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
        said,
        // What others wrote after it is not taken back with it.
        undo: before === null ? undefined : () => editable.change(before, written),
      })
    } catch (problem) {
      if (problem instanceof Problem && problem.isStale) setRead(await editable.load())
      throw problem
    }
  }
  return (
    <ActionDialog
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
