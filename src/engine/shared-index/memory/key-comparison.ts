/** Compares the keys of records by their UTF-8 bytes, without copying them (native.md D-46). */
import type { Key } from './key.ts'
import * as L from './layout.ts'
import { keyBytes, keyStart } from './records.ts'

/**
 * Compares the keys of two records. The result is that of a comparison function for `sort`. O(common prefix).
 */
export function compareKeys(graph: Int32Array, left: number, right: number): number {
  const a = left << L.LINE_WORDS_LOG2
  const b = right << L.LINE_WORDS_LOG2
  const lengths = keyBytes(graph, a) - keyBytes(graph, b)
  const words = (Math.min(keyBytes(graph, a), keyBytes(graph, b)) + 3) >>> 2
  return compareWords(graph, keyStart(graph, a), graph, keyStart(graph, b), words) || lengths
}

/** Compares the key of a record with a given key. */
export function compareWithKey(graph: Int32Array, line: number, key: Key): number {
  const record = line << L.LINE_WORDS_LOG2
  const bytes = keyBytes(graph, record)
  const words = (Math.min(bytes, key.bytes) + 3) >>> 2
  return compareWords(graph, keyStart(graph, record), key.words, 0, words) || bytes - key.bytes
}

/**
 * Compares words that contain bytes in little-endian order, padded with zeros. After their bytes are swapped,
 * unsigned words compare like the byte sequences.
 */
function compareWords(a: Int32Array, fromA: number, b: Int32Array, fromB: number, count: number): number {
  for (let at = 0; at < count; at++) {
    const left = a[fromA + at]!
    const right = b[fromB + at]!
    if (left !== right) return bytesSwapped(left) - bytesSwapped(right)
  }
  return 0
}

/** Returns the word with its bytes in the opposite order, as an unsigned number. */
export function bytesSwapped(word: number): number {
  return ((word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24)) >>> 0
}
