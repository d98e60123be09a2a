/** Finds the existing name that a mistyped name probably stands for. */

/**
 * Maximum length of a name for which a suggestion is made. The time to compare two names is proportional to
 * the product of their lengths.
 */
const NAME_LENGTH_MAX = 128

/** Returns the name that is most similar to the given one, if there is a similar name. O(names × length²). */
export function nearestName(given: string, names: Iterable<string>): string | null {
  if (given.length > NAME_LENGTH_MAX) return null
  const lower = given.toLowerCase()
  let best: string | null = null
  // Names are similar if at most a third of the letters differ, but not all of them.
  let bound = Math.min(Math.max(1, Math.floor(given.length / 3)), given.length - 1) + 1
  for (const name of names) {
    if (name === given || Math.abs(name.length - given.length) >= bound) continue
    const distance = editDistance(lower, name.toLowerCase(), bound)
    if (distance >= bound) continue
    best = name
    bound = distance
    if (distance === 0) break
  }
  return best
}

/**
 * Returns the edit distance: the number of letters to add, remove, replace, or swap with their neighbor. If
 * the distance is at least `bound`, returns some number that is at least `bound`.
 */
function editDistance(one: string, other: string, bound: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      let cost = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1))
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (isExchanged) cost = Math.min(cost, beforeLast[column - 2]! + 1)
      next.push(cost)
    }
    if (Math.min(...next) >= bound) return bound
    beforeLast = last
    last = next
  }
  return last[other.length]!
}
