/**
 * Properties of a request path that do not depend on a route: the format of its errors, and the decoding of
 * its segments.
 *
 * A segment is percent-decoded exactly once, after the path was split at its slashes. So `%2F` becomes a
 * slash inside a key and never separates segments. Decoding is injective: invalid UTF-8 is rejected instead
 * of being replaced, because two different paths must never refer to the same key.
 */
import type { ErrorFamily } from '#http/message/request-reply.ts'
import { AuthzError } from '#model/errors.ts'

const REPLACEMENT_CHARACTER = '\uFFFD'

/** Format of error responses for this path, even if no route exists (native.md 0.19). */
export function familyOfPath(path: string): ErrorFamily {
  if (isUnder(path, '/v2') || isUnder(path, '/v1') || isUnder(path, '/facts')) return 'management'
  if (isUnder(path, '/access/v1') || isUnder(path, '/.well-known/authzen-configuration')) return 'access'
  return 'native'
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
}

/** Decodes one raw segment. Throws `INVALID_SHAPE` with the name of the parameter if it cannot be decoded. */
export function decodePathPart(raw: string, name: string): string {
  // The HTTP library has already replaced raw bytes that are not valid UTF-8. A client can still send this
  // character as %EF%BF%BD.
  if (!raw.includes(REPLACEMENT_CHARACTER)) {
    if (!raw.includes('%')) return raw
    try {
      return decodeURIComponent(raw)
    } catch {
      // Falls through: a malformed escape, or escapes that are not valid UTF-8.
    }
  }
  const msg = 'must be percent-encoded UTF-8'
  throw new AuthzError('INVALID_SHAPE', `path.${name}: ${msg}`, {
    detail: [{ loc: ['path', name], msg, type: 'encoding' }],
  })
}
