/**
 * What roles extend, directly and through others, as one draft leaves it. The result is kept for each role that others extend, and
 * dropped when the draft changes a role on the way. So a bulk of roles that extend the same chain walks along it once.
 */
import type { Draft } from '#management/commands/draft.ts'
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import type { RoleRecord } from '#model/records.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

/** Ceiling of the roles kept in all results together: a bulk may extend as many chains as it has roles. */
const KEPT_MAX = 100_000

/** The roles by key: a role extends only roles of its own scope, so keys are unambiguous. */
type Extended = ReadonlyMap<string, RoleRecord>

const memos = new WeakMap<Draft, ExtendedRoles>()

/** All roles that `role` extends in the draft, itself left out. The commit then requires each of them to be unchanged. */
export function extendedOf(records: Draft, role: RoleRecord): Extended {
  return memoOf(records).of(role, key => {
    const other = records.get('role', rowKeys.role(role.typeId, key))
    if (other !== null) records.requireUnchanged(other)
    return other
  })
}

function memoOf(records: Draft): ExtendedRoles {
  const known = memos.get(records)
  if (known) return known
  const memo = new ExtendedRoles()
  memos.set(records, memo)
  records.watch('role', (before, after) => memo.changed(before, after))
  return memo
}

export class ExtendedRoles {
  readonly #known = new Map<string, Extended>()
  /** Ids of all roles that a kept result was found through. */
  readonly #met = new Set<string>()
  #kept = 0

  /**
   * All roles that `role` extends, itself left out. Over the ceiling the walk ends with at least `EXTENDS_REACH_MAX` + 1 of them. `look`
   * reads a role and is called for each when the walk meets it first.
   */
  of(role: RoleRecord, look: (key: string) => RoleRecord | null): Extended {
    const known = this.#known.get(role.id)
    if (known) return known
    const found = this.#walk(role, look)
    if (this.#kept + found.size > KEPT_MAX) this.#forgetAll()
    this.#kept += found.size + 1
    this.#known.set(role.id, found)
    this.#met.add(role.id)
    for (const { id } of found.values()) this.#met.add(id)
    return found
  }

  #walk(role: RoleRecord, look: (key: string) => RoleRecord | null): Extended {
    const found = new Map<string, RoleRecord>()
    const waiting = [...role.extends]
    while (waiting.length > 0 && found.size <= EXTENDS_REACH_MAX) {
      const key = waiting.pop()!
      if (found.has(key)) continue
      const other = look(key)
      if (!other) continue
      found.set(key, other)
      const known = this.#known.get(other.id)
      if (known) for (const [each, further] of known) found.set(each, further)
      else waiting.push(...other.extends)
    }
    return found
  }

  /** The draft changes a role from `before` to `after`; null for an absent role. */
  changed(before: RoleRecord | null, after: RoleRecord | null): void {
    if (before === null || !this.#met.has(before.id)) return
    const isSame = after?.extends.length === before.extends.length
    if (isSame && after.extends.every((key, index) => key === before.extends[index])) return
    this.#forgetAll()
  }

  #forgetAll(): void {
    this.#known.clear()
    this.#met.clear()
    this.#kept = 0
  }
}
