/** Editor for conditions: JSON with completion. Errors are marked in the text and listed below. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import { type Diagnostic, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef, useState } from 'react'
import { Action } from '../../../parts/action.tsx'
import { useTexts } from '../../../texts/texts.tsx'
import { CodeView } from '../../code/code-view.tsx'
import type { ConditionFinding } from '../use-trial.ts'
import { completionOf, type Vocabulary } from './completion.ts'
import { spanOf } from './places.ts'

export default function ConditionsEditor({
  text,
  onChange,
  findings,
  attributes,
}: {
  readonly text: string
  readonly onChange: (text: string) => void
  /** Findings about the current text. Null while the text is being checked. */
  readonly findings: readonly ConditionFinding[] | null
  readonly attributes: Vocabulary['attributes']
}) {
  const texts = useTexts().model.sets.editor
  const view = useRef<EditorView | null>(null)
  const known = useRef(attributes)
  useEffect(() => {
    known.current = attributes
  }, [attributes])
  const [extensions] = useState(() => [
    lineNumbers(),
    history(),
    drawSelection(),
    indentUnit.of('  '),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    json(),
    autocompletion({
      override: [completionOf({ attributes: () => known.current(), words: texts.words })],
      icons: false,
      activateOnTypingDelay: 50,
      // Disables the delay, so that a user who types fast can accept the first suggestion.
      interactionDelay: 0,
    }),
    EditorView.lineWrapping,
    EditorView.theme({
      '.cm-scroller': { maxHeight: 'max(20rem, 60vh)' },
      '.cm-content, .cm-gutter': { minHeight: '10rem' },
    }),
    // Tab is not bound to a command. It leaves the editor, as it leaves any other field.
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ])
  const [placed, setPlaced] = useState<readonly PlacedFinding[]>([])
  useEffect(() => {
    const made = view.current
    if (made === null || findings === null) return
    const next = findings.map(finding => placedIn(made, finding))
    made.dispatch(setDiagnostics(made.state, next.map(diagnosticOf)))
    setPlaced(next)
  }, [findings])
  const show = ({ from }: PlacedFinding): void => {
    view.current?.focus()
    view.current?.dispatch({
      selection: { anchor: Math.min(from, view.current.state.doc.length) },
      scrollIntoView: true,
    })
  }
  return (
    <div className="stack tight conditions-editor">
      <span className="label" aria-hidden="true">
        {texts.label}
      </span>
      <CodeView value={text} onChange={onChange} label={texts.heard} extensions={extensions} view={view} />
      <p className="soft small">{texts.keys}</p>
      <div aria-live="polite" className="stack tight">
        {placed.length === 0 ? null : (
          <>
            <p className="problem-text">
              <span aria-hidden="true">✕ </span>
              {texts.findings(placed.length)}
            </p>
            <ul className="stack tight findings">
              {placed.map(finding => (
                <li key={`${finding.from} ${finding.message}`}>
                  <Action kind="quiet" isSmall onPress={() => show(finding)}>
                    {texts.line(finding.line)}
                  </Action>{' '}
                  <span>{finding.message}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  )
}

interface PlacedFinding {
  readonly from: number
  readonly to: number
  readonly line: number
  readonly message: string
}

function placedIn(view: EditorView, { place, message }: ConditionFinding): PlacedFinding {
  const { state } = view
  const { from, to } =
    typeof place === 'number' ? { from: Math.max(0, place - 1), to: place } : spanOf(state, place)
  const start = Math.min(from, state.doc.length)
  return {
    from: start,
    to: Math.min(Math.max(to, start), state.doc.length),
    line: state.doc.lineAt(start).number,
    message,
  }
}

function diagnosticOf({ from, to, message }: PlacedFinding): Diagnostic {
  return { from, to, message, severity: 'error' }
}
