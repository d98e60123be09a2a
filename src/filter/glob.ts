/**
 * Globs of `match` as regular expressions (conditions.md 5.6). `*` is any sequence without `.`, `**` any
 * sequence, `?` one character except `.`, `[abc]`, `[a-z]` and `[!a-z]` one character, `{x,y}` one of several
 * globs. A backslash makes the next character literal.
 */
import { FilterError } from './filter-error.ts'

export type GlobPart =
  | { readonly kind: 'text'; readonly text: string }
  /** Any sequence, or any sequence without a dot. */
  | { readonly kind: 'run'; readonly exceptDot: boolean }
  /** One character except a dot. */
  | { readonly kind: 'one' }
  | {
      readonly kind: 'class'
      readonly isNegated: boolean
      readonly ranges: readonly (readonly [string, string])[]
    }
  | { readonly kind: 'choice'; readonly choices: readonly (readonly GlobPart[])[] }

/** Parses a glob. Throws `INVALID_VALUE` if it is malformed. */
export function readGlob(glob: string): readonly GlobPart[] {
  const characters = Array.from(glob)
  let at = 0

  function sequence(isInBraces: boolean): GlobPart[] {
    const parts: GlobPart[] = []
    for (;;) {
      const character = characters[at]
      if (character === undefined) {
        if (isInBraces) throw malformed(glob)
        return parts
      }
      if (isInBraces && (character === ',' || character === '}')) return parts
      at += 1
      const part = partAt(character)
      const before = parts.at(-1)
      if (part.kind === 'text' && before?.kind === 'text') {
        parts[parts.length - 1] = { kind: 'text', text: before.text + part.text }
      } else parts.push(part)
    }
  }

  function partAt(character: string): GlobPart {
    switch (character) {
      case '\\':
        return { kind: 'text', text: next() }
      case '*': {
        const isDouble = characters[at] === '*'
        if (isDouble) at += 1
        return { kind: 'run', exceptDot: !isDouble }
      }
      case '?':
        return { kind: 'one' }
      case '[':
        return classAt()
      case '{': {
        const choices: GlobPart[][] = []
        for (;;) {
          choices.push(sequence(true))
          if (next() === '}') return { kind: 'choice', choices }
        }
      }
      default:
        return { kind: 'text', text: character }
    }
  }

  function classAt(): GlobPart {
    const isNegated = characters[at] === '!'
    if (isNegated) at += 1
    const ranges: [string, string][] = []
    while (characters[at] !== ']') {
      const from = member()
      if (characters[at] === '-' && characters[at + 1] !== ']') {
        at += 1
        const to = member()
        if (to.codePointAt(0)! < from.codePointAt(0)!) throw malformed(glob)
        ranges.push([from, to])
      } else ranges.push([from, from])
    }
    at += 1
    if (ranges.length === 0) throw malformed(glob)
    return { kind: 'class', isNegated, ranges }
  }

  function member(): string {
    const character = next()
    return character === '\\' ? next() : character
  }

  function next(): string {
    const character = characters[at]
    if (character === undefined) throw malformed(glob)
    at += 1
    return character
  }

  return sequence(false)
}

function malformed(glob: string): FilterError {
  return new FilterError('INVALID_VALUE', `expected a glob, got ${JSON.stringify(glob)}`)
}

/** How a kind of regular expression writes the parts of a glob. */
export interface ExpressionSyntax {
  /** Any character at all, line ends included. */
  readonly any: string
  /** A literal character outside of a class. */
  literal(character: string): string
  /** A literal character inside of a class. */
  inClass(character: string): string
}

/** A regular expression that matches a whole text exactly if the glob does. */
export function expressionOf(parts: readonly GlobPart[], syntax: ExpressionSyntax): string {
  return parts.map(part => partOf(part, syntax)).join('')
}

function partOf(part: GlobPart, syntax: ExpressionSyntax): string {
  switch (part.kind) {
    case 'text':
      return Array.from(part.text, syntax.literal).join('')
    case 'run':
      return part.exceptDot ? '[^.]*' : `${syntax.any}*`
    case 'one':
      return '[^.]'
    case 'class': {
      const ranges = part.ranges.map(([from, to]) =>
        from === to ? syntax.inClass(from) : `${syntax.inClass(from)}-${syntax.inClass(to)}`,
      )
      return `[${part.isNegated ? '^' : ''}${ranges.join('')}]`
    }
    case 'choice':
      return `(?:${part.choices.map(choice => expressionOf(choice, syntax)).join('|')})`
  }
}

const SPECIAL = /[\\^$.*+?()[\]{}|/]/
const SPECIAL_IN_CLASS = /[\\^$.*+?()[\]{}|/-]/

/** The regular expression of JavaScript for a glob. */
export function regExpOf(glob: string): RegExp {
  const escape = (special: RegExp) => (character: string) =>
    special.test(character) ? `\\${character}` : character
  const syntax = { any: '[^]', literal: escape(SPECIAL), inClass: escape(SPECIAL_IN_CLASS) }
  const body = expressionOf(readGlob(glob), syntax)
  return new RegExp(`^${body}$`, 'u')
}

/**
 * A glob as one text between runs of any characters: `x**`, `**x`, `**x**` and `x`. Null for every other
 * form.
 */
export function simpleGlob(
  glob: string,
): { readonly text: string; readonly isOpenBefore: boolean; readonly isOpenAfter: boolean } | null {
  const parts = [...readGlob(glob)]
  const isOpenBefore = isAnyRun(parts[0])
  if (isOpenBefore) parts.shift()
  const isOpenAfter = isAnyRun(parts.at(-1))
  if (isOpenAfter) parts.pop()
  const [only, ...others] = parts
  if (only?.kind !== 'text' || others.length > 0) return null
  return { text: only.text, isOpenBefore, isOpenAfter }
}

function isAnyRun(part: GlobPart | undefined): boolean {
  return part?.kind === 'run' && !part.exceptDot
}
