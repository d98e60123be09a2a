/**
 * Checks text for response headers. All text in a header that is not a constant of this code base must pass
 * this check, so that no client can inject a header.
 */

/**
 * Whether the text consists of printable ASCII characters: no control characters such as line breaks and
 * tabs, and no character above the tilde.
 */
export function isPrintableAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}
