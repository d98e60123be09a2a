/**
 * What roles extend in the end, as one draft leaves it: found once for each role that others extend, and anew when one of those on
 * the way changes. So a bulk of roles that extend the same chain costs what they are, and not that many walks along it.
 */
import { EXTENDS_REACH_MAX } from '#model/limits.ts'
import type { RoleRecord } from '#model/records.ts'

/** Roles kept of all walks together: a bulk may extend as many chains as it has roles. */
const KEPT_MAX = 100_000

/** By key: roles that a role extends, directly and through others, are of its own resource. */
export type Extended = ReadonlyMap<string, RoleRecord>

export class ExtendedRoles {
  readonly #known = new Map<string, Extended>()
  /** Ids of all roles that were met on the way. */
  readonly #met = new Set<string>()
  #kept = 0

  /**
   * All that the role extends, itself left out, unless they are more than `EXTENDS_REACH_MAX`: then one more. `look` is called
   * for each when it is met first.
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

  /** The draft leaves the role in another way than before: null for one that is not there. */
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
