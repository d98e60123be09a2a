/**
 * A set of pairs (left, right) that can be read and emptied from both ends.
 *
 * Invariant: a pair stands in both directions or in neither, and no empty set is kept, so memory follows the
 * pairs present. Members are compared by identity: interned objects need no joined string keys, and a member that
 * is made anew is a different member. It does not order pairs beyond the order of insertion.
 */

const NOTHING: ReadonlySet<never> = new Set()

export class PairSet<Left, Right> {
  readonly #rightsOf = new Map<Left, Set<Right>>()
  readonly #leftsOf = new Map<Right, Set<Left>>()

  /** O(1); adding a pair again changes nothing. */
  add(left: Left, right: Right): void {
    link(this.#rightsOf, left, right)
    link(this.#leftsOf, right, left)
  }

  /** O(1); deleting an absent pair changes nothing. */
  delete(left: Left, right: Right): void {
    unlink(this.#rightsOf, left, right)
    unlink(this.#leftsOf, right, left)
  }

  has(left: Left, right: Right): boolean {
    return this.#rightsOf.get(left)?.has(right) ?? false
  }

  /** The live set: not to be held across a change. O(1). */
  rightsOf(left: Left): ReadonlySet<Right> {
    return this.#rightsOf.get(left) ?? NOTHING
  }

  /** The live set: not to be held across a change. O(1). */
  leftsOf(right: Right): ReadonlySet<Left> {
    return this.#leftsOf.get(right) ?? NOTHING
  }

  /** Deletes every pair with this left member. O(pairs deleted). */
  deleteLeft(left: Left): void {
    for (const right of this.#rightsOf.get(left) ?? NOTHING) unlink(this.#leftsOf, right, left)
    this.#rightsOf.delete(left)
  }

  /** Deletes every pair with this right member. O(pairs deleted). */
  deleteRight(right: Right): void {
    for (const left of this.#leftsOf.get(right) ?? NOTHING) unlink(this.#rightsOf, left, right)
    this.#leftsOf.delete(right)
  }
}

function link<From, To>(direction: Map<From, Set<To>>, from: From, to: To): void {
  const linked = direction.get(from)
  if (linked) linked.add(to)
  else direction.set(from, new Set([to]))
}

function unlink<From, To>(direction: Map<From, Set<To>>, from: From, to: To): void {
  const linked = direction.get(from)
  if (!linked) return
  linked.delete(to)
  if (linked.size === 0) direction.delete(from)
}
