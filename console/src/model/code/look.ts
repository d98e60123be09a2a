/** Syntax highlighting in the colors of the console, light and dark. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', 'Liberation Mono', monospace"

const frame = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    background: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    fontSize: '0.93rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: MONO, lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--ink)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection':
    { background: 'var(--accent-ground)' },
  '.cm-activeLine': { background: 'transparent' },
  '.cm-gutters': {
    color: 'var(--ink-soft)',
    background: 'var(--sunken)',
    border: '0',
    borderRadius: 'var(--radius) 0 0 var(--radius)',
  },
  '.cm-activeLineGutter': { background: 'transparent', color: 'var(--ink)' },
  '.cm-foldPlaceholder': {
    color: 'var(--ink)',
    background: 'var(--accent-ground)',
    border: '1px solid var(--accent)',
    padding: '0 0.4em',
  },
  '&.cm-focused .cm-matchingBracket': {
    background: 'var(--accent-ground)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { background: 'var(--deny-ground)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    background: 'var(--deny-ground)',
    textDecoration: 'underline wavy var(--deny)',
    textUnderlineOffset: '0.25em',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintRange-active': { background: 'var(--deny-ground)' },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--deny)' },
  '.cm-tooltip': {
    color: 'var(--ink)',
    background: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip-lint': { maxWidth: 'min(32rem, 90vw)' },
  '.cm-diagnostic': { padding: '0.35rem 0.6rem', overflowWrap: 'anywhere' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--deny)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: MONO, maxHeight: '15rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.6rem', lineHeight: '1.4' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--ink)',
    background: 'var(--accent-ground)',
  },
  '.cm-completionDetail': { color: 'var(--ink-soft)', fontStyle: 'normal', marginLeft: '1.5em' },
  '.cm-completionMatchedText': { color: 'var(--accent)', fontWeight: '700' },
})

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--allow)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.keyword], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--ink-soft)', fontStyle: 'italic' },
])

export const look: Extension = [frame, syntaxHighlighting(colors)]
