/**
 * Notice that another user has changed the set that is being edited. It shows the current values next to the
 * typed values, and the choices that the user has.
 */
import { useEffect, useRef } from 'react'
import { Action } from '../../parts/action.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { differences, type SetDraft } from './set-draft.ts'

export function SetConflict({
  mine,
  theirs,
  onMine,
  onTheirs,
}: {
  readonly mine: SetDraft
  readonly theirs: SetDraft
  readonly onMine: () => void
  readonly onTheirs: () => void
}) {
  const texts = useTexts().model.sets
  const heading = useRef<HTMLHeadingElement>(null)
  // Moves the focus to the notice if the user has just pressed Save. While the user is typing, the focus
  // stays.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus()
  }, [])
  const fields = differences(mine, theirs)
  const names = {
    name: texts.name,
    description: texts.description,
    parent: texts.parent,
    text: texts.editor.label,
  } as const
  return (
    <section className="note warn" aria-live="polite">
      <div className="stack">
        <h2 ref={heading} tabIndex={-1}>
          {texts.conflict.title}
        </h2>
        <p>{texts.conflict.lead}</p>
        {fields.map(field => (
          <div key={field} className="conflict">
            <h3>{names[field as keyof typeof names]}</h3>
            <div className="sides">
              <div>
                <p className="small soft">{texts.conflict.theirs}</p>
                <pre
                  tabIndex={0}
                  role="region"
                  aria-label={`${texts.conflict.theirs}: ${names[field as keyof typeof names]}`}
                >
                  {theirs[field] || texts.conflict.nothing}
                </pre>
              </div>
              <div>
                <p className="small soft">{texts.conflict.mine}</p>
                <pre
                  tabIndex={0}
                  role="region"
                  aria-label={`${texts.conflict.mine}: ${names[field as keyof typeof names]}`}
                >
                  {mine[field] || texts.conflict.nothing}
                </pre>
              </div>
            </div>
          </div>
        ))}
        <div className="row">
          <Action kind="primary" onPress={onMine}>
            {texts.conflict.goOn}
          </Action>
          <Action onPress={onTheirs}>{texts.conflict.take}</Action>
        </div>
      </div>
    </section>
  )
}
