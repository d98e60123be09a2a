/**
 * Computes the roles that a role extends, directly and through others, in the state of one draft. The result
 * is cached for each role that others extend, and dropped when the draft changes a role that it depends on.
 * With this cache, a bulk of roles that extend the same chain traverses it once.
 */
import type { Draft } from '#management/drafts/draft.ts'
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import type { RoleRecord } from '#entities/records.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

/**
 * Maximum number of roles in all cached results together: a bulk can extend as many chains as it has roles.
 */
const KEPT_MAX = 100_000

/** The roles by key: a role extends only roles of the same scope, so keys are unambiguous. */
type Extended = ReadonlyMap<string, RoleRecord>

const memos = new WeakMap<Draft, ExtendedRoles>()

/**
 * All roles that `role` extends in the draft, without itself. The commit then requires each of them to be
 * unchanged.
 */
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
  /** Ids of all roles on which cached results depend. */
  readonly #met = new Set<string>()
  #kept = 0

  /**
   * All roles that `role` extends, without itself. Above the limit, returns at least `EXTENDS_REACH_MAX` + 1
   * of them. `look` reads a role and is called once for each role in the traversal.
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

  /** Called when the draft changes a role from `before` to `after`; null for an absent role. */
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
