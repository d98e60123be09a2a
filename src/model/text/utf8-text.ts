/**
 * Decodes UTF-8 strictly. Replacement characters could make two different keys equal. Therefore invalid bytes
 * are rejected, and the error contains their position.
 */

const LINE_FEED = 0x0a

/**
 * Thrown for bytes that are not valid UTF-8. The message begins with the line and column of the first invalid
 * byte.
 */
export class EncodingError extends Error {
  override readonly name = 'EncodingError'
}

/**
 * Decodes UTF-8. `firstLine` is the number of the first line. If it is 1, a byte order mark at the beginning
 * is removed. Throws `EncodingError`.
 */
export function utf8Text(bytes: Uint8Array, firstLine = 1): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: firstLine > 1 }).decode(bytes)
  } catch {
    throw new EncodingError(faultIn(bytes, firstLine))
  }
}

/**
 * Returns the position of the first invalid byte. Decodes the lines one by one; this is possible because a
 * line feed is never a part of a longer character. O(bytes).
 */
function faultIn(bytes: Uint8Array, firstLine: number): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const encoder = new TextEncoder()
  for (let [number, start] = [firstLine, 0]; ; number += 1) {
    const end = bytes.indexOf(LINE_FEED, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end)
    // The encoded text differs from the line at the first replacement character, which the decoder inserts
    // for invalid bytes.
    const decoded = encoder.encode(decoder.decode(line))
    let at = decoded.findIndex((byte, index) => byte !== line[index])
    if (at >= 0) {
      while ((decoded[at]! & 0xc0) === 0x80) at -= 1
      const column = decoder.decode(line.subarray(0, at)).length + 1
      const byte = line[at]!.toString(16).padStart(2, '0')
      const isGzip = number === 1 && line[0] === 0x1f && line[1] === 0x8b
      const advice = isGzip ? 'the data is in gzip format, decompress it first' : 'save the text as UTF-8'
      return `${number}:${column}: expected UTF-8, received the byte 0x${byte}; ${advice}`
    }
    start = end + 1
  }
}
