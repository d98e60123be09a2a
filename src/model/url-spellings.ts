/**
 * Normalizes the spellings of a URL (conditions.md 10.3). Servers process URLs differently. They can decode
 * escapes several times, split the path at encoded slashes and at backslashes, and ignore the case of
 * letters. They can also normalize Unicode, and remove trailing dots, empty segments and parameters. For each
 * part of a URL, this file computes the text that all these spellings share.
 */

/** Maximum number of rounds of decoding. A text that still changes after them is rejected. */
const ROUNDS_MAX = 4
/**
 * Limits of the growth of a text. Some characters have a normal form of 18 characters; a text that grows
 * beyond these limits is rejected.
 */
const GROWTH_MAX = 4
const GROWTH_ALLOWANCE = 64

const NEEDS_DECODING = /\P{ASCII}|%/u
const NOT_ASCII = /\P{ASCII}/u
const PLAIN_NAME = /^[\w-]+$/
const ESCAPES = /(?:%[0-9a-f]{2})+|%u[0-9a-f]{4}/gi
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu
/**
 * Matches a letter with more marks than any language uses (UAX #15, stream-safe text). Normalizing so many
 * marks takes quadratic time.
 */
const MANY_MARKS = /(?<!\p{M})\p{M}{31}/u
const CONTROL = /\p{Cc}/u
const DOT_SEGMENT = /^\s*\.{1,2}\s*(?:[;?#]|$)/
const DROPPED_END = /[.\s]+$/
const SEPARATOR = /[/\\]/
/**
 * Characters at which some servers end a segment, and characters at which some servers end the whole path.
 */
const CUT = /[;?#]/
const PATH_END = /[?#]/

/**
 * A text in the form that all its spellings share. `exact` keeps the case of letters, and `folded` ignores
 * it.
 */
export interface Spelling {
  readonly exact: string
  readonly folded: string
}

/** A part of a path between two separators. Encoded slashes are also separators. */
export interface PathPiece extends Spelling {
  /** Whether the preceding separator is an encoded slash or a backslash. */
  readonly isBehindEncoded: boolean
  /** Spelling of the piece without its parameters; null if it has none. */
  readonly cut: Spelling | null
  /** Whether the path ends within this piece if a server decodes the URL before it searches for the query. */
  readonly endsPath: boolean
}

/**
 * Splits raw path segments into pieces, and omits empty ones. Returns null if servers could interpret the
 * path in different ways. `hostAt` is the index of the host segment, or -1. O(length).
 */
export function piecesOf(rawSegments: readonly string[], hostAt: number): PathPiece[] | null {
  const pieces: PathPiece[] = []
  for (const [index, raw] of rawSegments.entries()) {
    if (raw === '') continue
    const text = decodedWhole(raw)
    if (text === null || CONTROL.test(text)) return null
    let isBehindEncoded = false
    let isHost = index === hostAt
    const parts = text.split(SEPARATOR)
    for (const part of parts) {
      if (DOT_SEGMENT.test(part) || (isHost && part.includes('@'))) return null
      if (part === '') continue
      pieces.push(pieceOf(part, isBehindEncoded, isHost))
      isBehindEncoded = true
      isHost = false
    }
    // The segment consists only of separators. A server can remove it or keep it.
    if (!isBehindEncoded) return null
  }
  return pieces
}

function pieceOf(text: string, isBehindEncoded: boolean, isHost: boolean): PathPiece {
  const whole = isHost ? hostSpelling(text) : spellingOf(text)
  const cutAt = text.search(CUT)
  const cut = cutAt > 0 && !isHost ? spellingOf(text.slice(0, cutAt)) : null
  return { ...whole, isBehindEncoded, cut, endsPath: cutAt >= 0 && PATH_END.test(text) }
}

/** Returns the spelling of a decoded text. */
function spellingOf(text: string): Spelling {
  const visible = text.trim().replace(DROPPED_END, '')
  const exact = visible === '' ? text : visible
  return { exact, folded: folded(exact) }
}

/**
 * Returns the spelling of a name in a query, or null in the same cases as `decodedWhole`. Servers end names
 * at brackets (`mode[]`), and replace dots and spaces in names by underscores.
 */
export function nameSpelling(raw: string): Spelling | null {
  if (PLAIN_NAME.test(raw)) return { exact: raw, folded: raw.toUpperCase() }
  const text = decodedWhole(raw.replaceAll('+', ' '))
  if (text === null) return null
  const bracketAt = text.indexOf('[')
  const name = (bracketAt > 0 ? text.slice(0, bracketAt) : text).trim()
  const exact = (name === '' ? text : name).replaceAll(/[. ]/g, '_')
  return { exact, folded: folded(exact) }
}

/** Returns the spelling of a value in a query, or null in the same cases as `decodedWhole`. */
export function valueSpelling(raw: string): Spelling | null {
  const text = decodedWhole(raw.replaceAll('+', ' '))
  if (text === null) return null
  const exact = text.trim()
  return { exact, folded: folded(exact) }
}

/**
 * Returns the text after all rounds of decoding: normalized and without invisible characters. Returns null if
 * the text still changes or becomes too long.
 */
export function decodedWhole(raw: string): string | null {
  if (!NEEDS_DECODING.test(raw)) return raw
  const lengthMax = raw.length * GROWTH_MAX + GROWTH_ALLOWANCE
  let text = raw
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    const decoded = text.includes('%') ? decodedOnce(text) : text
    if (MANY_MARKS.test(decoded)) return null
    const next = NOT_ASCII.test(decoded) ? decoded.normalize('NFKC').replaceAll(IGNORABLE, '') : decoded
    if (next.length > lengthMax) return null
    if (next === text) return next
    text = next
  }
  return null
}

function decodedOnce(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replaceAll(ESCAPES, decodedRun)
  }
}

/**
 * Decodes escapes in the same way as lenient servers. Bytes that are not valid UTF-8 stay unchanged. One
 * exception: such servers decode an overlong form of a character to that character.
 */
function decodedRun(run: string): string {
  if (run.startsWith('%u') || run.startsWith('%U'))
    return String.fromCharCode(Number.parseInt(run.slice(2), 16))
  const bytes = Array.from({ length: run.length / 3 }, (_, index) =>
    Number.parseInt(run.slice(3 * index + 1, 3 * index + 3), 16),
  )
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at]!
    const more =
      first < 0x80 ? 0 : first >= 0xc0 && first < 0xf8 ? (first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3) : -1
    let code = more <= 0 ? first : first & (0x3f >> more)
    let index = 1
    for (; index <= more; index++) {
      const next = bytes[at + index]
      if (next === undefined || (next & 0xc0) !== 0x80) break
      code = (code << 6) | (next & 0x3f)
    }
    const isCharacter = more >= 0 && index > more && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff)
    text += isCharacter ? String.fromCodePoint(code) : run.slice(3 * at, 3 * at + 3).toUpperCase()
    at += isCharacter ? more + 1 : 1
  }
  return text
}

/**
 * Returns the text without regard to case in any language: `ß` becomes `ss`, `ſ` becomes `s`, and `ı` and `İ`
 * become `i`.
 */
function folded(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toUpperCase()
  return text.toLowerCase().replaceAll('i\u0307', 'i').toUpperCase().normalize('NFKC')
}

/**
 * Returns a host in the normal form of browsers and proxies. The default ports of schemes and a final dot are
 * removed.
 */
function hostSpelling(text: string): Spelling {
  const url = `http://${text}`
  const host = URL.canParse(url) ? new URL(url).host : folded(text).toLowerCase()
  const name = host.replace(/:443$/, '').replace(/\.+(?=:\d*$|$)/, '')
  return { exact: name, folded: name }
}
