/**
 * Computes the names and permissions of sets of roles of one type. Many scopes have the same set, so each set
 * is computed once. Equal sets have the same result object, so that callers can recognize them by identity.
 *
 * O(all permissions) for each role that occurs, and O(permissions of its roles) for each set.
 */
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { TypeView } from '#engine/shared-index/schema/schema-view.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { roleIndexesIn } from './holdings.ts'

/** Number of permissions that are processed between two pauses. */
const STAGE_PERMISSIONS = 2_048

export interface Meaning<Permission> {
  /** Keys of the roles, in the order of their UTF-8 bytes. */
  readonly roles: readonly string[]
  /** Permissions, in the order in which they were passed to the constructor. */
  readonly permissions: readonly Permission[]
}

/** A permission, and the roles that grant it, including roles that extend such a role. */
export type Permitted<Permission> = readonly [Permission, { has(roleIndex: number): boolean }]

export class RoleMeanings<Permission> {
  readonly #type: TypeView
  readonly #permitted: readonly Permitted<Permission>[]
  /** For each role index, the rank of the role in the order of keys. */
  readonly #rank = new Map<number, number>()
  /** For each role index, the positions in `#permitted` of the permissions of the role. */
  readonly #permittedBy = new Map<number, Int32Array>()
  readonly #known = new Map<string, Meaning<Permission>>()
  /** For each position in `#permitted`, 1 if a role of the current set grants the permission. */
  readonly #marks: Uint8Array

  constructor(type: TypeView, permitted: readonly Permitted<Permission>[]) {
    this.#type = type
    this.#permitted = permitted
    this.#marks = new Uint8Array(permitted.length)
    const roleIndexes = type.roleKeys.flatMap((key, roleIndex) => (key === undefined ? [] : [roleIndex]))
    const ordered = roleIndexes.toSorted((left, right) =>
      compareUtf8(type.roleKeys[left]!, type.roleKeys[right]!),
    )
    for (const [rank, roleIndex] of ordered.entries()) this.#rank.set(roleIndex, rank)
  }

  /**
   * Returns the names and permissions of a set. `masks` are pairs [bank, mask] in ascending order of banks.
   * No mask may be 0.
   */
  *of(masks: readonly number[]): Resumable<Meaning<Permission>> {
    const name = masks.join()
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const roleIndexes: number[] = []
    for (let m = 0; m < masks.length; m += 2) roleIndexes.push(...roleIndexesIn(masks[m]!, masks[m + 1]!))
    this.#marks.fill(0)
    for (const roleIndex of roleIndexes) {
      for (const number of yield* this.#permittedByRole(roleIndex)) this.#marks[number] = 1
    }
    const meaning = {
      roles: roleIndexes
        .toSorted((left, right) => (this.#rank.get(left) ?? 0) - (this.#rank.get(right) ?? 0))
        .map(roleIndex => this.#type.roleKeys[roleIndex] ?? ''),
      permissions: this.#permitted.filter((_, number) => this.#marks[number] === 1).map(([each]) => each),
    }
    this.#known.set(name, meaning)
    return meaning
  }

  *#permittedByRole(roleIndex: number): Resumable<Int32Array> {
    const known = this.#permittedBy.get(roleIndex)
    if (known !== undefined) return known
    const numbers = new NumberList()
    for (const [number, [, roleIndexes]] of this.#permitted.entries()) {
      if (roleIndexes.has(roleIndex)) numbers.push(number)
      if (number % STAGE_PERMISSIONS === STAGE_PERMISSIONS - 1) yield
    }
    const found = numbers.items.slice(0, numbers.length)
    this.#permittedBy.set(roleIndex, found)
    return found
  }
}
