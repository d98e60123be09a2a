/**
 * Packs several arrays of words into one, and texts into words:
 *
 *   arrays   │ words of array 0 │ … of array n-1 │ array 0 │ … │ array n-1 │
 *   texts    │ bytes of a character │ count │ end of text 0, in characters │ … │ characters, padded │
 *
 * Unpacked arrays share the memory of the packed one.
 */

/** Copies words of a unit of the schema. Returns null if another schema is being published. */
export type UnitSource = (from: number, to: number) => Int32Array | null
const WORD_BYTES = 4

export function packArrays(arrays: readonly Int32Array[]): Int32Array {
  const packed = new Int32Array(packedWords(arrays))
  let at = 0
  for (const array of [lengthsOf(arrays), ...arrays]) {
    packed.set(array, at)
    at += array.length
  }
  return packed
}

/** Returns the number of words of the packed arrays. */
export function packedWords(arrays: readonly Int32Array[]): number {
  return arrays.reduce((sum, array) => sum + array.length, arrays.length)
}

/** Returns the lengths that precede the packed arrays. */
export function lengthsOf(arrays: readonly Int32Array[]): Int32Array {
  return Int32Array.from(arrays, array => array.length)
}

export function unpackArrays(packed: Int32Array, count: number): Int32Array[] {
  const arrays: Int32Array[] = []
  let at = count
  for (let index = 0; index < count; index++) {
    arrays.push(packed.subarray(at, at + packed[index]!))
    at += packed[index]!
  }
  return arrays
}

/** Packs any strings without loss: one byte per character if possible, otherwise UTF-16. */
export function packTexts(texts: readonly string[]): Int32Array {
  const all = texts.join('')
  let isWide = false
  for (let i = 0; i < all.length && !isWide; i++) isWide = all.charCodeAt(i) > 0xff
  const characterBytes = isWide ? 2 : 1
  const start = 2 + texts.length
  const packed = new Int32Array(start + Math.ceil((all.length * characterBytes) / WORD_BYTES))
  packed[0] = characterBytes
  packed[1] = texts.length
  let end = 0
  for (const [index, text] of texts.entries()) packed[2 + index] = end += text.length
  bytesOf(packed, start).write(all, isWide ? 'utf16le' : 'latin1')
  return packed
}

export function unpackTexts(packed: Int32Array): string[] {
  const count = packed[1]!
  const start = 2 + count
  const all = bytesOf(packed, start).toString(packed[0] === 2 ? 'utf16le' : 'latin1')
  const texts: string[] = []
  for (let index = 0, from = 0; index < count; index++) {
    const end = packed[2 + index]!
    texts.push(all.slice(from, end))
    from = end
  }
  return texts
}

function bytesOf(packed: Int32Array, start: number): Buffer {
  return Buffer.from(
    packed.buffer,
    packed.byteOffset + start * WORD_BYTES,
    (packed.length - start) * WORD_BYTES,
  )
}
