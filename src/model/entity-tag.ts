/**
 * Compares entity tags (RFC 9110, section 8.8.3) after proxies may have changed them. A proxy that compresses
 * a response changes its tag: HAProxy, nginx and Caddy send `W/"x"`, Apache sends `"x-gzip"`.
 */

/** The name of a content coding, after the separator that proxies use. */
const CODING_SUFFIX = /^[-;:+.]{1,2}[A-Za-z][A-Za-z0-9]*$/

/** The tag without the prefix of weak tags. */
export function strongTag(tag: string): string {
  return tag.replace(/^W\//, '')
}

/**
 * Whether a strong tag from a client is this one, with or without a suffix. Both are in quotes. A tag of this
 * service plus a suffix is never another tag of it, because all hashes have the same length.
 */
export function isSameTag(sent: string, own: string): boolean {
  if (sent === own) return true
  const begin = own.slice(0, -1)
  return sent.startsWith(begin) && CODING_SUFFIX.test(sent.slice(begin.length, -1))
}
