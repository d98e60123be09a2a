/**
 * Writes plain data as readable YAML. Short values are written on one line, and others below their key. The
 * output has the same meaning in YAML 1.1 and 1.2. For any input, it contains no tags, anchors or comments.
 */

/** Maximum length of a line that contains a key and, after it, a whole map or list. */
const LINE_LENGTH = 100
/**
 * Maximum length of a key without a `?` prefix. For a longer key, a parser would stop searching for the
 * colon.
 */
const PLAIN_KEY_LENGTH_MAX = 256
const PLAIN = /^[A-Za-z_](?:[\w ./@+-]*[\w./@+-])?$/
/** Words that some parsers read as values of another type. */
const WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n'])
/** Characters that are valid in a quoted JSON string, but not in YAML or not for every parser. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/** Returns the lines of a member of a map, each with its line end. Each line begins with `indent`. */
export function* memberLines(key: string, value: unknown, indent = ''): Iterable<string> {
  const text = scalar(key)
  const isLong = text.length > PLAIN_KEY_LENGTH_MAX
  if (isLong) yield `${indent}? ${text}\n`
  yield* valueLines(value, isLong ? `${indent}:` : `${indent}${text}:`, `${indent}  `)
}

/** Returns the lines of an element of a list. */
export function* elementLines(value: unknown, indent = ''): Iterable<string> {
  yield* valueLines(value, `${indent}-`, `${indent}  `)
}

function* valueLines(value: unknown, head: string, indent: string): Iterable<string> {
  const line = inline(value, LINE_LENGTH - head.length)
  if (line !== null || value === null || typeof value !== 'object') {
    yield `${head} ${line ?? scalar(value)}\n`
    return
  }
  yield `${head}\n`
  if (Array.isArray(value)) for (const element of value) yield* elementLines(element, indent)
  else for (const [key, member] of Object.entries(value)) yield* memberLines(key, member, indent)
}

/**
 * Returns the value on one line, or null if that is longer than `room`. Processes only as much of the value
 * as fits.
 */
function inline(value: unknown, room: number): string | null {
  if (value === null || typeof value !== 'object') {
    const text = scalar(value)
    return text.length <= room ? text : null
  }
  const isList = Array.isArray(value)
  const parts: string[] = []
  let left = room - 4
  for (const [key, member] of Object.entries(value)) {
    const head = isList ? '' : `${scalar(key)}: `
    const text = inline(member, left - head.length)
    if (text === null) return null
    parts.push(head + text)
    left -= head.length + text.length + 2
    if (left < 0) return null
  }
  if (parts.length === 0) return isList ? '[]' : '{}'
  return isList ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  if (PLAIN.test(value) && value.length < LINE_LENGTH && !WORDS.has(value.toLowerCase())) return value
  return JSON.stringify(value).replaceAll(
    UNPRINTABLE,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
