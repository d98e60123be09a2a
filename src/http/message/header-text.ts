/**
 * Which texts may stand in a response header. Everything we put there and did not write ourselves passes this test,
 * so that no caller can end a header early and begin one of their own.
 */

/** Whether the text is printable ASCII only: no control characters (line ends, tabs), nothing above the tilde. */
export function isPrintableAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}
