/**
 * URLs of mapping rules, and of requests that are held against them, taken apart alike (conditions, section 10.3): at `/` into
 * segments, scheme and host included, and the query at `&` into members. A part is percent-decoded once, behind that, so that a decoded
 * `%2F` stays within its segment.
 *
 * What two programs could read differently fits no rule, since whoever is behind the gateway may read it the other way: segments that
 * lead elsewhere (`.`, `..`), parameters of segments (`;`), `\`, fragments, escapes that are none, control characters. In the query `+` is
 * a space, as servers read it.
 */
import { hasDotSegments } from './dot-segments.ts'
import { ASKED_QUERY_MEMBERS_MAX, MAPPING_QUERY_MEMBERS_MAX, MAPPING_SEGMENTS_MAX } from './limits.ts'

/** The methods that a mapping rule may be about. */
export const MAPPING_METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const
export type MappingMethod = (typeof MAPPING_METHODS)[number]

/** What a rule wants of a part of a URL: this text, or any, which is then called so. */
export type MappingPart = { readonly text: string } | { readonly name: string }

export interface MappingUrl {
  readonly segments: readonly MappingPart[]
  /** Each of another name. */
  readonly query: readonly { readonly member: string; readonly value: MappingPart }[]
}

export interface RequestUrl {
  readonly segments: readonly string[]
  /** The text behind `?`, in which all escapes are good. */
  readonly query: string
}

// oxlint-disable-next-line no-control-regex
const NO_PART_OF_URLS = /[\u0000-\u0020\u007f]|%00/
/** What others take for the end of a segment, or leave out. */
const READ_IN_TWO_WAYS = /[;\\]|%[01][0-9a-f]|%7f/i
const PLACEHOLDER = /^\{([^{}]+)\}$/
const BRACE = /[{}]/

/** The URL of a rule; a text says what is wrong with it. O(length). */
export function readMappingUrl(url: string): MappingUrl | string {
  if (url.includes('#')) return 'must have no fragment (#…), which no request has'
  if (NO_PART_OF_URLS.test(url)) return 'must have no control characters and no spaces: a space is %20'
  if (!hasGoodEscapes(url)) return 'must have % only before two hexadecimal digits, which are UTF-8 together'
  const [path, query] = partedAtQuery(url)
  if (hasDotSegments(path)) return 'must have no segments . and .., which fit no request'
  if (READ_IN_TWO_WAYS.test(path)) {
    return String.raw`must have no ;, no \ and no control characters in its path, which fit no request`
  }
  const raw = segmentsIn(path, MAPPING_SEGMENTS_MAX)
  if (raw === null) return `must have at most ${MAPPING_SEGMENTS_MAX} segments`
  const names = new Set<string>()
  const segments: MappingPart[] = []
  for (const [index, part] of raw.entries()) {
    const read = readPart(part, names, decoded)
    if (typeof read === 'string') return read
    segments.push('text' in read && isAnyCase(raw, index) ? { text: read.text.toLowerCase() } : read)
  }
  const members = new Map<string, MappingPart>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const [name, value] = partedAtEquals(part)
    const read = readPart(value, names, decodedOfQuery)
    if (typeof read === 'string') return read
    if (name === '' || BRACE.test(name)) return 'must name each member of its query'
    const member = decodedOfQuery(name)
    if (members.has(member)) return `must have the query member ${JSON.stringify(member)} once`
    members.set(member, read)
    if (members.size > MAPPING_QUERY_MEMBERS_MAX) {
      return `must have at most ${MAPPING_QUERY_MEMBERS_MAX} query members`
    }
  }
  return { segments, query: Array.from(members, ([member, value]) => ({ member, value })) }
}

/** Notes the name of a placeholder in `names`. */
function readPart(raw: string, names: Set<string>, decode: (raw: string) => string): MappingPart | string {
  if (!BRACE.test(raw)) return { text: decode(raw) }
  const name = PLACEHOLDER.exec(raw)?.[1]
  if (name === undefined) return 'must have { and } around a name only, as a whole segment or a whole value'
  if (names.has(name)) return `must have the name {${name}} once`
  names.add(name)
  return { name }
}

/**
 * The URL of a request; null: it fits no rule, whatever rules there are. O(length) in a few searches of the runtime's own, and O(1) of
 * ours: no rule has more segments than are looked at.
 */
export function readRequestUrl(url: string): RequestUrl | null {
  // Some servers leave a fragment out, and others have it for a part of the path.
  if (url.includes('#') || NO_PART_OF_URLS.test(url) || !hasGoodEscapes(url)) return null
  const [path, query] = partedAtQuery(url)
  if (hasDotSegments(path) || READ_IN_TWO_WAYS.test(path)) return null
  const raw = segmentsIn(path, MAPPING_SEGMENTS_MAX)
  if (raw === null) return null
  const segments = raw.map((part, index) => {
    const text = decoded(part)
    return isAnyCase(raw, index) ? text.toLowerCase() : text
  })
  return { segments, query }
}

/**
 * Visits the members of a request's query in order, each with its decoded name and a raw value. False where there are more than any
 * program can be relied on to read (`ASKED_QUERY_MEMBERS_MAX`): it stops there.
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

/** Scheme and host, which mean the same in any case (RFC 3986, section 6.2.2.1): what stands around the first `//`. */
function isAnyCase(segments: readonly string[], index: number): boolean {
  return segments[1] === '' && (index === 0 || index === 2)
}

function hasGoodEscapes(text: string): boolean {
  if (!text.includes('%')) return true
  try {
    // Of the whole at once: no character goes beyond a part, because what parts is ASCII.
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** A part with its escapes decoded. Throws where one is none: `readRequestUrl` looks at all of them before. */
function decoded(part: string): string {
  return part.includes('%') ? decodeURIComponent(part) : part
}

/** The same for a name or a value in the query. */
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

/** Without a `/` at the end; null where there are more than `max`. */
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
