/**
 * Scanner of TypeScript: comments and literals, without a parser. It recognizes regular expressions only to
 * skip them.
 */

export interface Token {
  readonly kind: 'comment' | 'literal'
  readonly text: string
  /** Line of its start, from 1. */
  readonly line: number
  /** End of the code before a literal. Earlier literals in it are replaced by `x`. */
  readonly before: string
}

/** Enough to recognize `test.each(…)(` with a table of arguments, and what precedes a regular expression. */
const BEFORE_LENGTH = 200
const REGEXP = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y
/** Code after which `/` begins a regular expression and is not a division. */
const BEFORE_REGEXP = /(?:[(,=:[!&|?{};+*%<>~^]|\breturn|^)\s*$/

/** Adjacent `//` lines form one comment. A template is one literal per part; placeholders become `X`. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  /** Number of open braces in each open placeholder of a template. */
  const placeholders: number[] = []
  let line = 1
  let at = 0
  let before = ''
  let nextLineOfComment = -1
  const advance = (length: number): void => {
    line += source.slice(at, at + length).split('\n').length - 1
    at += length
  }
  while (at < source.length) {
    const char = source[at]!
    const pair = source.slice(at, at + 2)
    if (pair === '//' || pair === '/*') {
      const text = commentAt(source, at)
      const last = tokens.at(-1)
      if (pair === '//' && last?.kind === 'comment' && nextLineOfComment === line) {
        tokens[tokens.length - 1] = { ...last, text: `${last.text}\n${text}` }
      } else {
        tokens.push({ kind: 'comment', text, line, before: '' })
      }
      nextLineOfComment = pair === '//' ? line + 1 : -1
      advance(text.length)
      continue
    }
    const isPlaceholderEnd = char === '}' && placeholders.at(-1) === 0
    if (char === "'" || char === '"' || char === '`' || isPlaceholderEnd) {
      if (isPlaceholderEnd) placeholders.pop()
      const { text, length, isOpen } = literalAt(source, at, isPlaceholderEnd ? '`' : char)
      if (isOpen) placeholders.push(0)
      tokens.push({ kind: 'literal', text, line, before })
      before = `${before}x`.slice(-BEFORE_LENGTH)
      advance(length)
      continue
    }
    REGEXP.lastIndex = at
    const regexp = char === '/' && BEFORE_REGEXP.test(before) ? REGEXP.exec(source) : null
    if (placeholders.length > 0 && char === '{') placeholders[placeholders.length - 1]! += 1
    if (placeholders.length > 0 && char === '}') placeholders[placeholders.length - 1]! -= 1
    if (char.trim() !== '') nextLineOfComment = -1
    before = (before + (regexp ? 'x' : char)).slice(-BEFORE_LENGTH)
    advance(regexp ? regexp[0].length : 1)
  }
  return tokens
}

function commentAt(source: string, from: number): string {
  const isBlock = source[from + 1] === '*'
  const end = source.indexOf(isBlock ? '*/' : '\n', from + 2)
  if (end < 0) return source.slice(from)
  return source.slice(from, isBlock ? end + 2 : end)
}

/** Reads a string, or a part of a template up to its next placeholder. */
function literalAt(source: string, from: number, quote: string) {
  let text = source[from] === '}' ? 'X' : ''
  let at = from + 1
  for (; at < source.length; at += 1) {
    const char = source[at]!
    if (char === quote || (char === '\n' && quote !== '`')) break
    if (quote === '`' && char === '$' && source[at + 1] === '{') {
      return { text: `${text}X`, length: at + 2 - from, isOpen: true }
    }
    if (char === '\\') at += 1
    text += char === '\\' ? (source[at] === 'n' ? ' ' : source[at]) : char
  }
  return { text, length: at + 1 - from, isOpen: false }
}
