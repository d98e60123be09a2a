/** Reads the `Authorization` header. The only supported scheme is `Bearer`. */

const SCHEME = 'bearer'

/** The token of a bearer header, null for any other header. The scheme is not case-sensitive. */
export function bearerToken(authorization: string): string | null {
  if (authorization.charCodeAt(SCHEME.length) !== 0x20) return null
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  const token = authorization.slice(SCHEME.length + 1).trim()
  return token === '' ? null : token
}
