/**
 * Compares strings by their UTF-8 bytes (native.md D-46), without encoding them. UTF-16 code units have the
 * same order, with one exception: surrogates (characters from U+10000) come before U+E000 to U+FFFF. `rank`
 * corrects this.
 */

/** Returns a negative number, zero or a positive number, as `Array.sort` requires. O(common prefix). */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const leftUnit = left.charCodeAt(index)
    const rightUnit = right.charCodeAt(index)
    if (leftUnit !== rightUnit) return rank(leftUnit) - rank(rightUnit)
  }
  return left.length - right.length
}

/** Code units whose order differs from that of the bytes. */
const OTHER_ORDER = /[\ud800-\uffff]/u

/** Returns the texts in ascending order of their UTF-8 bytes. It avoids `compareUtf8` if it can. */
export function sortedByUtf8(texts: readonly string[]): string[] {
  if (texts.some(text => OTHER_ORDER.test(text))) return texts.toSorted(compareUtf8)
  const isSorted = texts.every((text, index) => index === 0 || texts[index - 1]! <= text)
  return isSorted ? [...texts] : texts.toSorted()
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
