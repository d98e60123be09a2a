/**
 * Reader of Markdown: paragraphs, list items, headings and table cells. Skips code blocks and table headers.
 */
import { LIST_ITEM } from './comments.ts'
import { type FileText, type Marker, markerOf, type Passage, PassageBuilder } from './passages.ts'

const FENCE = /^\s*(?:```|~~~)/
const TABLE_RULE = /^\s*\|[\s:|-]+\|\s*$/
/** Matches blank lines, the lines below the header of a table, and lines between sections. */
const SEPARATOR = /^[\s:|-]*$/

export function readMarkdown(source: string): FileText {
  const builder = new PassageBuilder()
  const others: Passage[] = []
  const markers: Marker[] = []
  const lines = source.split('\n')
  let isCode = false
  for (const [index, text] of lines.entries()) {
    const number = index + 1
    const marker = isCode || !text.trimStart().startsWith('<!--') ? null : markerOf({ number, text })
    if (FENCE.test(text)) isCode = !isCode
    if (isCode || FENCE.test(text) || marker || SEPARATOR.test(text)) {
      if (marker) markers.push(marker)
      builder.end()
    } else if (text.startsWith('#')) {
      builder.end()
      others.push({ kind: 'heading', lines: [{ number, text: text.replace(/^#+ /, '') }] })
    } else if (text.trimStart().startsWith('|')) {
      builder.end()
      if (TABLE_RULE.test(lines[index + 1] ?? '')) continue
      const cells = text.split(/(?<!\\)\|/).filter(cell => cell.trim() !== '')
      others.push(...cells.map((cell): Passage => ({ kind: 'text', lines: [{ number, text: cell.trim() }] })))
    } else {
      if (LIST_ITEM.test(text)) builder.end()
      builder.add({ number, text: text.trim().replace(LIST_ITEM, '') })
    }
  }
  builder.end()
  return { passages: [...builder.passages, ...others], markers }
}
