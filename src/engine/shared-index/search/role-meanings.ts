/**
 * Computes names and permissions of sets of roles of one type, in order. Many scopes share few sets, so each
 * set is computed once. Callers can detect a repeated set by identity.
 *
 * O(all permissions) for each role that occurs, then O(permissions of its roles) for each set.
 */
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import type { TypeView } from '#engine/shared-index/schema/schema-view.ts'
import type { Resumable } from '#model/resumable.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import { roleIndexesIn } from './holdings.ts'

/** Permissions between two pauses. */
const STAGE_PERMISSIONS = 2_048

export interface Meaning<Permission> {
  /** In the order of UTF-8 bytes. */
  readonly roles: readonly string[]
  /** In the given order. */
  readonly permissions: readonly Permission[]
}

/** A permission, and the roles that grant it, including those that extend them. */
export type Permitted<Permission> = readonly [Permission, { has(roleIndex: number): boolean }]

export class RoleMeanings<Permission> {
  readonly #type: TypeView
  readonly #permitted: readonly Permitted<Permission>[]
  /** By role index: its rank in the order of keys. */
  readonly #rank = new Map<number, number>()
  /** By role index: the numbers in `#permitted` of its permissions. */
  readonly #permittedBy = new Map<number, Int32Array>()
  readonly #known = new Map<string, Meaning<Permission>>()
  /** By number: 1 if a role of the current set permits it. */
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

  /** `masks` are pairs [bank, mask] in ascending order of banks and without a mask of 0. */
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
