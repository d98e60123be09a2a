/**
 * A place with code in it: CodeMirror, in a shadow tree, where its styles are sheets and not elements, so that the content security policy
 * stays strict. Tab leaves it, as any field.
 */
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'
import { useTexts } from '../../texts/texts.tsx'
import { look } from './look.ts'

/** `extensions` count when the view is made. */
export function CodeView({
  value,
  onChange,
  label,
  extensions,
  view,
  isReadOnly = false,
}: {
  readonly value: string
  readonly onChange?: (value: string) => void
  /** For those who hear it: what it is, and how to leave it. */
  readonly label: string
  readonly extensions: Extension
  /** Gets the view while there is one. */
  readonly view: RefObject<EditorView | null>
  readonly isReadOnly?: boolean
}) {
  const host = useRef<HTMLDivElement>(null)
  const told = useRef(value)
  const { phrases } = useTexts().model.code
  const change = useEffectEvent((text: string) => {
    told.current = text
    onChange?.(text)
  })
  const stateOf = useEffectEvent(() =>
    EditorState.create({
      doc: value,
      extensions: [
        extensions,
        look,
        EditorState.phrases.of(phrases),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({
          'aria-label': label,
          tabindex: '0',
          ...(isReadOnly && { 'aria-readonly': 'true' }),
        }),
        EditorView.updateListener.of(update => {
          if (update.docChanged) change(update.state.doc.toString())
        }),
      ],
    }),
  )
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    const made = new EditorView({ state: stateOf(), parent: root, root })
    view.current = made
    return () => {
      view.current = null
      made.destroy()
    }
  }, [view, label, phrases])
  // What comes from outside, as by undoing, and not from typing.
  useEffect(() => {
    const made = view.current
    if (made === null || value === told.current) return
    told.current = value
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value } })
  }, [value, view])
  return <div className="code-view" ref={host} />
}
