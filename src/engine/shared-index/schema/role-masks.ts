/**
 * Sets of roles of one type, or of tenant roles. A set is stored as pairs [bank, mask]… in ascending order of
 * banks, encoded as in facts (`layout.ts`). Sets are immutable.
 */
import type { Role } from './schema.ts'

export type RoleMasks = Int32Array

export const NO_ROLES: RoleMasks = new Int32Array(0)

export class RoleIndexSet {
  readonly #masks: RoleMasks

  constructor(masks: RoleMasks) {
    this.#masks = masks
  }

  /** Returns whether the set contains the role. O(log banks). */
  has(roleIndex: number): boolean {
    const masks = this.#masks
    const bank = roleIndex >>> 5
    let from = 0
    let to = masks.length >> 1
    while (from < to) {
      const middle = (from + to) >> 1
      if (masks[middle * 2]! < bank) from = middle + 1
      else to = middle
    }
    return masks[from * 2] === bank && (masks[from * 2 + 1]! & (1 << (roleIndex & 31))) !== 0
  }

  *[Symbol.iterator](): Iterator<number> {
    yield* roleIndexesOf(this.#masks)
  }
}

/** Returns the role indexes in ascending order. */
export function* roleIndexesOf(masks: RoleMasks): Iterable<number> {
  for (let m = 0; m < masks.length; m += 2) {
    for (let rest = masks[m + 1]!; rest !== 0; rest &= rest - 1) {
      yield masks[m]! * 32 + 31 - Math.clz32(rest & -rest)
    }
  }
}

/** Computes unions of sets of roles. One object is reused for many unions. */
export class MaskSum {
  #banks = new Int32Array(64)
  #end = 0

  add(masks: RoleMasks): void {
    const end = masks.length === 0 ? 0 : masks[masks.length - 2]! + 1
    if (end > this.#end) this.#reach(end)
    const banks = this.#banks
    for (let m = 0; m < masks.length; m += 2) banks[masks[m]!]! |= masks[m + 1]!
  }

  addRoleIndex(roleIndex: number): void {
    const bank = roleIndex >>> 5
    if (bank >= this.#end) this.#reach(bank + 1)
    this.#banks[bank]! |= 1 << (roleIndex & 31)
  }

  /** Returns the union and empties this object for the next one. */
  take(): RoleMasks {
    const banks = this.#banks
    let used = 0
    for (let bank = 0; bank < this.#end; bank++) if (banks[bank] !== 0) used += 1
    const masks = used === 0 ? NO_ROLES : new Int32Array(used * 2)
    let at = 0
    for (let bank = 0; bank < this.#end; bank++) {
      if (banks[bank] === 0) continue
      masks[at++] = bank
      masks[at++] = banks[bank]!
      banks[bank] = 0
    }
    this.#end = 0
    return masks
  }

  #reach(end: number): void {
    if (end > this.#banks.length) {
      const banks = new Int32Array(Math.max(end, this.#banks.length * 2))
      banks.set(this.#banks)
      this.#banks = banks
    }
    this.#end = end
  }
}

/**
 * Returns the roles that have the permissions of this role: the role itself and all roles that extend it,
 * directly or indirectly. O(these roles); cached in the role.
 */
export function reachedBy(role: Role, sum: MaskSum): RoleMasks {
  if (role.reachedBy) return role.reachedBy
  // The set is its own work list: a `Set` iterates over elements that are added during the iteration.
  const all = new Set([role])
  for (const next of all) {
    sum.addRoleIndex(next.roleIndex)
    for (const other of next.extendedBy) all.add(other)
  }
  role.reachedBy = sum.take()
  return role.reachedBy
}

export function isSameMasks(left: RoleMasks, right: RoleMasks): boolean {
  if (left.length !== right.length) return false
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false
  return true
}

export function meets(left: RoleMasks, right: RoleMasks): boolean {
  for (let l = 0, r = 0; l < left.length && r < right.length;) {
    if (left[l]! < right[r]!) l += 2
    else if (left[l]! > right[r]!) r += 2
    else if ((left[l + 1]! & right[r + 1]!) !== 0) return true
    else {
      l += 2
      r += 2
    }
  }
  return false
}

/** Assigns a number to each different set of roles, so that equal sets are stored once. */
export class MaskSets {
  readonly sets: RoleMasks[] = []
  readonly #byHash = new Map<number, number[]>()

  /** Returns the number of a set. Expected O(banks of the set). */
  numberOf(masks: RoleMasks): number {
    let hash = masks.length
    for (let i = 0; i < masks.length; i++) hash = Math.imul(hash ^ masks[i]!, 0x01000193) ^ (hash >>> 15)
    const alike = this.#byHash.get(hash)
    for (const number of alike ?? []) if (isSameMasks(this.sets[number]!, masks)) return number
    const number = this.sets.length
    this.sets.push(masks)
    if (alike) alike.push(number)
    else this.#byHash.set(hash, [number])
    return number
  }
}
