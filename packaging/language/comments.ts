/**
 * Reads comments: splits them into passages at blank lines, list items and diagrams, and finds markers.
 */
import { type FileText, type Line, type Marker, markerOf, type Passage, PassageBuilder } from './passages.ts'

/** Matches lines of diagrams and of aligned tables, which are not prose. */
const DIAGRAM = /[─│►▼◄┘┐└┌]|\S {3,}\S/
const INDENTED = /^ {4}/
export const LIST_ITEM = /^\s*(?:[-*]|\d+\.) /

/**
 * Reads the comments of a TypeScript file. Each element is a block comment, or several line comments in
 * adjacent lines. `line` is the number of its first line.
 */
export function readComments(
  comments: readonly { readonly text: string; readonly line: number }[],
): FileText {
  const passages: Passage[] = []
  const markers: Marker[] = []
  for (const { text, line } of comments) {
    const lines = text.split('\n').map((raw, index) => ({
      number: line + index,
      text: raw.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)?\s?/, '').replace(/\s*\*\/\s*$/, ''),
    }))
    const read = readCommentLines(lines)
    passages.push(...read.passages)
    markers.push(...read.markers)
  }
  return { passages, markers }
}

/** Reads comments that begin with `sign` and end at the end of their line, as in YAML, shell and Lua. */
export function readLineComments(source: string, sign: '#' | '--'): FileText {
  const lines = source.split('\n').map((text, index): Line => {
    const at = text.trimStart().startsWith(sign) ? text.indexOf(sign) : text.indexOf(` ${sign} `)
    const isComment = at >= 0 && !text.startsWith('#!')
    return {
      number: index + 1,
      text: isComment ? text.slice(at).trimStart().slice(sign.length).replace(/^-?\s/, '') : '',
    }
  })
  return readCommentLines(lines)
}

/** Reads lines from which the comment signs were removed. An empty line ends a passage. */
function readCommentLines(lines: readonly Line[]): FileText {
  const builder = new PassageBuilder()
  const markers: Marker[] = []
  for (const line of lines) {
    const marker = markerOf(line)
    if (marker) markers.push(marker)
    const { number, text } = line
    if (marker || text.trim() === '' || DIAGRAM.test(text) || INDENTED.test(text)) {
      builder.end()
      continue
    }
    if (LIST_ITEM.test(text)) builder.end()
    builder.add({ number, text: text.trim().replace(LIST_ITEM, '') })
  }
  builder.end()
  return { passages: builder.passages, markers }
}
