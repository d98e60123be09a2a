/**
 * Parses the URLs of mapping rules and, in the same way, the URLs of requests that are matched against these
 * rules (conditions.md 10.3). The path is split at `/` into segments, including scheme and host, and the
 * query is split at `&` into members. Each part is then percent-decoded once. A decoded `%2F` therefore stays
 * within its segment.
 *
 * A URL that servers could interpret in several ways matches no rule. Such URLs contain dot segments (`.`,
 * `..`), parameters of segments (`;`), `\`, fragments, malformed escapes or control characters. Other
 * spellings (`url-spellings.ts`) are compared with all rules. In the query, `+` is a space, as servers read
 * it.
 */
import { ASKED_QUERY_MEMBERS_MAX, MAPPING_QUERY_MEMBERS_MAX, MAPPING_SEGMENTS_MAX } from './limits.ts'
import {
  decodedWhole,
  nameSpelling,
  type PathPiece,
  piecesOf,
  type Spelling,
  valueSpelling,
} from './url-spellings.ts'

/** Methods that a mapping rule can have. */
export const MAPPING_METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const
export type MappingMethod = (typeof MAPPING_METHODS)[number]

/** A part of a rule's URL: a literal text, or a named placeholder for any text. */
export type MappingPart = { readonly text: string } | { readonly name: string }

export interface MappingUrl {
  readonly segments: readonly MappingPart[]
  /**
   * Pieces that are identical for all spellings: the key of each piece (`spellingKey`), or `null` for a
   * placeholder.
   */
  readonly pieces: readonly (string | null)[]
  /** Query members of the URL. Their names are distinct. */
  readonly query: readonly MappingMember[]
}

export interface MappingMember {
  readonly member: string
  readonly value: MappingPart
  /**
   * Keys of the name and the value (`spellingKey`). The key of the value is `null` if the value is a
   * placeholder.
   */
  readonly spelledMember: string
  readonly spelledValue: string | null
}

export interface RequestUrl {
  readonly segments: readonly string[]
  /** Pieces of the path, which all spellings of the path share. */
  readonly pieces: readonly PathPiece[]
  /** Text after `?`. All its escapes are valid. */
  readonly query: string
  /**
   * Decoded members after an encoded `?`. Servers that decode a URL before they search for `?` read them as
   * the query.
   */
  readonly queryInPath: string
}

// oxlint-disable-next-line no-control-regex
const NO_PART_OF_URLS = /[\u0000-\u0020\u007f]|%00/
/** Characters that some servers remove, or treat as the end of a segment. */
const READ_IN_TWO_WAYS = /[;\\]|%[01][0-9a-f]|%7f/i
/** Characters because of which some servers split the members of a query further. */
const OTHER_MEMBERS = /[%;]/
/** Maximum number of members in all spellings. Each member counts twice: as written, and decoded once. */
const SPELLED_MEMBERS_MAX = 2 * ASKED_QUERY_MEMBERS_MAX
/** Index of the host segment, if the URL has a host. */
const HOST = 2
/** For each scheme, a pattern for its default port, or for an empty port, at the end of a host. */
const DEFAULT_PORTS: ReadonlyMap<string, RegExp> = new Map([
  ['https:', /:(?:443)?$/],
  ['http:', /:(?:80)?$/],
])
const PLACEHOLDER = /^\{([^{}]+)\}$/
const BRACE = /[{}]/

/** Message for a URL that older releases accepted, although a rule with it never matches. */
export const FITS_NO_REQUEST =
  'must not contain segments . and .., a user name before the host or a segment of slashes only: no request matches them'

/**
 * Parses the URL of a rule. Returns an error message if the URL is invalid. `isCaseSensitive` states whether
 * the rule distinguishes the case of letters, in all spellings of a URL. O(length).
 */
export function readMappingUrl(url: string, isCaseSensitive = false): MappingUrl | string {
  if (url.includes('#')) return 'must not contain a fragment (#…): no request has one'
  if (NO_PART_OF_URLS.test(url)) return 'must not contain control characters and spaces: write a space as %20'
  if (!hasGoodEscapes(url)) return 'must contain % only before two hexadecimal digits that encode UTF-8'
  const [path, query] = partedAtQuery(url)
  if (READ_IN_TWO_WAYS.test(path)) {
    return String.raw`must not contain ;, \ and control characters in its path: no request matches them`
  }
  const raw = segmentsIn(path, MAPPING_SEGMENTS_MAX)
  if (raw === null) return `must contain at most ${MAPPING_SEGMENTS_MAX} segments`
  const names = new Set<string>()
  const segments: MappingPart[] = []
  const pieces: (string | null)[] = []
  const hostAt = hostIn(raw)
  for (const [index, part] of raw.entries()) {
    const read = readPart(part, names, decoded)
    if (typeof read === 'string') return read
    if ('name' in read) {
      segments.push(read)
      pieces.push(null)
      continue
    }
    segments.push({ text: ofAuthority(raw, index, read.text) })
    const spelled = piecesOf([part], index === hostAt ? 0 : -1)
    if (spelled === null) return FITS_NO_REQUEST
    const isFolded = !isCaseSensitive || isAnyCase(raw, index)
    for (const piece of spelled) pieces.push(spellingKey(piece, !isFolded))
  }
  const members = new Map<string, MappingMember>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const [name, rawValue] = partedAtEquals(part)
    const value = readPart(rawValue, names, decodedOfQuery)
    if (typeof value === 'string') return value
    if (name === '' || BRACE.test(name)) return 'must name each member of its query'
    const member = decodedOfQuery(name)
    if (members.has(member)) return `must contain the query member ${JSON.stringify(member)} only once`
    // If a member's spelling cannot be determined, the key is empty. A request with such a member matches no
    // rule with query members.
    const keyOf = (spelling: Spelling | null) => (spelling ? spellingKey(spelling, isCaseSensitive) : '')
    members.set(member, {
      member,
      value,
      spelledMember: keyOf(nameSpelling(name)),
      spelledValue: 'name' in value ? null : keyOf(valueSpelling(rawValue)),
    })
    if (members.size > MAPPING_QUERY_MEMBERS_MAX) {
      return `must contain at most ${MAPPING_QUERY_MEMBERS_MAX} query members`
    }
  }
  return { segments, pieces, query: [...members.values()] }
}

/**
 * Returns the text by which spellings are compared. Exact keys begin with a character that no URL contains.
 */
export function spellingKey({ exact, folded }: Spelling, isExact: boolean): string {
  return isExact ? `\0${exact}` : folded
}

/** Parses a part of a rule's URL. If the part is a placeholder, adds its name to `names`. */
function readPart(raw: string, names: Set<string>, decode: (raw: string) => string): MappingPart | string {
  if (!BRACE.test(raw)) return { text: decode(raw) }
  const name = PLACEHOLDER.exec(raw)?.[1]
  if (name === undefined)
    return 'must contain { and } only around a name that is a whole segment or a whole value'
  if (names.has(name)) return `must contain the name {${name}} only once`
  names.add(name)
  return { name }
}

/**
 * Parses the URL of a request. Returns null if servers could interpret the URL in different ways, or if it
 * has more than `segmentsMax` segments; it then matches no rule. All gateways use this parser. O(length).
 */
export function readRequestUrl(url: string, segmentsMax = MAPPING_SEGMENTS_MAX): RequestUrl | null {
  // Some servers remove a fragment, and others treat it as a part of the path.
  if (url.includes('#') || NO_PART_OF_URLS.test(url) || !hasGoodEscapes(url)) return null
  const [path, query] = partedAtQuery(url)
  if (READ_IN_TWO_WAYS.test(path)) return null
  const raw = segmentsIn(path, segmentsMax)
  const pieces = raw && piecesOf(raw, hostIn(raw))
  if (raw === null || pieces === null) return null
  const segments = raw.map((part, index) => ofAuthority(raw, index, decoded(part)))
  const hasEndInside = pieces.some(({ endsPath }) => endsPath)
  const queryInPath = hasEndInside ? (decodedWhole(path) ?? '').split('?').slice(1).join('&') : ''
  return { segments, pieces, query, queryInPath }
}

/**
 * Calls `visit` with each member of a request's query, in order: its decoded name and its raw value. If there
 * are more members than servers reliably read (`ASKED_QUERY_MEMBERS_MAX`), stops and returns false.
 */
export function visitMembers(query: string, visit: (name: string, rawValue: string) => void): boolean {
  let count = 0
  for (let from = 0; from < query.length;) {
    const next = query.indexOf('&', from)
    const end = next < 0 ? query.length : next
    if (end > from) {
      if (++count > ASKED_QUERY_MEMBERS_MAX) return false
      const [name, value] = partedAtEquals(query.slice(from, end))
      visit(decodedOfQuery(name), value)
    }
    from = end + 1
  }
  return true
}

/**
 * Like `visitMembers`, but visits the members in all spellings: as written, and as servers find them that
 * decode before splitting, or that also split at `;`. Values are raw. Returns false in the same cases as
 * `visitMembers`, and if a name still changes after several rounds of decoding.
 */
export function visitSpelledMembers(
  { query, queryInPath }: RequestUrl,
  visit: (name: Spelling, rawValue: string, isAsWritten: boolean) => boolean,
): boolean {
  const decodedQuery = OTHER_MEMBERS.test(query) ? decodedWhole(query) : ''
  if (decodedQuery === null) return false
  let count = 0
  for (const [members, isAsWritten] of [
    [query.split('&'), true],
    [`${decodedQuery}&${queryInPath}`.split(/[&;]/), false],
  ] as const) {
    for (const member of members) {
      if (member === '') continue
      const [rawName, rawValue] = partedAtEquals(member)
      const name = nameSpelling(rawName)
      if (name === null || ++count > SPELLED_MEMBERS_MAX || !visit(name, rawValue, isAsWritten)) return false
    }
  }
  return true
}

/**
 * Returns the index of the host among raw segments, which is after the first `//`. Returns -1 if there is no
 * host.
 */
function hostIn(segments: readonly string[]): number {
  return segments[1] === '' ? HOST : -1
}

/**
 * Returns whether the segment is the scheme or the host, before or after the first `//`. Both are
 * case-insensitive (RFC 3986, section 6.2.2.1).
 */
function isAnyCase(segments: readonly string[], index: number): boolean {
  return segments[1] === '' && (index === 0 || index === HOST)
}

/**
 * Returns a decoded segment. If it is the scheme or the host, converts it to lower case, and removes the
 * default port of the scheme (RFC 3986, section 6.2.3).
 */
function ofAuthority(segments: readonly string[], index: number, text: string): string {
  if (!isAnyCase(segments, index)) return text
  const lower = text.toLowerCase()
  const port = index === HOST ? DEFAULT_PORTS.get(decoded(segments[0]!).toLowerCase()) : undefined
  return port === undefined ? lower : lower.replace(port, '')
}

function hasGoodEscapes(text: string): boolean {
  if (!text.includes('%')) return true
  try {
    // Checks the whole text at once. No character spans two parts, because all separators are ASCII.
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/**
 * Decodes the escapes in a part. Throws if an escape is invalid; `readRequestUrl` checks all escapes before.
 */
function decoded(part: string): string {
  return part.includes('%') ? decodeURIComponent(part) : part
}

/** Decodes a name or a value in the query. In contrast to `decoded`, `+` is a space. */
export function decodedOfQuery(part: string): string {
  return decoded(part.replaceAll('+', ' '))
}

function partedAtQuery(url: string): readonly [path: string, query: string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

function partedAtEquals(member: string): readonly [name: string, value: string] {
  const at = member.indexOf('=')
  return at < 0 ? [member, ''] : [member.slice(0, at), member.slice(at + 1)]
}

/**
 * Returns the raw segments of a path. A `/` at the end is ignored. Returns null if there are more than `max`.
 */
function segmentsIn(path: string, max: number): string[] | null {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  const segments: string[] = []
  for (let from = 0; segments.length < max;) {
    const next = path.indexOf('/', from)
    const isLast = next < 0 || next >= end
    segments.push(path.slice(from, isLast ? end : next))
    if (isLast) return segments
    from = next + 1
  }
  return null
}
