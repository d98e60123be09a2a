/**
 * Determines the format of errors from a request path, and decodes the segments of the path. Neither depends
 * on a route.
 *
 * A segment is percent-decoded exactly once, after the path was split at its slashes. Therefore `%2F` becomes
 * a slash inside a key and never separates segments. Invalid UTF-8 is rejected and not replaced, because two
 * different paths must never refer to the same key.
 */
import type { ErrorFamily } from '#http/message/request-reply.ts'
import { AuthzError } from '#model/errors.ts'

const REPLACEMENT_CHARACTER = '\uFFFD'

/**
 * Format of error responses for this path. It is also defined if no route exists for the path (native.md
 * 0.19).
 */
export function familyOfPath(path: string): ErrorFamily {
  if (isUnder(path, '/v2') || isUnder(path, '/v1') || isUnder(path, '/facts')) return 'management'
  if (isUnder(path, '/access/v1') || isUnder(path, '/.well-known/authzen-configuration')) return 'access'
  return path === '/allowed/plan' ? 'plan' : 'native'
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
}

/**
 * Decodes one segment as it was sent. Throws `INVALID_SHAPE` with the name of the parameter if the segment
 * cannot be decoded.
 */
export function decodePathPart(raw: string, name: string): string {
  // The HTTP library replaces bytes that are not valid UTF-8 with this character, so a raw path that contains
  // it is rejected. A client can still send the character itself as %EF%BF%BD.
  if (!raw.includes(REPLACEMENT_CHARACTER)) {
    if (!raw.includes('%')) return raw
    try {
      return decodeURIComponent(raw)
    } catch {
      // Continues with the error below: an escape is malformed, or the escapes are not valid UTF-8.
    }
  }
  const msg = 'must be percent-encoded UTF-8'
  throw new AuthzError('INVALID_SHAPE', `path.${name}: ${msg}`, {
    detail: [{ loc: ['path', name], msg, type: 'encoding' }],
  })
}
