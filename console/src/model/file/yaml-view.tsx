/** Read-only YAML view with line numbers and foldable sections. */
import { defaultKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { codeFolding, foldGutter, foldKeymap } from '@codemirror/language'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useRef, useState } from 'react'
import { useTexts } from '../../texts/texts.tsx'
import { CodeView } from '../code/code-view.tsx'

export default function YamlView({ text }: { readonly text: string }) {
  const texts = useTexts().model.file
  const view = useRef<EditorView | null>(null)
  const [extensions] = useState(() => [
    lineNumbers(),
    codeFolding(),
    foldGutter({ openText: '▾', closedText: '▸' }),
    drawSelection(),
    yaml(),
    EditorView.lineWrapping,
    EditorView.theme({ '.cm-scroller': { maxHeight: 'max(20rem, 70vh)' } }),
    keymap.of([...defaultKeymap, ...foldKeymap]),
  ])
  return <CodeView value={text} label={texts.heard} extensions={extensions} view={view} isReadOnly />
}
