/** Parses the `Authorization` header. The only supported scheme is `Bearer`. */

const SCHEME = 'bearer'

/**
 * Returns the token of a bearer header, or null if the header has another scheme. The name of the scheme is
 * not case-sensitive.
 */
export function bearerToken(authorization: string): string | null {
  if (authorization.charCodeAt(SCHEME.length) !== 0x20) return null
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  const token = authorization.slice(SCHEME.length + 1).trim()
  return token === '' ? null : token
}
