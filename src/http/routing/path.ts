/**
 * What a request path says before any route is known: the form its errors take, and what its parts mean.
 *
 * A part is percent-decoded exactly once, after the path was cut at its slashes, so `%2F` becomes a slash inside a
 * key and never a border between parts. Decoding is injective: bytes that are no UTF-8 are refused instead of being
 * replaced, because two different paths must never name the same key.
 */
import type { ErrorFamily } from '#http/message/request-reply.ts'
import { AuthzError } from '#model/errors.ts'

const REPLACEMENT_CHARACTER = '\uFFFD'

/** The form of error answers under this path, also where no route exists (native.md 0.19). */
export function familyOfPath(path: string): ErrorFamily {
  if (isUnder(path, '/v2') || isUnder(path, '/v1') || isUnder(path, '/facts')) return 'management'
  if (isUnder(path, '/access/v1') || isUnder(path, '/.well-known/authzen-configuration')) return 'access'
  return 'native'
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
}

/** The meaning of one raw path part. Throws `INVALID_SHAPE`, naming the parameter, when it has none. */
export function decodePathPart(raw: string, name: string): string {
  // The HTTP library has already replaced raw bytes that are no UTF-8. A caller who means this very character
  // can still write it as %EF%BF%BD.
  if (!raw.includes(REPLACEMENT_CHARACTER)) {
    if (!raw.includes('%')) return raw
    try {
      return decodeURIComponent(raw)
    } catch {
      // Falls through: a malformed escape, or escapes that are no UTF-8.
    }
  }
  const msg = 'must be percent-encoded UTF-8'
  throw new AuthzError('INVALID_SHAPE', `path.${name}: ${msg}`, {
    detail: [{ loc: ['path', name], msg, type: 'encoding' }],
  })
}
