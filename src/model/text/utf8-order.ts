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

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
