/**
 * Entity tags (RFC 9110, section 8.8.3) as they return through proxies. A proxy that compresses a response changes its tag: HAProxy, nginx
 * and Caddy send `W/"x"`, Apache sends `"x-gzip"`.
 */

/** The name of a content coding, after the separator that proxies use. */
const CODING_SUFFIX = /^[-;:+.]{1,2}[A-Za-z][A-Za-z0-9]*$/

/** The tag without the mark of a weak one. */
export function strongTag(tag: string): string {
  return tag.replace(/^W\//, '')
}

/**
 * Whether a strong tag that a client sends is this one, with or without a suffix. Both are in quotes. No tag of ours is another one
 * with a suffix: hashes have one length.
 */
export function isSameTag(sent: string, own: string): boolean {
  if (sent === own) return true
  const begin = own.slice(0, -1)
  return sent.startsWith(begin) && CODING_SUFFIX.test(sent.slice(begin.length, -1))
}
