/**
 * Code editor: CodeMirror inside a shadow tree. In a shadow tree, CodeMirror uses constructed style sheets
 * and no style elements, so that the content security policy can stay strict. The Tab key leaves the editor,
 * as in any field.
 */
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'
import { useTexts } from '../../texts/texts.tsx'
import { look } from './look.ts'

/** `extensions` are read only when the editor is created. */
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
  /** Label for screen readers. It describes the purpose of the editor and how to leave it. */
  readonly label: string
  readonly extensions: Extension
  /** Receives the editor view. Null while no editor exists. */
  readonly view: RefObject<EditorView | null>
  readonly isReadOnly?: boolean
}) {
  const host = useRef<HTMLDivElement>(null)
  const reported = useRef(value)
  const { phrases } = useTexts().model.code
  const change = useEffectEvent((text: string) => {
    reported.current = text
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
  // Applies changes of the value that were made outside the editor, for example by an undo.
  useEffect(() => {
    const made = view.current
    if (made === null || value === reported.current) return
    reported.current = value
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value } })
  }, [value, view])
  return <div className="code-view" ref={host} />
}
