/**
 * Scanner of TypeScript: comments and literals, without a parser. It recognizes regular expressions only to
 * skip them.
 */

export interface Token {
  readonly kind: 'comment' | 'literal'
  readonly text: string
  /** Number of the line in which the token begins. The first line is 1. */
  readonly line: number
  /**
   * Last part of the code before a literal or its template, without the contents of literals and brackets.
   */
  readonly before: string
}

/** Characters kept per level of brackets: enough for `test.each()()` and for `BEFORE_REGEXP`. */
const CODE_LENGTH = 200
const REGEXP = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y
/** Matches code after which a `/` begins a regular expression. Otherwise a `/` is a division. */
const BEFORE_REGEXP = /(?:[(,=:[!&|?{};+*%<>~^]|\breturn|^)\s*$/

/** Code inside one pair of brackets, up to the current position. */
interface Level {
  code: string
  /** For a placeholder: the code before its template. */
  readonly beforeTemplate?: string
}

/**
 * Returns the comments and literals. Several `//` comments in adjacent lines are one comment. Each part of a
 * template is one literal, and its placeholders are replaced by `X`.
 */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  const levels: Level[] = [{ code: '' }]
  let line = 1
  let at = 0
  let nextLineOfComment = -1
  const advance = (length: number): void => {
    line += source.slice(at, at + length).split('\n').length - 1
    at += length
  }
  const append = (code: string): void => {
    const level = levels.at(-1)!
    level.code = (level.code + code).slice(-CODE_LENGTH)
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
    const beforeTemplate = char === '}' ? levels.at(-1)!.beforeTemplate : undefined
    if (beforeTemplate !== undefined) levels.pop()
    const before = beforeTemplate ?? (levels.at(-2)?.code ?? '') + levels.at(-1)!.code
    if (char === "'" || char === '"' || char === '`' || beforeTemplate !== undefined) {
      const { text, length, isOpen } = literalAt(source, at, beforeTemplate === undefined ? char : '`')
      tokens.push({ kind: 'literal', text, line, before })
      append('x')
      if (isOpen) levels.push({ code: '{', beforeTemplate: before })
      advance(length)
      continue
    }
    REGEXP.lastIndex = at
    const regexp = char === '/' && BEFORE_REGEXP.test(before) ? REGEXP.exec(source) : null
    if (char.trim() !== '') nextLineOfComment = -1
    if (')]}'.includes(char) && levels.length > 1) levels.pop()
    append(regexp ? 'x' : char)
    if ('([{'.includes(char)) levels.push({ code: '' })
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

/** Reads a string, or a part of a template that ends at its next placeholder. */
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
