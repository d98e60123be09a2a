/**
 * Compares entity tags (RFC 9110, section 8.8.3) that proxies might have changed. A proxy that compresses a
 * response changes its tag: HAProxy, nginx and Caddy send `W/"x"`, and Apache sends `"x-gzip"`.
 */

/** Matches the name of a content coding, after the separator that proxies put before it. */
const CODING_SUFFIX = /^[-;:+.]{1,2}[A-Za-z][A-Za-z0-9]*$/

/** Returns the tag without the prefix that marks weak tags. */
export function strongTag(tag: string): string {
  return tag.replace(/^W\//, '')
}

/**
 * Returns whether a strong tag from a client is this tag, with or without a suffix. Both tags are in quotes.
 * A tag of this service with a suffix never equals another of its tags, because all hashes have the same
 * length.
 */
export function isSameTag(sent: string, own: string): boolean {
  if (sent === own) return true
  const begin = own.slice(0, -1)
  return sent.startsWith(begin) && CODING_SUFFIX.test(sent.slice(begin.length, -1))
}
