/**
 * Globs that match whole strings (conditions.md 5.6): `*` is any sequence without `.`, `**` any sequence, `?`
 * one character except `.`, `[abc]` and `[a-z]` one of these characters, `[!abc]` one character except these,
 * `.` included, `{x,y}` either glob; a backslash escapes the following character. A character is a code
 * point.
 *
 * The matcher processes the glob once and keeps the set of all reachable positions in the text, so its time
 * is polynomial for every glob.
 */
export function matchesGlob(text: string, glob: string): boolean {
  const characters = [...text]
  return reached([...glob], characters, new Set([0])).has(characters.length)
}

type Positions = ReadonlySet<number>

/** Returns the positions at which a match of the glob can end if it begins at one of `starts`. */
function reached(glob: readonly string[], text: readonly string[], starts: Positions): Positions {
  let positions = starts
  for (let at = 0; at < glob.length;) {
    const end = endOfPiece(glob, at)
    const piece = glob.slice(at, end)
    if (piece[0] === '{') {
      const from = positions
      positions = new Set(alternatives(piece).flatMap(each => [...reached(each, text, from)]))
    } else if (piece[0] === '*') {
      positions = afterRuns(text, positions, piece.length === 2 ? () => true : isNoDot)
    } else {
      positions = afterOne(text, positions, character => isOneOf(piece, character))
    }
    at = end
  }
  return positions
}

/** Returns the end of a piece: a character, which can be escaped, one or two stars, a class, or braces. */
function endOfPiece(glob: readonly string[], start: number): number {
  switch (glob[start]) {
    case '\\':
      if (start + 1 === glob.length) throw new Error('a glob ends in a backslash')
      return start + 2
    case '*':
      return glob[start + 1] === '*' ? start + 2 : start + 1
    case '[':
    case '{': {
      const closing = glob[start] === '[' ? ']' : '}'
      let at = start + 1
      // Within a class, brackets and braces have no meaning.
      while (at < glob.length && glob[at] !== closing)
        at = closing === ']' && glob[at] !== '\\' ? at + 1 : endOfPiece(glob, at)
      if (at >= glob.length) throw new Error(`a glob has no ${closing}`)
      return at + 1
    }
    default:
      return start + 1
  }
}

function alternatives(piece: readonly string[]): string[][] {
  const found: string[][] = [[]]
  for (let at = 1; at < piece.length - 1;) {
    const end = endOfPiece(piece, at)
    if (piece[at] === ',') found.push([])
    else found.at(-1)!.push(...piece.slice(at, end))
    at = end
  }
  return found
}

function isOneOf(piece: readonly string[], character: string): boolean {
  if (piece[0] === '?') return isNoDot(character)
  if (piece[0] === '\\') return character === piece[1]
  if (piece[0] === '[') return isInClass(piece.slice(1, -1), character)
  return character === piece[0]
}

function isInClass(written: readonly string[], character: string): boolean {
  const isNegated = written[0] === '!'
  const members: { readonly character: string; readonly isEscaped: boolean }[] = []
  for (let at = isNegated ? 1 : 0; at < written.length; at++) {
    const isEscaped = written[at] === '\\'
    if (isEscaped) at++
    members.push({ character: written[at]!, isEscaped })
  }
  if (members.length === 0) throw new Error('a class of a glob is empty')

  let isListed = false
  for (let at = 0; at < members.length; at++) {
    const low = members[at]!.character
    const next = members[at + 1]
    const isRange = next?.character === '-' && !next.isEscaped && at + 2 < members.length
    const high = isRange ? members[at + 2]!.character : low
    if (isRange) at += 2
    const point = character.codePointAt(0)!
    if (low.codePointAt(0)! <= point && point <= high.codePointAt(0)!) isListed = true
  }
  return isListed !== isNegated
}

function isNoDot(character: string): boolean {
  return character !== '.'
}

function afterOne(
  text: readonly string[],
  starts: Positions,
  fits: (character: string) => boolean,
): Positions {
  return new Set([...starts].filter(at => at < text.length && fits(text[at]!)).map(at => at + 1))
}

function afterRuns(
  text: readonly string[],
  starts: Positions,
  fits: (character: string) => boolean,
): Positions {
  const ends = new Set(starts)
  // The loop also visits positions that are added to the `Set` during the iteration.
  for (const at of ends) if (at < text.length && fits(text[at]!)) ends.add(at + 1)
  return ends
}
