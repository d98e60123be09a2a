/**
 * Token that proves that a request with the cookie of a session was made by a page of this service
 * (administration.md C3). It follows from the secret of the session, so that no node stores it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The token of the session with this secret, in base64url. */
export function csrfTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url')
}

/** Whether `sent` is this token. Takes the same time for each token of its length. */
export function isSameToken(sent: string | undefined, token: string): boolean {
  if (sent === undefined) return false
  const [expected, given] = [Buffer.from(token), Buffer.from(sent)]
  return expected.length === given.length && timingSafeEqual(expected, given)
}
